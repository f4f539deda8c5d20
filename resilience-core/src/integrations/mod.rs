//! Limits seen through other crates, each behind the feature of its name.
//!
//! Names, types, units and labels of all that is written: docs/observability.md.

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "tracing")]
pub mod tracing;
