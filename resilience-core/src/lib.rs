//! The core of [`resilience`](https://docs.rs/resilience): adaptive concurrency limits, their registry and algorithms.
//!
//! Use the `resilience` crate, which re-exports what is public here and brings the attribute.

mod sync;

pub mod event;
mod id;
pub mod limit;
pub mod time;

pub use id::Id;
