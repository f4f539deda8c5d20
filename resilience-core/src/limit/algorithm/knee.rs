//! The knee of the latency curve.

mod choice;
mod closing;
mod drops;
mod finding;
mod levels;
mod mechanisms;
mod noise;
mod posterior;
mod reading;
mod schedule;
mod settings;
mod settling;

pub use mechanisms::Mechanisms;
pub use settings::{Drain, KneeSettings};

use choice::Told;
use closing::{FEWEST, SHORTEST};
use drops::{Drops, Verdict};
use finding::{Finding, Suspect};
use levels::{Estimate, Levels};
use noise::Noise;
use posterior::Posterior;
use reading::Reading;
use schedule::Schedule;
use settling::Settling;

use super::{Algorithm, Bounds, Close, Decision};
use crate::event::Reason;
use crate::limit::window::{Window, WindowRule};

/// Ages are counted in units of so many base latencies.
const AGE: f64 = 200.0;

/// The variance that levels and the anchor gain in a unit of age: a level is off by 14 % after one, the anchor by 5 %. The
/// base latency changes more seldom than the load, and is seen more seldom.
const LEVEL_AGE: f64 = 0.02;
const ANCHOR_AGE: f64 = 0.0025;

/// The variance from which the anchor is forgotten: as a level is.
const ANCHOR_FORGOTTEN: f64 = 0.5;

/// The knees that are considered, as parts of the limit. The upper one is also how much the limit may grow at a time: TCP's
/// slow start doubles in a round trip; a window is three of them.
const REACH: (f64, f64) = (0.25, 2.5);

/// The recent peak is half as high after so many base latencies.
const PEAK_HALF_LIFE: f64 = 200.0;

/// How fast the spread of latencies is learned.
const SPREAD_GAIN: f64 = 0.2;

/// The spread is taken for no less than this part of what it was.
const SPREAD_KEPT: f64 = 0.7;

/// The least spread, in logarithms: latencies that are all the same are measured no better than to 2 %.
const LEAST_SPREAD: f64 = 0.02;

/// Drops that take less than this part of the base latency are refusals: nothing can have been done for them.
const FAST: f64 = 0.5;

/// Infers how many calls the dependency serves at once, and keeps the limit just above that.
///
/// Below some number of calls in flight, the *knee*, the latency does not depend on how many they are; above it they queue,
/// and it grows in proportion. So a window is evidence about where the knee is and about the latency below it, the *base
/// latency*: each level of calls in flight has an estimate of its latency that is surer the more windows and the fresher they
/// are (a Kalman filter of one state), and a least-squares fit says how likely each knee is. The limit is a quantile of that,
/// plus [headroom](KneeSettings::headroom). A window that contradicts what is known makes all of it less sure, so that the
/// next ones decide; the one after that tells less capacity from a dependency that takes longer at any limit, by whether the
/// latency follows the limit (its elasticity).
///
/// Only windows in which the limit decided how many calls there were say something about the knee. They are as long as it
/// takes for a change of the limit to settle, for three calls to end for each in flight, and for Little's law to hold: that as
/// much came in as went out.
///
/// Since a queue that always stands looks like a slow dependency, the limit goes below the knee for one window now and then
/// ([`Drain`]). Clients of one dependency do so together if their clocks agree, as those in one process do.
///
/// Too large a share of drops halves the limit if they are time-outs; if they are refusals, it goes to what was served at
/// that time. Drops that stay when the limit falls are put up with.
///
/// Don't use it for fewer than some ten calls a second, of which it learns nothing in time, or where the latency says
/// nothing about load: calls of very different kinds in a changing mix. Several clients in different processes drain at
/// different times and see each other's queues in their base latency; many of them with a few slots each leave some queue.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Algorithm, Bounds, Knee, KneeSettings};
/// use resilience::limit::window::{Sample, Window};
///
/// let bounds = Bounds::new(20, 1, 200).unwrap();
/// let mut knee = Knee::new(bounds, KneeSettings::default());
///
/// // 30 calls at once take 40 ms each, the others wait.
/// let mut limit = 20;
/// for _ in 0..50 {
///     let latency = 40_000_000 * u64::from(limit.max(30)) / 30;
///     let window = Window::of(limit, [Sample::success(latency, limit); 100]);
///     limit = knee.update(&window).limit as u32;
/// }
/// assert!((30..36).contains(&limit));
/// assert_eq!(knee.baseline().unwrap().round() as u64 / 1_000_000, 40);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    bounds: Bounds,
    settings: KneeSettings,
    /// A whole number of calls.
    limit: f64,
    levels: Levels,
    /// The base latency, known from below the knee.
    anchor: Option<Estimate>,
    suspect: Option<Suspect>,
    drops: Drops,
    schedule: Schedule,
    settling: Settling,
    draining: bool,
    starting: bool,
    /// Whether the limit was binding in the last window.
    binding: bool,
    /// The knee, in calls, and the base latency, in nanoseconds, as of the last decision; 0 before they are known.
    served: f64,
    base: f64,
    /// The base latency when it was last seen without a queue, or a lower one since: a time-out is told from a refusal by it, so
    /// a queue that was taken for a slower dependency does not make refusals of time-outs.
    proven: f64,
    /// The usual standard deviation of the logarithms of latencies.
    spread: f64,
    noise: Noise,
    /// The most calls in flight of late.
    peak: f64,
    decided: Option<u64>,
}

impl Knee {
    /// At least so long and so many samples; mostly it asks for more.
    pub(crate) const WINDOW_RULE: WindowRule = WindowRule {
        duration: SHORTEST as u64,
        min_samples: FEWEST as u64,
    };

    /// Returns the algorithm at the bounds' initial limit, with nothing learned.
    pub fn new(bounds: Bounds, settings: KneeSettings) -> Self {
        Self {
            bounds,
            settings,
            limit: f64::from(bounds.initial()),
            levels: Levels::default(),
            anchor: None,
            suspect: None,
            drops: Drops::default(),
            schedule: Schedule::default(),
            settling: Settling::Rise,
            draining: false,
            starting: true,
            binding: false,
            served: 0.0,
            base: 0.0,
            proven: 0.0,
            spread: 1.0,
            noise: Noise::default(),
            peak: 0.0,
            decided: None,
        }
    }

    /// Changes bounds and tuning and keeps what is learned: the limit, as far as it is within the new bounds, and all that is
    /// known about the dependency.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::algorithm::{Bounds, Knee, KneeSettings};
    ///
    /// let mut knee = Knee::new(Bounds::new(20, 1, 200).unwrap(), KneeSettings::default());
    /// knee.retune(Bounds::new(5, 1, 10).unwrap(), KneeSettings::default());
    /// assert_eq!(knee.limit(), 10.0);
    /// ```
    pub fn retune(&mut self, bounds: Bounds, settings: KneeSettings) {
        self.limit = bounds.clamp(self.limit);
        self.bounds = bounds;
        self.settings = settings;
        if settings.drain == Drain::Off {
            self.schedule.cancel();
        }
    }

    /// Returns the limit: a whole number of calls.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    fn on(&self) -> Mechanisms {
        self.settings.mechanisms
    }

    fn posterior(&self) -> Option<Posterior> {
        if self.levels.is_empty() && self.anchor.is_none() {
            return None;
        }
        let (low, high) = ((self.limit * REACH.0).max(0.5), self.limit * REACH.1);
        Some(Posterior::of(
            &self.levels,
            self.anchor.as_ref(),
            low.ln(),
            high.ln(),
        ))
    }

    /// The standard deviation of the logarithms of latencies.
    fn scatter(&self, reading: &Reading) -> f64 {
        let spread = reading.latency.map_or(0.0, |(_, spread)| spread);
        spread.max(SPREAD_KEPT * self.spread).max(LEAST_SPREAD)
    }

    /// The standard error of a window's mean logarithm of latencies, squared.
    fn variance(&self, reading: &Reading, spread: f64) -> f64 {
        let noise = if self.on().noise {
            self.noise.variance
        } else {
            0.0
        };
        spread * spread / reading.calls.max(1.0) + noise
    }

    fn seen(&self, reading: &Reading) -> Option<Estimate> {
        self.seen_with(reading, self.scatter(reading), false)
    }

    /// What a window measured, with latencies that scatter by `spread`.
    fn seen_with(&self, reading: &Reading, spread: f64, filling: bool) -> Option<Estimate> {
        let calls = if reading.binding && !filling && reading.steady {
            self.limit
        } else {
            reading.in_flight
        };
        reading.estimate(calls, self.variance(reading, spread))
    }

    fn age(&mut self, now: u64) {
        let Some(decided) = self.decided.replace(now) else {
            return;
        };
        let base = self.base.max(1.0);
        let latencies = now.saturating_sub(decided) as f64 / base;
        self.drops.age(latencies);
        self.levels.age(LEVEL_AGE * latencies / AGE);
        if let Some(anchor) = &mut self.anchor {
            anchor.variance += ANCHOR_AGE * latencies / AGE;
            if anchor.variance > ANCHOR_FORGOTTEN {
                self.anchor = None;
            }
        }
        self.peak *= (-latencies / PEAK_HALF_LIFE).exp2();
    }

    /// Begins a drain at `limit` calls.
    fn drain(&mut self, limit: f64, now: u64) -> Decision {
        self.draining = true;
        self.suspect = None;
        self.schedule.cancel();
        let reason = Reason::Drain {
            knee: self.served,
            base: self.base,
        };
        self.decide(limit, now, reason)
    }

    /// Puts `next` in the limit's place, within the bounds, and returns the decision for it.
    fn decide(&mut self, next: f64, now: u64, reason: Reason) -> Decision {
        let before = self.limit;
        if next.is_finite() {
            self.limit = self.bounds.clamp(next.round());
        }
        self.settling = match () {
            () if self.limit > before => Settling::Rise,
            () if self.limit < before => Settling::Fall,
            () => Settling::Settled,
        };
        let wait = if self.settling == Settling::Settled {
            self.poll()
        } else {
            self.base / 4.0
        };
        let wait = wait as u64;
        let wait = match self.schedule.due() {
            Some(due) if due > now => wait.min(due - now),
            _ => wait,
        };
        Decision::new(self.limit, reason)
            .next_window(wait)
            .fast_drop_below((FAST * self.proven) as u64)
    }
}

impl Algorithm for Knee {
    fn window_rule(&self) -> WindowRule {
        Self::WINDOW_RULE
    }

    fn close(&self, window: &Window, rule: &WindowRule) -> Close {
        self.closes(window, rule)
    }

    fn update(&mut self, window: &Window) -> Decision {
        let now = window.closed;
        if let Some(limit) = self.drain_to(window) {
            return self.drain(limit, now);
        }
        let reading = Reading::of(window, self.limit);
        let filling = self.fills(window);
        let alarming = self.is_alarming(window);
        let measuring = self.draining || self.listened(window);
        self.binding = reading.binding;
        let known = self.anchor.map(|_| self.proven);
        let verdict = self.drops.judge(
            &reading,
            self.limit,
            known,
            self.settings.drop_share,
            self.on(),
        );
        self.age(now);
        self.peak = self.peak.max(f64::from(window.peak_in_flight));
        if let Verdict::Background { slow: true, .. } = verdict {
            self.levels.clear();
            self.anchor = None;
        }
        let seen = self.seen_with(&reading, self.scatter(&reading), filling);
        let (finding, verify) = match seen {
            Some(_) if verdict == Verdict::TimedOut => {
                self.suspect = None;
                (Finding::Nothing, false)
            }
            None => (Finding::Nothing, false),
            Some(seen) if reading.binding => self.compare(seen, &reading, alarming),
            Some(seen) => {
                self.suspect = None;
                (self.hear(seen, measuring), false)
            }
        };
        if measuring && let Some(anchor) = &self.anchor {
            self.schedule.measured(anchor.latency.exp());
        }
        if let Some((_, spread)) = reading.latency {
            let gain = if filling { 1.0 } else { SPREAD_GAIN };
            self.spread += gain * (spread - self.spread);
        }
        let draining = std::mem::take(&mut self.draining);
        if !draining {
            self.schedule.window(window.duration());
        }
        if reading.latency.is_none() && verdict == Verdict::Fine {
            return self.decide(self.limit, now, Reason::NoLatency);
        }
        let (next, reason) = self.choose(&Told {
            window,
            reading: &reading,
            verdict,
            finding,
            draining,
            filling,
        });
        if measuring || self.base < self.proven || self.proven == 0.0 {
            self.proven = self.base;
        }
        if self.schedule.is_past(window.opened) {
            self.schedule.cancel();
        }
        if let Drain::Every(period) = self.settings.drain
            && self.on().drain
            && self.base > 0.0
        {
            self.schedule
                .plan(now, self.base, period, verify && self.on().verification);
        }
        let cut = matches!(verdict, Verdict::TimedOut | Verdict::Refused);
        self.decide(next, now, reason).fresh(cut)
    }

    fn set_bounds(&mut self, bounds: Bounds) -> bool {
        self.retune(bounds, self.settings);
        true
    }

    fn baseline(&self) -> Option<f64> {
        (self.base > 0.0).then_some(self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_small() {
        assert!(size_of::<Knee>() <= 2048, "{}", size_of::<Knee>());
    }

    #[test]
    fn each_mechanism_can_be_left_out() {
        for name in Mechanisms::NAMES {
            let some = Mechanisms::without(name).expect("a name of one");
            assert_ne!(some, Mechanisms::ALL, "{name}");
        }
        assert_eq!(Mechanisms::without("none"), None);
    }
}
