//! `#[adaptive_limit]` where every name that an expansion could lean on means something else.
#![allow(
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::too_many_arguments,
    reason = "written for their names"
)]

pub mod fragments;
pub mod lowercase;
pub mod names;

// Also at the root, which a path could be taken to start from.
pub mod core {}
pub mod std {}
pub mod alloc {}
pub mod resilience {}
