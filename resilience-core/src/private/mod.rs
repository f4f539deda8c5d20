//! What the attribute's expansions name. Not part of the public interface: it changes with the macro crate.

mod call;

pub use std::boxed::Box;
pub use std::marker::PhantomData;

pub use call::{Limited, limit_async, limit_made, limit_sync};

pub use crate::error::Error;
pub use crate::outcome::Outcome;
pub use crate::registry::{CallSite, Resolved};
