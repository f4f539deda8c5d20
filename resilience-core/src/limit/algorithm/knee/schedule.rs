//! When the limit goes below the knee for a moment, to see the latency without a queue.

/// The part of the knee that a drain goes to: surely below it, if it is known to 10 %.
const DEPTH: f64 = 0.85;

/// How much sooner a drain comes that is to verify something.
const VERIFICATION: u64 = 8;

/// How much the base latency that the period is made from may grow at a drain. It is the lowest that was seen of late, so
/// that clients which see more or less of each other's queues still have the same period.
const GROWTH: f64 = 1.25;

/// The windows between two drains at least: where windows are set to be long, drains would leave no time for others.
const WINDOWS: u64 = 6;

/// The schedule of drains. Drains are due at multiples, on the clock, of a power of two of nanoseconds, so that
/// clients of one dependency that measure about the same base latency drain together, with no word between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Schedule {
    /// When the next one is due.
    due: Option<u64>,
    /// The base latency that the period is made from, in nanoseconds; 0 before the first drain.
    base: f64,
    /// How long the last window took that was no drain, in nanoseconds.
    window: u64,
}

impl Schedule {
    /// Returns the instant at which a drain is due, if one is planned.
    pub(super) fn due(&self) -> Option<u64> {
        self.due
    }

    /// Whether one is due at the end of a window that was opened before.
    pub(super) fn is_due(&self, opened: u64, closed: u64) -> bool {
        self.due.is_some_and(|due| opened < due && due <= closed)
    }

    /// Whether a window lies wholly after the instant at which one is due: it heard how others drain.
    pub(super) fn is_past(&self, opened: u64) -> bool {
        self.due.is_some_and(|due| due <= opened)
    }

    /// Returns the limit of a drain, given the knee.
    pub(super) fn limit(knee: f64) -> f64 {
        (DEPTH * knee).floor().max(1.0)
    }

    /// Takes what a drain measured.
    pub(super) fn measured(&mut self, base: f64) {
        self.base = if self.base > 0.0 {
            base.min(self.base * GROWTH)
        } else {
            base
        };
    }

    /// Takes how long a window took that was no drain.
    pub(super) fn window(&mut self, duration: u64) {
        self.window = duration;
    }

    /// Cancels what is planned.
    pub(super) fn cancel(&mut self) {
        self.due = None;
    }

    /// Plans the next drain after `now`, for a base latency and with `period` of them between two drains, unless one is
    /// planned sooner.
    pub(super) fn plan(&mut self, now: u64, base: f64, period: u32, verify: bool) {
        let base = if self.base > 0.0 {
            base.min(self.base)
        } else {
            base
        };
        let period = (base * f64::from(period)).max(1.0) as u64;
        let period = period.max(self.window.saturating_mul(WINDOWS));
        let mut period = period.checked_next_power_of_two().unwrap_or(1 << 63);
        if verify {
            period = (period / VERIFICATION).max(1);
        }
        let turn = now / period + 1;
        let due = turn.saturating_mul(period);
        if self
            .due
            .is_none_or(|planned| planned <= now || due < planned)
        {
            self.due = Some(due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(now: u64, base: f64) -> u64 {
        let mut schedule = Schedule::default();
        schedule.plan(now, base, 100, false);
        schedule.due().expect("planned")
    }

    #[test]
    fn clients_that_measure_about_the_same_drain_together() {
        // 100 times 15 ms and 20 ms, both rounded up to 2^31 ns.
        assert_eq!(due(5_000_000_000, 15e6), due(4_500_000_000, 20e6));
        assert_eq!(due(5_000_000_000, 15e6), 3 << 31);
        // Twice the base latency is every other time.
        assert_eq!(due(5_000_000_000, 30e6), 1 << 33);
    }

    #[test]
    fn the_sooner_one_stays_planned_until_it_is_past() {
        let mut schedule = Schedule::default();
        schedule.plan(0, 20e6, 100, true);
        let soon = schedule.due().expect("planned");
        assert_eq!(soon, 1 << 28);
        schedule.plan(1, 20e6, 100, false);
        assert_eq!(schedule.due(), Some(soon));
        assert!(schedule.is_due(soon - 1, soon) && !schedule.is_due(soon, soon + 1));
        assert!(schedule.is_past(soon));
        schedule.plan(soon, 20e6, 100, false);
        assert_eq!(schedule.due(), Some(1 << 31));
    }

    #[test]
    fn long_windows_leave_more_time_between_two() {
        let mut schedule = Schedule::default();
        schedule.window(1_000_000_000);
        schedule.plan(0, 20e6, 100, false);
        assert_eq!(schedule.due(), Some(1 << 33));
    }

    #[test]
    fn no_clock_and_no_latency_are_too_large() {
        assert!(due(u64::MAX, 20e6) > 0);
        assert!(due(0, f64::MAX) > 0);
        assert!(due(0, 1e-9) > 0);
    }
}
