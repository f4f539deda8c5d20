//! The adaptive limit through its public interface, on a manual clock.

mod auto_traits;
mod failures;
mod knee;
mod observing;
mod reset;
mod slots;
mod storm;
mod support;
mod vectors;
mod waiting;
mod waiting_storm;
mod windows;
