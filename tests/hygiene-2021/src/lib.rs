//! `#[adaptive_limit]` in a crate that allows nothing: every lint that a careless expansion would set off is an error, and
//! `::resilience` does not exist.
//!
//! A library, since `missing_docs` and `dead_code` say nothing in a test.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    missing_docs,
    missing_debug_implementations,
    rust_2018_idioms,
    rust_2024_compatibility,
    elided_lifetimes_in_paths,
    let_underscore_drop,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![forbid(unsafe_code)]

pub mod delegate;
pub mod edition;
pub mod error;
pub mod reexported;
pub mod renamed;

/// Where a crate of many parts keeps what they share.
pub mod reexport {
    pub use limits::*;

    /// Not at its root either.
    pub mod deeper {
        pub use limits as renamed_again;
    }
}
