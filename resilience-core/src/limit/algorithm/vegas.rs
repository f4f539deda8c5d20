//! The queue at the dependency, estimated from the latency without a queue.

mod baseline;
mod jitter;

use self::baseline::{Baseline, Learned};
use self::jitter::Jitters;
use super::growth::Growth;
use super::signal::{Latencies, cut, decide, dropped, half_used, smooth, unused};
use super::{Algorithm, Bounds, Decision, Deviations, GrowthBound};
use crate::event::Reason;
use crate::limit::window::Window;

pub use self::baseline::VegasBaseline;
pub use self::jitter::Jitter;

/// Keeps the number of calls that queue at the dependency within a band.
///
/// With `limit` calls in flight, a latency of `b` without a queue and one of `l` now, about `limit × (1 - b / l)` calls
/// are queueing. Fewer than `alpha`: the limit grows; more than `beta`: it shrinks. After TCP Vegas (Brakmo & Peterson,
/// *TCP Vegas: End to End Congestion Avoidance on a Global Internet*, 1995) as Netflix concurrency-limits 0.5.4 has it,
/// with its faults repaired unless [told otherwise](VegasSettings::netflix).
///
/// Don't use it with the default [baseline](VegasSettings::baseline) for a dependency that is loaded all the time: the
/// baseline is measured anew every so many windows, under whatever load there is then.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Algorithm, Bounds, Vegas, VegasSettings};
/// use resilience::limit::window::{Sample, Window};
///
/// let bounds = Bounds::new(20, 1, 1000).unwrap();
/// let mut vegas = Vegas::new(bounds, VegasSettings::default());
///
/// let call = Sample::success(10_000_000, 20);
/// assert_eq!(vegas.update(&Window::of(20, [call])).limit, 20.0); // the first window is the baseline
/// assert_eq!(vegas.update(&Window::of(20, [call])).limit, 26.0); // nothing queues: grow
///
/// let slow = Sample::success(20_000_000, 20);
/// assert_eq!(vegas.update(&Window::of(26, [slow])).limit, 25.0); // 13 calls queue: shrink
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vegas {
    bounds: Bounds,
    settings: VegasSettings,
    limit: f64,
    baseline: Baseline,
    jitters: Jitters,
    growth: Growth,
}

/// How [`Vegas`] is tuned.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Calls, VegasSettings};
///
/// let mut settings = VegasSettings::default();
/// settings.alpha = Calls::Fixed(3);
/// settings.beta = Calls::Fixed(6);
/// assert_eq!(settings.smoothing, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VegasSettings {
    /// Fewer queueing calls than this let the limit grow: three times the logarithm of the limit by default.
    pub alpha: Calls,
    /// More queueing calls than this let it shrink: six times the logarithm of the limit by default. Also what it grows by
    /// while no more than `threshold` queue.
    pub beta: Calls,
    /// As many queueing calls as this, or fewer, are no queue: once the logarithm by default.
    pub threshold: Calls,
    /// How much of the way to the new limit one window goes: above 0 to 1, 1 by default.
    pub smoothing: f64,
    /// The baseline is measured anew after this many windows for each call of the limit, times a
    /// [jitter](Self::jitter): 1 to 4,294,967,295, 30 by default. Only with [`VegasBaseline::Minimum`].
    pub probe_multiplier: u32,
    /// By what the time to the next measurement is scattered: from seed 0 by default, for which a registry puts one of
    /// the instance's own.
    pub jitter: Jitter,
    /// How the latency without a queue is found: the minimum since the last measurement by default.
    pub baseline: VegasBaseline,
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

impl VegasSettings {
    /// Returns the reference's tuning with every deviation off.
    ///
    /// The reference starts at 20 and stays within 1 and 1000. One thing differs still: a latency of 0 is no signal,
    /// where the reference throws.
    pub const fn netflix() -> Self {
        Self {
            alpha: Calls::Log10(3),
            beta: Calls::Log10(6),
            threshold: Calls::Log10(1),
            smoothing: 1.0,
            probe_multiplier: 30,
            jitter: Jitter::Seeded(0),
            baseline: VegasBaseline::Minimum,
            backoff_ratio: 0.9,
            once_per_rtt: false,
            growth_bound: GrowthBound::Off,
            deviations: Deviations::NONE,
        }
    }
}

impl Default for VegasSettings {
    fn default() -> Self {
        Self {
            deviations: Deviations::ALL,
            ..Self::netflix()
        }
    }
}

/// A number of calls, fixed or growing slowly with the limit.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::Calls;
///
/// assert_eq!(Calls::Fixed(3).at(1000), 3);
/// assert_eq!(Calls::Log10(3).at(9), 3);
/// assert_eq!(Calls::Log10(3).at(1000), 9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Calls {
    /// So many whatever the limit is: 0 to 1,000,000.
    Fixed(u32),
    /// So many times the common logarithm of the limit, rounded down and at least 1: 0 to 1,000.
    Log10(u32),
}

impl Calls {
    /// Returns the number at a limit, both in calls.
    pub fn at(self, limit: u32) -> u32 {
        match self {
            Self::Fixed(calls) => calls,
            Self::Log10(calls) => calls.saturating_mul(limit.checked_ilog10().unwrap_or(0).max(1)),
        }
    }
}

impl Vegas {
    /// Returns the algorithm at the bounds' initial limit, with nothing learned.
    pub fn new(bounds: Bounds, settings: VegasSettings) -> Self {
        Self {
            bounds,
            settings,
            limit: f64::from(bounds.initial()),
            baseline: Baseline::new(settings.baseline),
            jitters: Jitters::new(settings.jitter),
            growth: Growth::default(),
        }
    }

    /// Takes `jitters` for the first measurements of the baseline, one each, and the settings' after that: to replay what
    /// was recorded.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::algorithm::{Bounds, Vegas, VegasSettings};
    ///
    /// let vegas = Vegas::new(Bounds::new(20, 1, 1000).unwrap(), VegasSettings::default()).with_jitters([0.5, 0.75]);
    /// assert_eq!(vegas.probe_jitter(), 0.5);
    /// ```
    // Public for the replays of recordings alone: it may change with them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_jitters(mut self, jitters: impl IntoIterator<Item = f64>) -> Self {
        self.jitters = Jitters::recorded(jitters, self.settings.jitter);
        self
    }

    /// Changes bounds and tuning and keeps what is learned: the limit, as far as it is within the new bounds, and the
    /// baseline, unless it is to be found in another way.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::algorithm::{Bounds, Vegas, VegasSettings};
    ///
    /// let mut vegas = Vegas::new(Bounds::new(20, 1, 1000).unwrap(), VegasSettings::default());
    /// vegas.retune(Bounds::new(5, 1, 10).unwrap(), VegasSettings::default());
    /// assert_eq!(vegas.limit(), 10.0);
    /// ```
    pub fn retune(&mut self, bounds: Bounds, settings: VegasSettings) {
        if settings.baseline != self.settings.baseline {
            self.baseline = Baseline::new(settings.baseline);
        }
        if settings.jitter != self.settings.jitter {
            self.jitters = Jitters::new(settings.jitter);
        }
        self.limit = bounds.clamp(self.limit);
        self.bounds = bounds;
        self.settings = settings;
    }

    /// Returns the limit, in calls, with its fraction.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Returns how many windows there have been since the baseline was measured anew.
    // As `with_jitters`, for the replays of recordings.
    #[doc(hidden)]
    pub fn probe_count(&self) -> u32 {
        self.baseline.probe_count()
    }

    /// Returns the jitter of the next measurement.
    // As `with_jitters`, for the replays of recordings.
    #[doc(hidden)]
    pub fn probe_jitter(&self) -> f64 {
        self.jitters.current()
    }

    fn learn(&mut self, latency: f64) -> Learned {
        let VegasSettings {
            probe_multiplier, ..
        } = self.settings;
        let due = self.jitters.current() * f64::from(probe_multiplier) * self.limit;
        let learned = self.baseline.learn(latency, due);
        if learned == Learned::Probed {
            self.jitters.advance();
        }
        learned
    }

    /// Returns where the queue says that the limit should go, and why.
    fn queue(&self, latency: f64, baseline: f64) -> (f64, Reason) {
        let VegasSettings {
            alpha,
            beta,
            threshold,
            deviations,
            ..
        } = self.settings;
        let limit = self.limit;
        let step = step(limit);
        let [alpha, beta, threshold] =
            [alpha, beta, threshold].map(|calls| f64::from(calls.at(limit as u32)));
        let queue = (limit * (1.0 - baseline / latency)).ceil();
        let next = if queue <= threshold {
            let least = if deviations.no_queue_grows_most {
                step
            } else {
                0.0
            };
            self.towards(limit + beta.max(least))
        } else if queue < alpha {
            self.towards(limit + step)
        } else if queue > beta {
            self.towards(limit - step)
        } else {
            limit
        };
        (
            next,
            Reason::Queue {
                queue: queue.max(0.0),
                alpha,
                beta,
            },
        )
    }

    /// Goes the part of the way to `next` that the smoothing allows.
    fn towards(&self, next: f64) -> f64 {
        let VegasSettings {
            smoothing,
            deviations,
            ..
        } = self.settings;
        smooth(self.limit, self.bounds.clamp(next), smoothing, deviations)
    }
}

/// Returns what a limit changes by at a time, in calls.
fn step(limit: f64) -> f64 {
    f64::from(Calls::Log10(1).at(limit as u32))
}

impl Algorithm for Vegas {
    fn update(&mut self, window: &Window) -> Decision {
        let VegasSettings {
            backoff_ratio,
            once_per_rtt,
            growth_bound,
            mut deviations,
            ..
        } = self.settings;
        deviations.skip_zero_latency = true;
        let limit = self.limit;
        let latencies = Latencies::of(window, deviations);
        let learned = latencies
            .normal
            .map_or(Learned::Nothing, |latency| self.learn(latency));
        // A baseline taken from this very window says nothing about a queue.
        let only_measured = match learned {
            Learned::Probed | Learned::First => true,
            Learned::Minimum => !deviations.minimum_decides,
            Learned::Nothing => false,
        };
        let judged = match (latencies.judged, self.baseline.latency()) {
            (_, Some(baseline)) if only_measured => (limit, Reason::Probe { baseline }),
            (Some(_), Some(_)) if !half_used(window, limit) => (limit, unused(window)),
            (Some(latency), Some(baseline)) => self.queue(latency, baseline),
            _ => (limit, Reason::NoLatency),
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
        } else if window.drops > 0 && !only_measured {
            (self.towards(limit - step(limit)), dropped(window))
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
        self.baseline.latency()
    }
}
