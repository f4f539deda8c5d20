//! The adaptive limit through its public interface, on a manual clock.

mod auto_traits;
mod failures;
mod knee;
mod reset;
mod slots;
mod storm;
mod support;
mod vectors;
mod waiting;
mod windows;
