//! What the attribute's expansions name. Not part of the public interface: it changes with the macro crate.

mod announce;
mod call;
mod output;
pub mod probe;

pub use std::boxed::Box;

pub use call::{limit_async, limit_sync, made};
pub use output::{Rejection, ResultLike, absent, drop_if, drop_on, output, reject};

pub use crate::error::Error;
pub use crate::outcome::Outcome;
pub use crate::registry::Registry;
pub use crate::registry::call_site::{CallSite, Resolved};
pub use crate::registry::sites::Announced;

pub use crate::__announce as announce;
#[cfg(feature = "sites")]
pub use inventory;
