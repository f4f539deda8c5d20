//! A clock that moves only when told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use super::{Alarm, Alarms, Clock, nanos};

/// A clock for tests: it stands still until [`advance`](Self::advance) moves it.
///
/// Clones share one time, so a test keeps a clone and gives the other to the registry. Whoever waits for a moment has been
/// woken when the call that moves the clock past it returns.
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    now: Arc<AtomicU64>,
    alarms: Alarms,
}

impl ManualClock {
    /// Returns a clock that reads 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        // Relaxed: the clock orders nothing but itself; threads that must see a move synchronize by other means.
        let by = nanos(by);
        let before = self.now.fetch_add(by, Ordering::Relaxed);
        self.alarms.ring(before.wrapping_add(by));
    }

    /// Returns the first moment that somebody waits for, in nanoseconds since the clock read 0.
    ///
    /// Whoever moves the clock in steps stops there: what is woken late sees a later time than it asked for.
    pub fn next_wake(&self) -> Option<u64> {
        self.alarms.next()
    }

    /// Moves the clock on to `instant`, in nanoseconds since it read 0; a moment that has passed changes nothing.
    pub fn advance_to(&self, instant: u64) {
        self.now.fetch_max(instant, Ordering::Relaxed);
        self.alarms.ring(instant);
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn wake_at(&self, instant: u64, waker: Waker) -> Alarm {
        let alarm = self.alarms.set(instant, waker);
        // If the clock was moved before the alarm was set, nobody rang for it. Whoever moved it rang with the alarms'
        // lock after that, so the move is seen here.
        self.alarms.ring(self.now());
        alarm
    }
}
