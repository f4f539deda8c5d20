//! Nothing but a place for the test binaries beside it.
