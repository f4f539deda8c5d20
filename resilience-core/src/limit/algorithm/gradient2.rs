//! The gradient of the long-term latency over the window's.

use super::growth::Growth;
use super::signal::{Latencies, cut, decide, dropped, half_used, smooth, unused};
use super::{Algorithm, Bounds, Decision, Deviations, GrowthBound};
use crate::event::Reason;
use crate::limit::window::Window;

/// The samples at the start whose plain mean is the long-term latency.
const WARM_UP: u32 = 10;

/// Scales the limit by the ratio of the long-term mean latency to the window's, and adds room for a queue.
///
/// A window as fast as usual, up to a tolerance, adds the queue; a slower one shrinks the limit in proportion, to
/// half at most. After Netflix concurrency-limits 0.5.4, `Gradient2Limit`, with its faults repaired unless
/// [told otherwise](Gradient2Settings::netflix).
///
/// Don't use it for a dependency that is overloaded for long and never fails: every window is learned, so after
/// `long_window` of them the slow latency is the normal one, and the limit climbs again.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Algorithm, Bounds, Gradient2, Gradient2Settings};
/// use resilience::limit::window::{Sample, Window};
///
/// let bounds = Bounds::new(20, 1, 200).unwrap();
/// let mut gradient2 = Gradient2::new(bounds, Gradient2Settings::default());
///
/// let call = Sample::success(10_000_000, 20);
/// assert_eq!(gradient2.update(&Window::of(20, [call])).limit, 20.8);
/// assert_eq!(gradient2.baseline(), Some(10_000_000.0));
///
/// let drop = Sample::dropped(2_000_000_000, 20);
/// assert!(gradient2.update(&Window::of(20, [drop])).limit < 20.0);
/// assert_eq!(gradient2.baseline(), Some(10_000_000.0)); // a drop teaches nothing
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient2 {
    bounds: Bounds,
    settings: Gradient2Settings,
    limit: f64,
    long_term: LongTerm,
    growth: Growth,
}

/// How [`Gradient2`] is tuned.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Gradient2Settings, QueueSize};
///
/// let mut settings = Gradient2Settings::default();
/// settings.queue_size = QueueSize::SquareRoot { min: 4 };
/// assert_eq!(settings.rtt_tolerance, 1.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gradient2Settings {
    /// How much of the way to the new limit one window goes: above 0 to 1, 0.2 by default.
    pub smoothing: f64,
    /// The calls allowed to queue at the dependency: 4 by default. A window adds at most `smoothing` times this.
    pub queue_size: QueueSize,
    /// The windows that the long-term latency is a moving average of: 1 to 1,000,000, 600 by default.
    pub long_window: u32,
    /// How many times the long-term latency still counts as normal: 1 to 100, 1.5 by default.
    pub rtt_tolerance: f64,
    /// What a window with drops multiplies the limit by: 0.5 to below 1, 0.9 by default.
    pub backoff_ratio: f64,
    /// Whether a limit changes once per round trip at most: calls that were in flight at a change count no more, as they
    /// count no more after a cut anyway. Off by default.
    pub once_per_rtt: bool,
    /// How far the limit may grow beyond what the calls in flight account for: as far as the algorithm says by default.
    pub growth_bound: GrowthBound,
    /// Where it differs from the reference: everywhere by default.
    pub deviations: Deviations,
}

/// The calls that [`Gradient2`] lets queue at the dependency.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::QueueSize;
///
/// assert_eq!(QueueSize::Fixed(4).at(100), 4);
/// assert_eq!(QueueSize::SquareRoot { min: 4 }.at(100), 10);
/// assert_eq!(QueueSize::SquareRoot { min: 4 }.at(9), 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueSize {
    /// So many whatever the limit is: 0 to 1,000,000.
    Fixed(u32),
    /// The square root of the limit, rounded down, and at least `min`.
    SquareRoot {
        /// The least queue, in calls: 0 to 1,000,000.
        min: u32,
    },
}

impl QueueSize {
    /// Returns the queue at a limit, both in calls.
    pub fn at(self, limit: u32) -> u32 {
        match self {
            Self::Fixed(size) => size,
            Self::SquareRoot { min } => limit.isqrt().max(min),
        }
    }
}

impl Gradient2Settings {
    /// Returns the reference's tuning with every deviation off.
    ///
    /// The reference's bounds are 20 to 200. One thing differs still: where the reference divides 0 by 0 and has a limit of
    /// 0 for ever after, the limit stays as it is.
    pub const fn netflix() -> Self {
        Self {
            smoothing: 0.2,
            queue_size: QueueSize::Fixed(4),
            long_window: 600,
            rtt_tolerance: 1.5,
            backoff_ratio: 0.9,
            once_per_rtt: false,
            growth_bound: GrowthBound::Off,
            deviations: Deviations::NONE,
        }
    }
}

impl Default for Gradient2Settings {
    fn default() -> Self {
        Self {
            deviations: Deviations::ALL,
            ..Self::netflix()
        }
    }
}

impl Gradient2 {
    /// Returns the algorithm at the bounds' initial limit, with nothing learned.
    pub fn new(bounds: Bounds, settings: Gradient2Settings) -> Self {
        Self {
            bounds,
            settings,
            limit: f64::from(bounds.initial()),
            long_term: LongTerm::default(),
            growth: Growth::default(),
        }
    }

    /// Changes bounds and tuning and keeps what is learned: the limit, as far as it is within the new bounds, and the
    /// long-term latency.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::algorithm::{Bounds, Gradient2, Gradient2Settings};
    ///
    /// let mut gradient2 = Gradient2::new(Bounds::new(20, 1, 200).unwrap(), Gradient2Settings::default());
    /// gradient2.retune(Bounds::new(5, 1, 10).unwrap(), Gradient2Settings::default());
    /// assert_eq!(gradient2.limit(), 10.0);
    /// ```
    pub fn retune(&mut self, bounds: Bounds, settings: Gradient2Settings) {
        self.limit = bounds.clamp(self.limit);
        self.bounds = bounds;
        self.settings = settings;
    }

    /// Returns the limit, in calls, with its fraction.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Learns from the window and returns the gradient for its latency, with its reason, or `None` if there is no
    /// telling.
    fn learn(&mut self, latencies: Latencies) -> Option<(f64, Reason)> {
        let Gradient2Settings {
            long_window,
            rtt_tolerance,
            deviations,
            ..
        } = self.settings;
        let latency = latencies.judged?;
        let (ratio, tolerated) = if deviations.exact_averages {
            let weight = self.long_term.weight(long_window);
            let ratio = self.long_term.ratio_with(latency, weight);
            if let Some(normal) = latencies.normal {
                self.long_term.learn(normal, weight);
            }
            (ratio, rtt_tolerance * ratio)
        } else {
            if let Some(normal) = latencies.normal {
                self.long_term.learn_like_the_reference(normal, long_window);
            }
            let long = if self.long_term.count == 0 {
                latency
            } else {
                self.long_term.mean
            };
            (long / latency, rtt_tolerance * long / latency)
        };
        let baseline = self.long_term.mean;
        // Much faster than usual: unlearn quickly, or a long overload would be taken as normal long after its end.
        if latencies.normal.is_some() && ratio > 2.0 {
            self.long_term.mean *= 0.95;
        }
        // `clamp` keeps a NaN, where `max` and `min` would turn it into a bound.
        let gradient = tolerated.clamp(0.5, 1.0);
        let reason = Reason::Gradient {
            gradient,
            latency,
            baseline,
        };
        (!gradient.is_nan()).then_some((gradient, reason))
    }
}

impl Algorithm for Gradient2 {
    fn update(&mut self, window: &Window) -> Decision {
        let Gradient2Settings {
            smoothing,
            queue_size,
            backoff_ratio,
            once_per_rtt,
            growth_bound,
            deviations,
            ..
        } = self.settings;
        let limit = self.limit;
        let latencies = Latencies::of(window, deviations);
        // Learning goes on when the slots are not in use; only the limit stays.
        let judged = match self.learn(latencies) {
            None => (limit, Reason::NoLatency),
            Some(_) if !half_used(window, limit) => (limit, unused(window)),
            Some((gradient, reason)) => {
                let queue = f64::from(queue_size.at(limit as u32));
                (
                    smooth(limit, limit * gradient + queue, smoothing, deviations),
                    reason,
                )
            }
        };
        let (next, reason) = self
            .growth
            .hold(growth_bound, window, latencies, limit, judged);
        let (next, reason) = if window.drops > 0 && deviations.cut_on_drop {
            // Slow and dropped is no better than slow.
            (
                next.min(cut(limit, backoff_ratio, deviations)),
                dropped(window),
            )
        } else {
            (next, reason)
        };
        decide(
            &mut self.limit,
            next,
            self.bounds,
            deviations,
            once_per_rtt,
            reason,
        )
    }

    fn baseline(&self) -> Option<f64> {
        (self.long_term.count > 0).then_some(self.long_term.mean)
    }
}

/// The long-term mean latency: a plain mean of the first samples, an exponential moving average from then on.
#[derive(Clone, Debug, Default, PartialEq)]
struct LongTerm {
    mean: f64,
    /// The sum of the first samples; the reference's arithmetic needs it.
    sum: f64,
    /// The samples so far, up to the warm-up's.
    count: u32,
}

impl LongTerm {
    /// Returns the weight of the next sample.
    fn weight(&self, window: u32) -> f64 {
        if self.count < WARM_UP {
            1.0 / f64::from(self.count + 1)
        } else {
            2.0 / (f64::from(window) + 1.0)
        }
    }

    /// Returns the ratio to `latency` of the mean with `latency` in it.
    ///
    /// `(m(1-w) + xw) / x` as `(1-w)(m/x) + w`: each step is monotone in `x` after rounding too, so that a slower
    /// window never has the higher ratio, and `m = x` gives 1 exactly.
    fn ratio_with(&self, latency: f64, weight: f64) -> f64 {
        (1.0 - weight) * (self.mean / latency) + weight
    }

    fn learn(&mut self, latency: f64, weight: f64) {
        self.mean += weight * (latency - self.mean);
        self.count_one(latency);
    }

    fn learn_like_the_reference(&mut self, latency: f64, window: u32) {
        if self.count < WARM_UP {
            self.count_one(latency);
            self.mean = self.sum / f64::from(self.count);
        } else {
            let factor = 2.0 / (f64::from(window) + 1.0);
            self.mean = self.mean * (1.0 - factor) + latency * factor;
        }
    }

    fn count_one(&mut self, latency: f64) {
        if self.count < WARM_UP {
            self.count += 1;
            self.sum += latency;
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the results are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_equal_latencies_never_moves() {
        for latency in [3.0, 1e7 + 0.1, 123_456_789.7, u64::MAX as f64] {
            let mut long_term = LongTerm::default();
            for _ in 0..1000 {
                let weight = long_term.weight(7);
                assert_eq!(long_term.ratio_with(latency, weight), 1.0);
                long_term.learn(latency, weight);
                assert_eq!(long_term.mean, latency);
            }
        }
    }

    #[test]
    fn the_reference_and_the_exact_mean_agree_but_for_rounding() {
        let (mut reference, mut exact) = (LongTerm::default(), LongTerm::default());
        for step in 0..1000_u32 {
            let latency = f64::from(1_000_000 + step * 37 % 1000 * 1000);
            let weight = exact.weight(600);
            exact.learn(latency, weight);
            reference.learn_like_the_reference(latency, 600);
        }
        assert!((exact.mean / reference.mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_slower_latency_never_has_the_higher_ratio() {
        let mut long_term = LongTerm::default();
        for _ in 0..20 {
            let weight = long_term.weight(600);
            let ratios: Vec<f64> = (0..1000)
                .map(|x| long_term.ratio_with(f64::from(9_999_500 + x), weight))
                .collect();
            assert!(ratios.is_sorted_by(|a, b| a >= b));
            long_term.learn(1e7, weight);
        }
    }
}
