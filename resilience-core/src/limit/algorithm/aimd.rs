//! Additive increase, multiplicative decrease.

use super::growth::Growth;
use super::signal::{Latencies, cut, decide, dropped, half_used, unused};
use super::{Algorithm, Bounds, Decision, Deviations, GrowthBound};
use crate::event::Reason;
use crate::limit::window::Window;

/// Adds a little after a clean window and cuts by a factor after one with drops.
///
/// It needs drops to find the limit: with neither time-outs nor refusals nor a
/// [threshold](AimdSettings::latency_threshold_ns) it climbs to the maximum, however slow the dependency gets. In return it
/// needs no idea of a normal latency. Several clients that use it converge to equal shares (Chiu & Jain, *Analysis of
/// the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks*, 1989). The rules are those of
/// Netflix concurrency-limits 0.5.4, applied to windows.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Aimd, AimdSettings, Algorithm, Bounds};
/// use resilience::limit::window::{Sample, Window};
///
/// let bounds = Bounds::new(20, 1, 200).unwrap();
/// let mut aimd = Aimd::new(bounds, AimdSettings::default());
///
/// let call = Sample::success(10_000_000, 15);
/// assert_eq!(aimd.update(&Window::of(20, [call])).limit, 21.0);
///
/// let drop = Sample::dropped(10_000_000, 15);
/// assert_eq!(aimd.update(&Window::of(21, [drop])).limit, 18.0); // 21 × 0.9 = 18.9
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Aimd {
    bounds: Bounds,
    settings: AimdSettings,
    /// Always a whole number.
    limit: f64,
    growth: Growth,
}

/// How [`Aimd`] is tuned.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::AimdSettings;
///
/// let mut settings = AimdSettings::default();
/// settings.latency_threshold_ns = Some(500_000_000);
/// assert_eq!(settings.backoff_ratio, 0.9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AimdSettings {
    /// What a cut multiplies the limit by: 0.5 to below 1, 0.9 by default.
    pub backoff_ratio: f64,
    /// The calls that a clean window adds: 1 to 1,000,000, 1 by default.
    pub increase_by: u32,
    /// The mean latency above which a window counts as overloaded without any drop, in nanoseconds; `None`, the default,
    /// for no such latency.
    pub latency_threshold_ns: Option<u64>,
    /// Whether a limit changes once per round trip at most: calls that were in flight at a change count no more, as they
    /// count no more after a cut anyway. Off by default.
    pub once_per_rtt: bool,
    /// How far the limit may grow beyond what the calls in flight account for: as far as the algorithm says by default.
    pub growth_bound: GrowthBound,
    /// Where it differs from the reference: everywhere by default.
    pub deviations: Deviations,
}

impl AimdSettings {
    /// Returns the reference's tuning with every deviation off: a factor of 0.9, a threshold of 5 s.
    ///
    /// The reference's bounds are 20 to 200.
    pub const fn netflix() -> Self {
        Self {
            backoff_ratio: 0.9,
            increase_by: 1,
            latency_threshold_ns: Some(5_000_000_000),
            once_per_rtt: false,
            growth_bound: GrowthBound::Off,
            deviations: Deviations::NONE,
        }
    }
}

impl Default for AimdSettings {
    fn default() -> Self {
        Self {
            latency_threshold_ns: None,
            deviations: Deviations::ALL,
            ..Self::netflix()
        }
    }
}

impl Aimd {
    /// Returns the algorithm at the bounds' initial limit.
    pub fn new(bounds: Bounds, settings: AimdSettings) -> Self {
        Self {
            bounds,
            settings,
            limit: f64::from(bounds.initial()),
            growth: Growth::default(),
        }
    }

    /// Changes bounds and tuning and keeps the limit, as far as it is within the new bounds.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::algorithm::{Aimd, AimdSettings, Bounds};
    ///
    /// let mut aimd = Aimd::new(Bounds::new(20, 1, 200).unwrap(), AimdSettings::default());
    /// aimd.retune(Bounds::new(5, 1, 10).unwrap(), AimdSettings::default());
    /// assert_eq!(aimd.limit(), 10.0);
    /// ```
    pub fn retune(&mut self, bounds: Bounds, settings: AimdSettings) {
        self.limit = bounds.clamp(self.limit);
        self.bounds = bounds;
        self.settings = settings;
    }

    /// Returns the limit, in calls.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Returns the reason of a cut if the window's mean latency is above the threshold.
    fn too_slow(&self, latencies: Latencies) -> Option<Reason> {
        let threshold = self.settings.latency_threshold_ns? as f64;
        let latency = latencies.normal?;
        (latency > threshold).then_some(Reason::TooSlow { latency, threshold })
    }
}

impl Algorithm for Aimd {
    fn update(&mut self, window: &Window) -> Decision {
        let AimdSettings {
            backoff_ratio,
            increase_by,
            once_per_rtt,
            growth_bound,
            deviations,
            ..
        } = self.settings;
        let latencies = Latencies::of(window, deviations);
        // A cut comes first: overload counts however few slots were in use.
        let overload = if window.drops > 0 {
            Some(dropped(window))
        } else {
            self.too_slow(latencies)
        };
        let judged = if let Some(reason) = overload {
            (cut(self.limit, backoff_ratio, deviations).floor(), reason)
        } else if half_used(window, self.limit) {
            let by = f64::from(increase_by);
            (self.limit + by, Reason::Increase { by })
        } else {
            (self.limit, unused(window))
        };
        let (next, reason) = self
            .growth
            .hold(growth_bound, window, latencies, self.limit, judged);
        // A bound may have a fraction, and the limit has none.
        let next = next.floor();
        decide(
            &mut self.limit,
            next,
            self.bounds,
            deviations,
            once_per_rtt,
            reason,
        )
    }
}
