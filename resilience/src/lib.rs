//! Caps the calls in flight to a dependency at a limit that it finds by itself.
//!
//! Put [`#[adaptive_limit]`](macro@adaptive_limit) on the function that makes the call. The limit follows the
//! dependency's latency and its overload signals, and calls above it are rejected at once instead of piling up.
//!
//! ```
//! use resilience::registry::Registry;
//! use resilience::{Error, adaptive_limit};
//!
//! #[adaptive_limit(name = "orders", max_limit = 100)]
//! fn order(id: u64) -> Result<String, Error> {
//!     Ok(format!("order {id}"))
//! }
//!
//! assert_eq!(order(7)?, "order 7");
//!
//! let limit = Registry::global().adaptive_limit("orders")?;
//! assert_eq!((limit.limit(), limit.in_flight()), (20, 0));
//! assert_eq!(limit.snapshot().counters.succeeded, 1);
//! # Ok::<(), Error>(())
//! ```
//!
//! - [`#[adaptive_limit]`](macro@adaptive_limit) on functions, methods and `impl` blocks;
//!   [`#[resilient]`](macro@resilient) on traits, for a delegate that limits whatever implements them.
//! - [`registry`]: limits shared by name, settings in layers, from code, files and the environment, and changed while the
//!   program runs; snapshots. Start with [`registry::Registry`].
//! - [`limit`]: what a registry hands out, [`limit::AdaptiveLimit`], and the settings, [`limit::LimitConfig`].
//! - [`limit::algorithm`]: how the limit is found, and the trait for an algorithm of your own.
//! - [`integrations`]: limits seen through `tracing`, `metrics` and a live page for axum; and, without any of these,
//!   [`event`].
//! - [`time`]: the clocks; tests run on a [`time::ManualClock`].
//! - [`Error`]: the one error of all of it, with stable [codes](Code).
//!
//! # Features
//!
//! - `tokio` (on by default): `tokio::time::error::Elapsed` in an error's source chain is overload. Brings tokio with its
//!   `time` feature only.
//! - `serde`: snapshots, windows, events and reasons are `serde::Serialize`.
//! - `toml`, `yaml`, `json`: files of settings in these formats, beside `.properties`.
//! - `config`: settings from a `config::Config` that the program built.
//! - `sites`: the process-wide registry knows the limits of attributes before their first call.
//! - `tracing`, `metrics`, `axum`: the [`integrations`] of these names, each with its crate.
//! - `testing`: what helps to test functions under limits, `testing`: a registry on a manual clock, scripted dependencies,
//!   recordings. Brings nothing.
//! - `sim`: the simulator, `sim`, for limits in front of dependencies that you describe. Brings `serde` and a TOML parser.

pub use resilience_core::*;
pub use resilience_macros::{adaptive_limit, resilient};

/// The code in the guides is compiled and run. A test checks that none is forgotten here.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../README.md")]
    mod readme {}

    #[doc = include_str!("../../docs/algorithms.md")]
    mod algorithms {}

    #[doc = include_str!("../../docs/configuration.md")]
    mod configuration {}

    #[doc = include_str!("../../docs/waiting.md")]
    mod waiting {}

    #[cfg(all(feature = "axum", feature = "metrics", feature = "tracing"))]
    #[doc = include_str!("../../docs/observability.md")]
    mod observability {}

    #[cfg(feature = "sim")]
    #[doc = include_str!("../../docs/simulator.md")]
    mod simulator {}
    #[cfg(all(feature = "testing", feature = "serde"))]
    #[doc = include_str!("../../docs/testing.md")]
    mod testing {}
}
