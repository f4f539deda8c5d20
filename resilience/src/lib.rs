//! Adaptive concurrency limits as an attribute.

pub use resilience_core::*;
