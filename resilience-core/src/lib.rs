//! The core of [`resilience`](https://docs.rs/resilience): adaptive concurrency limits, their registry and algorithms.
//!
//! Use the `resilience` crate, which re-exports what is public here and brings the attribute.

mod sync;

mod config;
mod error;
pub mod event;
mod id;
// Not among the models of loom, as the simulator.
#[cfg(not(loom))]
pub mod integrations;
pub mod limit;
pub mod outcome;
pub mod registry;
// Not among the models of loom, whose locks work in nothing else.
#[cfg(all(feature = "sim", not(loom)))]
pub mod sim;
#[cfg(all(feature = "testing", not(loom)))]
pub mod testing;
pub mod time;

#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;

pub use error::{Code, Error};
pub use id::Id;
pub use outcome::Outcome;
