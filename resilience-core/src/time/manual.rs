//! A clock that moves only when told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Clock, nanos};

/// A clock for tests: it stands still until [`advance`](Self::advance) moves it.
///
/// Clones share one time, so a test keeps a clone and gives the other to the registry.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    now: Arc<AtomicU64>,
}

impl ManualClock {
    /// Returns a clock that reads 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        // Relaxed: the clock orders nothing but itself; threads that must see a move synchronize by other means.
        self.now.fetch_add(nanos(by), Ordering::Relaxed);
    }

    /// Moves the clock on to `instant`, in nanoseconds since it read 0; a moment that has passed changes nothing.
    pub fn advance_to(&self, instant: u64) {
        self.now.fetch_max(instant, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}
