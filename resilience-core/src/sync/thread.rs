//! Threads that wait.

#[cfg(not(loom))]
pub(crate) use std::thread::{Thread, current, park, park_timeout};

#[cfg(loom)]
pub(crate) use loom::thread::{Thread, current, park};

/// Loom has no time: the thread merely lets the others run.
#[cfg(loom)]
pub(crate) fn park_timeout(_: std::time::Duration) {
    loom::thread::yield_now();
}
