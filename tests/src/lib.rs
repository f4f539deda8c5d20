//! What the test and benchmark binaries beside it share.

pub mod allocations;
pub mod calls;
pub mod ticks;
