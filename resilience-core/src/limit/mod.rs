//! The adaptive limit: how many calls may be in flight, and how that number is found.

pub mod algorithm;
mod config;
mod handle;
pub(crate) mod instance;
mod log2;
#[cfg(all(test, loom))]
mod models;
pub(crate) mod permit;
pub(crate) mod queue;
mod running;
pub(crate) mod settings;
mod slots;
mod snapshot;
mod stripes;
#[cfg(all(feature = "testing", not(loom)))]
pub(crate) mod tape;
pub mod window;

pub use config::{Kinds, LimitConfig, Mode, Preset};
pub use handle::{Acquire, AdaptiveLimit};
pub use permit::Permit;
pub use snapshot::{Counters, LastWindow, Snapshot};
