//! Programs that show the library at work: see `src/bin/`.

pub mod gallery;
pub mod parallel;
pub mod pictures;
pub mod remedies;
pub mod simulations;
