//! Nothing but a place for the benchmark beside it.
