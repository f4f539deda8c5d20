//! The machine's own clock.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Clock, nanos};

/// The system's monotonic clock, read through the processor's time-stamp counter.
///
/// Where the processor has no invariant counter (or the operating system does not vouch for it), the operating
/// system's monotonic clock is read instead. Both are the [`quanta`](https://docs.rs/quanta) crate's work. The counter
/// is calibrated against the monotonic clock once in a process, when the first `SystemClock` is made: usually under a
/// millisecond, at most 200 ms.
///
/// It begins at the time of day of that moment, in nanoseconds since 1970, and goes on monotonically: a later change of
/// the time of day does not move it. So the clocks of different processes and machines agree roughly, which lets
/// algorithms of independent clients act at the same time, and precisely enough for nothing else.
#[derive(Clone, Debug)]
pub struct SystemClock {
    clock: quanta::Clock,
    /// The counter's reading when the first clock of the process was made, and the time of day then.
    origin: u64,
    epoch: u64,
}

impl SystemClock {
    /// Returns the process's clock; all of them agree.
    pub fn new() -> Self {
        static CLOCK: OnceLock<SystemClock> = OnceLock::new();
        CLOCK
            .get_or_init(|| {
                let clock = quanta::Clock::new();
                let origin = clock.raw();
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the one place where the time of day is read"
                )]
                let time_of_day = SystemTime::now().duration_since(UNIX_EPOCH);
                Self {
                    clock,
                    origin,
                    // A time of day before 1970 is none; the clock then begins at 0.
                    epoch: time_of_day.map_or(0, nanos),
                }
            })
            .clone()
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> u64 {
        self.epoch + self.clock.delta_as_nanos(self.origin, self.clock.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_at_the_time_of_day() {
        let year = SystemClock::new().now() / (365 * 24 * 3_600_000_000_000) + 1970;
        assert!((2024..2100).contains(&year), "{year}");
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the reference that the clock is compared with"
    )]
    fn follows_the_monotonic_clock() {
        // First, since it may take a while to calibrate.
        let clock = SystemClock::new();
        let between = || {
            let before = std::time::Instant::now();
            let now = clock.now();
            (before, now, std::time::Instant::now())
        };
        let (first_before, first, first_after) = between();
        while first_before.elapsed().as_millis() < 20 {
            std::hint::spin_loop();
        }
        let (last_before, last, last_after) = between();
        // Whatever the thread was interrupted by, the truth is between these two.
        let shortest = last_before.duration_since(first_after).as_nanos() as f64;
        let longest = last_after.duration_since(first_before).as_nanos() as f64;
        let seen = (last - first) as f64;
        assert!(
            shortest * 0.99 <= seen && seen <= longest * 1.01,
            "{seen} ns, from {shortest} to {longest} ns passed"
        );
    }
}
