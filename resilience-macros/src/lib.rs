//! The attribute macros of `resilience`; use them through that crate.
