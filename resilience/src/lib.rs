//! Adaptive concurrency limits as an attribute.

pub use resilience_core::*;
pub use resilience_macros::adaptive_limit;
