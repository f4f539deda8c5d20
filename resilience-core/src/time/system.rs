//! The machine's own clock.

use std::sync::OnceLock;

use super::Clock;

/// The system's monotonic clock, read through the processor's time-stamp counter.
///
/// Where the processor has no invariant counter (or the operating system does not vouch for it), the operating
/// system's monotonic clock is read instead. Both are the [`quanta`](https://docs.rs/quanta) crate's work. The counter
/// is calibrated against the monotonic clock once in a process, when the first `SystemClock` is made: usually under a
/// millisecond, at most 200 ms.
#[derive(Clone, Debug)]
pub struct SystemClock {
    clock: quanta::Clock,
    /// The counter's reading that counts as 0: the same for all clocks of the process.
    origin: u64,
}

impl SystemClock {
    /// Returns the process's clock; all of them agree.
    pub fn new() -> Self {
        static CLOCK: OnceLock<SystemClock> = OnceLock::new();
        CLOCK
            .get_or_init(|| {
                let clock = quanta::Clock::new();
                let origin = clock.raw();
                Self { clock, origin }
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
        self.clock.delta_as_nanos(self.origin, self.clock.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_monotonic_clock() {
        #[expect(
            clippy::disallowed_methods,
            reason = "the reference that the clock is compared with"
        )]
        let reference = std::time::Instant::now();
        let clock = SystemClock::new();
        let start = clock.now();
        while reference.elapsed().as_millis() < 20 {
            std::hint::spin_loop();
        }
        let seen = clock.now() - start;
        let upper = reference.elapsed().as_nanos() as u64;
        assert!(
            (19_000_000..=upper + 1_000_000).contains(&seen),
            "{seen} ns, at most {upper} ns passed"
        );
    }
}
