//! What the calls of a window add up to.

/// One finished call, as an algorithm sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The call's latency in nanoseconds; 0 on a clock too coarse to tell.
    pub latency: u64,
    /// The calls in flight when it was admitted, itself included.
    pub in_flight: u32,
    /// Whether it failed with an overload signal.
    pub dropped: bool,
}

impl Sample {
    /// Returns a call that succeeded: its latency in nanoseconds, and the calls in flight when it was admitted, itself
    /// included.
    pub const fn success(latency: u64, in_flight: u32) -> Self {
        Self {
            latency,
            in_flight,
            dropped: false,
        }
    }

    /// Returns a call that failed with an overload signal, from the same two numbers.
    pub const fn dropped(latency: u64, in_flight: u32) -> Self {
        Self {
            latency,
            in_flight,
            dropped: true,
        }
    }
}

/// What the calls that ended in a window add up to: sums, counts and one maximum.
///
/// Sums and counts are exact, but for those of logarithms, where each sample may be off by 2e-5. The maximum is never too low; a
/// sample that is added at the very moment when the window before closes may bring that one's along.
///
/// Two kinds of calls ended: *samples*, which count, and the others, which do not (ignored failures, cancelled and
/// panicked calls, and calls admitted before the last decision that asked to
/// [count afresh](crate::limit::algorithm::Decision::fresh)). Instants and latencies are in nanoseconds.
///
/// A window holds all that an algorithm is told, so windows that were stored replay to the same decisions, given a format that
/// keeps numbers exactly. It is `serde::Serialize` and `Deserialize` under the names of its fields; those that are missing
/// are 0, as for a window stored before there was such a field.
///
/// # Examples
///
/// ```
/// use resilience::limit::window::{Sample, Window};
///
/// let window = Window::of(20, [
///     Sample::success(10_000_000, 3),
///     Sample::success(30_000_000, 7),
///     Sample::dropped(90_000_000, 5),
/// ]);
/// assert_eq!(window.samples(), 3);
/// assert_eq!(window.mean_latency(), Some(20_000_000.0));
/// assert_eq!(window.max_in_flight, 7);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
#[non_exhaustive]
pub struct Window {
    /// When the window began.
    pub opened: u64,
    /// When it ended.
    pub closed: u64,
    /// The limit in force, in calls.
    pub limit: u32,
    /// The calls in flight at its end.
    pub in_flight: u32,
    /// The samples that succeeded.
    pub successes: u64,
    /// The sum of their latencies.
    pub latency_sum: u64,
    /// How many of them took more than 0 ns: only these carry a latency signal.
    pub timed: u64,
    /// The sum of the natural logarithms of their latencies, over the timed ones.
    pub log_latency_sum: f64,
    /// The sum of the squares of the same.
    pub log_latency_sq_sum: f64,
    /// The samples that were drops.
    pub drops: u64,
    /// The sum of their latencies.
    pub drop_latency_sum: u64,
    /// The drops faster than the last decision's [`fast_drop_below`](crate::limit::algorithm::Decision::fast_drop_below).
    pub fast_drops: u64,
    /// The sum of their latencies.
    pub fast_drop_latency_sum: u64,
    /// The sum of the calls in flight when each of them was admitted.
    pub fast_drop_in_flight_sum: u64,
    /// The sum, over all samples, of the calls in flight when each was admitted.
    pub in_flight_sum: u64,
    /// The largest of them: what the classic algorithms mean by in flight.
    pub max_in_flight: u32,
    /// The most calls that were in flight at any moment of the window, samples or not. The limit was reached if this is
    /// no less.
    pub peak_in_flight: u32,
    /// The calls that failed in a way that says nothing about load.
    pub ignored: u64,
    /// The calls that were cancelled or panicked.
    pub cancelled: u64,
    /// The calls that would be samples but were admitted before the last decision that asked to count afresh.
    pub stale: u64,
    /// The latencies of all calls that ended, whether they count or not.
    pub ended_latency_sum: u64,
    /// The calls admitted.
    pub admitted: u64,
    /// The calls rejected.
    pub rejected: u64,
    /// The area under the calls in flight, in calls × nanoseconds.
    pub in_flight_area: u64,
    /// How often it was [begun anew](crate::limit::algorithm::Close::Restart) since the last decision.
    pub restarts: u32,
}

impl Window {
    /// Adds samples up to a window, as the limit does; the fields that single samples do not determine are 0.
    pub fn of(limit: u32, samples: impl IntoIterator<Item = Sample>) -> Self {
        let mut window = Self {
            limit,
            ..Self::default()
        };
        for sample in samples {
            window.in_flight_sum = window
                .in_flight_sum
                .saturating_add(u64::from(sample.in_flight));
            window.max_in_flight = window.max_in_flight.max(sample.in_flight);
            window.peak_in_flight = window.max_in_flight;
            window.ended_latency_sum = window.ended_latency_sum.saturating_add(sample.latency);
            window.admitted += 1;
            if sample.dropped {
                window.drops += 1;
                window.drop_latency_sum = window.drop_latency_sum.saturating_add(sample.latency);
            } else {
                window.successes += 1;
                window.latency_sum = window.latency_sum.saturating_add(sample.latency);
                if sample.latency > 0 {
                    let log = (sample.latency as f64).ln();
                    window.timed += 1;
                    window.log_latency_sum += log;
                    window.log_latency_sq_sum += log * log;
                }
            }
        }
        window
    }

    /// Returns how many samples the window holds, drops included.
    pub fn samples(&self) -> u64 {
        self.successes.saturating_add(self.drops)
    }

    /// Returns the mean latency of the successes that took more than 0 ns, or `None` if there is none.
    pub fn mean_latency(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.latency_sum as f64 / self.timed as f64)
    }

    /// Returns the mean latency of all samples, drops included, rounded down to a nanosecond; 0 without samples.
    pub fn mean_latency_of_all(&self) -> u64 {
        let sum = u128::from(self.latency_sum) + u128::from(self.drop_latency_sum);
        // A mean of `u64`s is no larger than the largest of them.
        sum.checked_div(u128::from(self.samples())).unwrap_or(0) as u64
    }

    /// Returns how long the window lasted, in nanoseconds.
    pub fn duration(&self) -> u64 {
        self.closed.saturating_sub(self.opened)
    }
}

/// When a window may close: by default after 1 s, with 10 samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowRule {
    /// The least time a window lasts, in nanoseconds.
    pub duration: u64,
    /// The least samples it holds.
    pub min_samples: u64,
}

impl Default for WindowRule {
    fn default() -> Self {
        Self::new(1_000_000_000, 10)
    }
}

impl WindowRule {
    /// Returns the rule of windows that last at least `duration` nanoseconds and hold at least `min_samples`.
    pub fn new(duration: u64, min_samples: u64) -> Self {
        Self {
            duration,
            min_samples,
        }
    }
}
