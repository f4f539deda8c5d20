//! The adaptive limit through its public interface, on a manual clock.

mod failures;
mod reset;
mod slots;
mod support;
mod vectors;
mod windows;
