//! The knee of the latency curve.

mod drops;
mod levels;
mod mechanisms;
mod posterior;
mod reading;
mod schedule;
mod settling;

pub use mechanisms::Mechanisms;

use drops::{Drops, Verdict};
use levels::{Estimate, Levels};
use posterior::{MODEL, Posterior};
use reading::{BINDING, Reading};
use schedule::Schedule;
use settling::{Settling, Stage, ended};

use super::{Algorithm, Bounds, Close, Decision};
use crate::event::Reason;
use crate::limit::window::{Window, WindowRule};

/// The least time a window lasts, in nanoseconds: much shorter ones would only be decided upon more often.
const SHORTEST: f64 = 1e6;

/// The least samples of a window: their mean is off by a quarter of their spread.
const FEWEST: f64 = 16.0;

/// The calls a window holds for each that is in flight, so that it lasts about so many base latencies: short against all
/// that changes, long enough to hold slow calls as often as they come. One is enough before a base latency is known.
const ROUNDS: f64 = 3.0;

/// With so many in flight one round is enough.
const MANY: f64 = 64.0;

/// After so many rounds a window counts, steady or not: what never becomes steady has to be answered too.
const FULL: f64 = 12.0;

/// Standard errors that a window may be off its prediction by at a sensitivity of 1.
const CONTRADICTION: f64 = 4.5;

/// Standard errors below the anchor from which a binding window lowers it.
const BELOW: f64 = 3.0;

/// Ages are counted in units of so many base latencies.
const AGE: f64 = 200.0;

/// The variance that levels and the anchor gain in a unit of age: a level is off by 14 % after one, the anchor by 5 %. The
/// base latency changes more seldom than the load, and is seen more seldom.
const LEVEL_AGE: f64 = 0.02;
const ANCHOR_AGE: f64 = 0.0025;

/// The variance from which the anchor is forgotten.
const ANCHOR_FORGOTTEN: f64 = 0.5;

/// How unsure a base latency is that was never seen without a queue.
const FIRST_ANCHOR: f64 = 0.2;

/// The probability that the lowest level is below the knee from which its latency is a base latency.
const LIKELY_BELOW: f64 = 0.8;

/// The knees that are considered, as parts of the limit. The upper one is also how much the limit may grow at a time: TCP's
/// slow start doubles in a round trip; a window is three of them.
const REACH: (f64, f64) = (0.25, 2.5);

/// The quantile of the knee that is the target when it is well known, and the one when it is not.
const WELL_KNOWN: f64 = 0.8;
const UNSURE: f64 = 0.5;

/// The standard deviation of the logarithm of the knee from which it is not known at all.
const WIDE: f64 = 0.3;

/// Slow start ends when the knee is surely no further away than this.
const IN_REACH: f64 = 1.2;

/// How much the logarithm of the calls in flight has to fall before a ratio of changes says something.
const TELLING: f64 = 0.2;

/// The ratio of the change of the latency to that of the calls in flight, in logarithms, below which it is the dependency
/// that got slower: a queue has 1, a slower dependency 0.
const INELASTIC: f64 = 0.35;

/// Standard errors by which that ratio has to be on one side of a half.
const ELASTIC_SURE: f64 = 1.5;

/// The variance that a shift of the base latency leaves behind.
const SHIFT: f64 = 0.02;

/// A listener that hears a latency so much above the anchor gives way.
const QUEUE_OF_OTHERS: f64 = 0.25;

/// Room left above the calls in flight by one who gives way.
const GIVE_WAY: f64 = 1.25;

/// Growth of a limit that is not binding but rejects bursts.
const BURST: f64 = 1.25;

/// A limit that is not binding is let down to so many times the recent peak, which is half as high after so many base
/// latencies.
const RELEASE: f64 = 4.0;
const PEAK_HALF_LIFE: f64 = 200.0;

/// How fast the noise and the spread of latencies are learned, and the standard deviations up to which one window counts.
const NOISE_GAIN: f64 = 0.05;
const NOISE_CLIP: f64 = 2.0;
const SPREAD_GAIN: f64 = 0.2;

/// The spread is taken for no less than this part of what it was.
const SPREAD_KEPT: f64 = 0.7;

/// The least spread, in logarithms: latencies that are all the same are measured no better than to 2 %.
const LEAST_SPREAD: f64 = 0.02;

/// A drain begins with the first call that ends after it is due. If none does for so many base latencies, it would come
/// when others have ended theirs.
const DRAIN_SLACK: f64 = 4.0;

/// Drops that take less than this part of the base latency are refusals: nothing can have been done for them.
const FAST: f64 = 0.5;

/// Infers how many calls the dependency serves at once, and keeps the limit just above that.
///
/// See the module's parts for how; in short: a latency that does not depend on the calls in flight has no queue in it, one
/// that grows in proportion has. The limit is where the one turns into the other, the *knee*, with a little headroom.
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
    /// The knee in calls and the base latency in nanoseconds as of the last decision; 0 before they are known.
    knee: f64,
    base: f64,
    /// The usual standard deviation of the logarithms of latencies.
    spread: f64,
    noise: Noise,
    /// The most calls in flight of late.
    peak: f64,
    decided: Option<u64>,
}

/// A window that was slower than predicted, and the limit before anything was done about it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Suspect {
    seen: Estimate,
    limit: f64,
}

/// The variance of windows beyond what the spread of single latencies explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Noise {
    variance: f64,
    last: f64,
}

impl Noise {
    /// Takes how far a window was off its prediction, and the variance it should have had. Only the difference to the window
    /// before counts, so that a change is not taken for noise.
    fn learn(&mut self, off: f64, variance: f64) {
        let observed = (off - self.last).powi(2) / 2.0;
        self.last = off;
        let observed = observed.min(NOISE_CLIP * NOISE_CLIP * variance);
        self.variance = (self.variance + NOISE_GAIN * (observed - variance)).max(0.0);
    }
}

/// How [`Knee`] is tuned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct KneeSettings {
    /// The calls above the knee, as a multiple of its square root: 0 to 10, 0.5 by default; at least one call.
    pub headroom: f64,
    /// How often the limit goes below the knee to see the latency without a queue.
    pub drain: Drain,
    /// The share of drops that is no overload: 0 to below 1, 0.1 by default.
    pub drop_share: f64,
    /// How easily a window contradicts: 0.25 to 4, 1 by default. Twice as much takes half the difference.
    pub sensitivity: f64,
    #[doc(hidden)]
    pub mechanisms: Mechanisms,
}

/// How often [`Knee`] drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drain {
    /// Never.
    Off,
    /// Every so many base latencies, 10 to 1,000,000, rounded up to a power of two of nanoseconds.
    Every(u32),
}

impl Default for KneeSettings {
    fn default() -> Self {
        Self {
            headroom: 0.5,
            drain: Drain::Every(100),
            drop_share: 0.1,
            sensitivity: 1.0,
            mechanisms: Mechanisms::ALL,
        }
    }
}

/// What the latency of a window says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Finding {
    /// As predicted, or there was nothing to predict from.
    Expected,
    Slower {
        expected: f64,
    },
    Faster {
        expected: f64,
    },
    /// Slower at every number of calls, so it is not for the limit to answer: back to `restore`.
    Shifted {
        elasticity: f64,
        restore: Option<f64>,
    },
    /// The limit is not binding.
    NotBinding,
    /// The limit is not binding and calls queue all the same: others' calls.
    Crowded,
    /// Nothing to be learned from.
    Nothing,
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
            knee: 0.0,
            base: 0.0,
            spread: 1.0,
            noise: Noise::default(),
            peak: 0.0,
            decided: None,
        }
    }

    /// Changes bounds and tuning and keeps what is learned.
    pub fn retune(&mut self, bounds: Bounds, settings: KneeSettings) {
        self.limit = bounds.clamp(self.limit);
        self.bounds = bounds;
        self.settings = settings;
    }

    /// Returns the limit, in calls.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    fn on(&self) -> Mechanisms {
        self.settings.mechanisms
    }

    fn contradiction(&self) -> f64 {
        CONTRADICTION / self.settings.sensitivity
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

    /// The standard error of a window's mean logarithm of latencies, squared.
    fn variance(&self, reading: &Reading) -> f64 {
        let spread = reading.latency.map_or(0.0, |(_, spread)| spread);
        let spread = spread.max(SPREAD_KEPT * self.spread).max(LEAST_SPREAD);
        let noise = if self.on().noise {
            self.noise.variance
        } else {
            0.0
        };
        spread * spread / reading.calls.max(1.0) + noise
    }

    fn seen(&self, reading: &Reading) -> Option<Estimate> {
        let calls = if reading.binding {
            self.limit
        } else {
            reading.in_flight
        };
        reading.estimate(calls, self.variance(reading))
    }

    fn full(reading: &Reading) -> bool {
        reading.calls >= FULL * reading.in_flight.max(4.0)
    }

    /// The samples that a window has to hold.
    fn wanted(&self, reading: &Reading, rule: &WindowRule) -> f64 {
        let rounds = if self.draining || self.anchor.is_some() {
            ROUNDS
        } else {
            1.0
        };
        (rounds * reading.in_flight)
            .min(reading.in_flight.max(MANY))
            .max(FEWEST)
            .max(rule.min_samples as f64)
    }

    /// The limit to drain at, if a drain is due and one would show anything.
    fn drain_to(&self, window: &Window) -> Option<f64> {
        let due = self.schedule.is_due(window.opened, window.closed)
            && self
                .schedule
                .due()
                .is_some_and(|due| window.closed - due <= (DRAIN_SLACK * self.base) as u64);
        // With the call that has just ended.
        let in_flight = f64::from(window.in_flight) + 1.0;
        let binding = self.binding && in_flight > BINDING * self.limit;
        let lower = self.schedule.limit(self.knee, self.on().deep_drain);
        let lower = self.bounds.clamp(lower);
        (due && !self.draining && binding && lower < self.limit).then_some(lower)
    }

    /// Whether a drain of others is due that can be listened to.
    fn listens(&self, window: &Window) -> bool {
        self.on().listening
            && !self.draining
            && !self.binding
            && self.schedule.is_due(window.opened, window.closed)
    }

    fn listened(&self, window: &Window) -> bool {
        self.on().listening && !self.binding && self.schedule.is_past(window.opened)
    }

    /// Whether a second slow window does not yet tell less capacity from a slower dependency.
    fn undecided(&self, reading: &Reading) -> bool {
        let (Some(suspect), Some(seen)) = (self.suspect, self.seen(reading)) else {
            return false;
        };
        if !reading.binding || !self.on().shift {
            return false;
        }
        let Some((elasticity, deviation)) = elasticity(&suspect.seen, &seen) else {
            return false;
        };
        if (elasticity - 0.5).abs() >= ELASTIC_SURE * deviation {
            return false;
        }
        self.posterior().is_some_and(|posterior| {
            let (expected, variance) = posterior.predict(seen.calls);
            let variance = variance + seen.variance + MODEL;
            seen.latency - expected > self.contradiction() * variance.sqrt()
        })
    }

    fn age(&mut self, now: u64) {
        let Some(decided) = self.decided.replace(now) else {
            return;
        };
        let base = self.base.max(1.0);
        let latencies = now.saturating_sub(decided) as f64 / base;
        self.levels.age(LEVEL_AGE * latencies / AGE);
        if let Some(anchor) = &mut self.anchor {
            anchor.variance += ANCHOR_AGE * latencies / AGE;
            if anchor.variance > ANCHOR_FORGOTTEN {
                self.anchor = None;
            }
        }
        self.peak *= (-latencies / PEAK_HALF_LIFE).exp2();
    }

    /// Learns from a window while the limit is not binding: it shows the latency without a queue of ours.
    fn hear(&mut self, seen: Estimate, measuring: bool) -> Finding {
        let Some(anchor) = &mut self.anchor else {
            self.anchor = Some(Estimate {
                variance: seen.variance + FIRST_ANCHOR,
                ..seen
            });
            return Finding::NotBinding;
        };
        let above = seen.latency - anchor.latency;
        let off = above / (anchor.variance + seen.variance + MODEL).sqrt();
        let contradiction = CONTRADICTION / self.settings.sensitivity;
        if off < -contradiction {
            *anchor = seen;
        } else if measuring || !self.settings.mechanisms.listening {
            if off > contradiction {
                anchor.variance += SHIFT;
            } else {
                anchor.learn(&seen);
            }
        } else if off > contradiction && above > QUEUE_OF_OTHERS {
            return Finding::Crowded;
        }
        Finding::NotBinding
    }

    /// Compares a window with its prediction and learns from it, while the limit decides how many calls are in flight.
    fn compare(&mut self, seen: Estimate, reading: &Reading) -> (Finding, bool) {
        let Some(posterior) = self.posterior() else {
            self.levels.learn(&seen);
            self.suspect = None;
            return (Finding::Expected, false);
        };
        let (expected, variance) = posterior.predict(seen.calls);
        let variance = variance + seen.variance + MODEL;
        let off = seen.latency - expected;
        let deviations = off / variance.sqrt();
        let above_anchor = self.anchor.map_or(0.0, |anchor| {
            (seen.latency - anchor.latency) / (anchor.variance + seen.variance + MODEL).sqrt()
        });
        self.noise.learn(off, variance);
        let suspect = self.suspect.take();
        let contradiction = self.contradiction();
        let mut verify = false;
        let mut finding = Finding::Expected;
        if deviations > contradiction {
            finding = self.slower(seen, expected, suspect);
            if let Finding::Shifted { .. } = finding {
                self.levels.shift(off, SHIFT);
                self.anchor = Some(seen);
                verify = true;
            } else {
                self.doubt();
                if reading.steady {
                    let limit = suspect.map_or(self.limit, |suspect| suspect.limit);
                    self.suspect = Some(Suspect { seen, limit });
                }
            }
        } else if deviations < -contradiction {
            finding = Finding::Faster { expected };
            self.doubt();
        }
        self.levels.learn(&seen);
        match &mut self.anchor {
            Some(anchor) if above_anchor < -BELOW => {
                verify |= above_anchor < -contradiction && !self.draining;
                anchor.variance = anchor.variance.max(seen.variance);
                anchor.learn(&seen);
            }
            Some(anchor) if self.draining && above_anchor < contradiction => anchor.learn(&seen),
            Some(_) => {}
            None => self.anchor = self.first_anchor(),
        }
        (finding, verify)
    }

    fn slower(&self, seen: Estimate, expected: f64, suspect: Option<Suspect>) -> Finding {
        let elasticity = suspect.and_then(|suspect| elasticity(&suspect.seen, &seen));
        if self.on().shift {
            if let Some((elasticity, deviation)) = elasticity
                && elasticity < INELASTIC
                && elasticity + ELASTIC_SURE * deviation < 0.5
            {
                return Finding::Shifted {
                    elasticity,
                    restore: suspect.map(|suspect| suspect.limit),
                };
            }
            if self.limit <= 1.0 {
                // One call never queues behind its own.
                return Finding::Shifted {
                    elasticity: 0.0,
                    restore: None,
                };
            }
        }
        Finding::Slower { expected }
    }

    fn doubt(&mut self) {
        if self.on().doubt {
            self.levels.doubt();
        }
    }

    /// The base latency, once the lowest level is likely below the knee.
    fn first_anchor(&self) -> Option<Estimate> {
        let lowest = self.levels.first()?.calls;
        let posterior = self.posterior()?;
        if posterior.above(lowest) <= LIKELY_BELOW && self.limit > 1.0 {
            return None;
        }
        let (latency, variance) = posterior.predict(lowest);
        Some(Estimate {
            calls: lowest,
            latency,
            variance: variance + FIRST_ANCHOR,
        })
    }

    fn headroom(&self, knee: f64) -> f64 {
        (self.settings.headroom * knee.sqrt()).max(1.0)
    }

    /// Begins a drain at `limit` calls.
    fn drain(&mut self, limit: f64, now: u64) -> Decision {
        self.draining = true;
        self.suspect = None;
        self.schedule.cancel();
        let reason = Reason::Drain {
            knee: self.knee,
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
        let settled = self.settling == Settling::Settled;
        let wait = if settled {
            self.base.max(SHORTEST)
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
            .fast_drop_below((FAST * self.base) as u64)
    }
}

/// How much the latency follows the calls in flight, from a window with more of them to one with fewer, with its standard
/// error, unless the two are too near to tell.
fn elasticity(from: &Estimate, to: &Estimate) -> Option<(f64, f64)> {
    let fewer = from.calls - to.calls;
    (fewer > TELLING).then(|| {
        (
            (from.latency - to.latency) / fewer,
            (from.variance + to.variance).sqrt() / fewer,
        )
    })
}

impl Algorithm for Knee {
    fn window_rule(&self) -> WindowRule {
        Self::WINDOW_RULE
    }

    fn close(&self, window: &Window, rule: &WindowRule) -> Close {
        if self.drain_to(window).is_some() {
            return Close::Now;
        }
        if self.listens(window) {
            return Close::Restart {
                until: window.closed.saturating_add(self.base as u64),
                fresh: false,
            };
        }
        let stage = if self.on().settling && !self.listened(window) {
            self.settling.stage(window)
        } else {
            Stage::Measuring
        };
        let reading = Reading::of(window, self.limit);
        let calls = match stage {
            Stage::Over => {
                let least = self.base.max(SHORTEST).max(rule.duration as f64);
                return Close::Restart {
                    until: self.not_past_a_drain(window.closed, least),
                    fresh: false,
                };
            }
            Stage::Waiting { calls } => calls as f64,
            Stage::Measuring => {
                let wanted = self.wanted(&reading, rule);
                // Refusals alone are enough too, or a dependency that refuses everything would never be looked at.
                let refused = reading.fast_drops >= 4.0 * wanted;
                let missing = wanted - reading.calls;
                let least = self.base.max(SHORTEST).max(rule.duration as f64);
                let too_short = least - window.duration() as f64;
                if too_short > 0.0 {
                    return Close::Extend {
                        until: self.not_past_a_drain(window.closed, too_short),
                    };
                }
                if missing > 0.0 && !refused {
                    return Close::Extend {
                        until: self.not_past_a_drain(window.closed, self.base.max(SHORTEST)),
                    };
                } else if Self::full(&reading)
                    || refused
                    || (reading.steady || !self.on().steadiness) && !self.undecided(&reading)
                {
                    return Close::Now;
                } else {
                    return Close::Extend {
                        until: self.not_past_a_drain(window.closed, self.base.max(SHORTEST)),
                    };
                }
            }
        };
        // As long as so many calls take at the pace of the window so far.
        let pace = window.duration() as f64 / ended(window).max(1) as f64;
        Close::Extend {
            until: self.not_past_a_drain(window.closed, (pace * calls).max(1.0)),
        }
    }

    fn update(&mut self, window: &Window) -> Decision {
        let now = window.closed;
        if let Some(limit) = self.drain_to(window) {
            return self.drain(limit, now);
        }
        let reading = Reading::of(window, self.limit);
        let measuring = self.draining || self.listened(window);
        self.binding = reading.binding;
        let known = self.anchor.map(|_| self.base);
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
        let (finding, verify) = match self.seen(&reading) {
            Some(_) if verdict == Verdict::TimedOut => {
                self.suspect = None;
                (Finding::Nothing, false)
            }
            None => (Finding::Nothing, false),
            Some(seen) if reading.binding => self.compare(seen, &reading),
            Some(seen) => {
                self.suspect = None;
                (self.hear(seen, measuring), false)
            }
        };
        if measuring && let Some(anchor) = &self.anchor {
            self.schedule.measured(anchor.latency.exp());
        }
        if let Some((_, spread)) = reading.latency {
            self.spread += SPREAD_GAIN * (spread - self.spread);
        }
        let draining = std::mem::take(&mut self.draining);
        if reading.latency.is_none() && verdict == Verdict::Fine {
            return self.decide(self.limit, now, Reason::NoLatency);
        }
        let (next, reason) = self.choose(&reading, window, verdict, finding, draining);
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

impl Knee {
    /// Returns the instant `wait` from `now`, or that of the next drain if it is sooner.
    fn not_past_a_drain(&self, now: u64, wait: f64) -> u64 {
        let until = now.saturating_add(wait.ceil() as u64);
        match self.schedule.due() {
            Some(due) if due > now => until.min(due),
            _ => until,
        }
    }

    /// Chooses the next limit from what is known after a window, and says why.
    fn choose(
        &mut self,
        reading: &Reading,
        window: &Window,
        verdict: Verdict,
        finding: Finding,
        draining: bool,
    ) -> (f64, Reason) {
        let limit = self.limit;
        let drops = Reason::Drops {
            drops: window.drops,
            samples: window.samples(),
        };
        let restore = match (verdict, finding) {
            (Verdict::Background { restore, .. }, _) => Some(restore),
            (_, Finding::Shifted { restore, .. }) => restore,
            _ => None,
        };
        let Some(posterior) = self.posterior() else {
            return match restore {
                Some(restore) if reading.limited => (
                    restore,
                    Reason::BackgroundDrops {
                        share: self.drops.background,
                    },
                ),
                _ => (limit * 0.5, drops),
            };
        };
        let (low, high) = (posterior.quantile(0.16), posterior.quantile(0.84));
        let unsure = ((high / low).ln() / 2.0 / WIDE).min(1.0);
        let least = if self.starting && self.on().slow_start {
            WELL_KNOWN
        } else {
            UNSURE
        };
        let knee = posterior.quantile(WELL_KNOWN + unsure * (least - WELL_KNOWN));
        if high < IN_REACH * limit && self.schedule.due().is_some() {
            self.starting = false;
        }
        self.knee = posterior.quantile(0.5);
        if verdict != Verdict::TimedOut {
            self.base = posterior.base().exp();
        }
        let latency = reading.latency.map_or(0.0, |(latency, _)| latency.exp());
        let of_the_knee = Reason::Knee {
            knee: self.knee,
            low,
            high,
            base: self.base,
            latency,
        };
        let mut reason = match finding {
            Finding::Slower { expected } => Reason::Slower {
                latency,
                expected: expected.exp(),
            },
            Finding::Faster { expected } => Reason::Faster {
                latency,
                expected: expected.exp(),
            },
            Finding::Shifted { elasticity, .. } => Reason::SlowerDependency {
                elasticity,
                base: self.base,
            },
            Finding::Expected | Finding::Nothing => of_the_knee,
            Finding::NotBinding | Finding::Crowded => Reason::AppLimited {
                max_in_flight: window.max_in_flight,
            },
        };
        let mut next = restore.unwrap_or(knee + self.headroom(knee));
        if let Verdict::Background { .. } = verdict {
            reason = Reason::BackgroundDrops {
                share: self.drops.background,
            };
        }
        if !reading.binding && reading.rejected > 0.0 && self.on().bursts {
            next = next.max(BURST * limit);
        }
        if reading.binding && self.anchor.is_none() && !draining {
            next = (0.5 * limit).floor();
            reason = Reason::NoBaseline { latency };
        }
        if self.drops.ceiling < next {
            next = self.drops.ceiling;
            reason = Reason::Ceiling {
                ceiling: self.drops.ceiling,
            };
        }
        if verdict == Verdict::TimedOut {
            next = 0.5 * limit;
        }
        if verdict == Verdict::TimedOut || verdict == Verdict::Refused {
            reason = drops;
        }
        next = next.clamp(0.5 * limit, REACH.1 * limit);
        let overloaded = matches!(verdict, Verdict::TimedOut | Verdict::Refused);
        if next > limit && !reading.limited || next < limit && !reading.binding && !overloaded {
            next = limit;
        }
        if finding == Finding::Crowded && self.on().yielding {
            let in_flight = reading.in_flight;
            let room = (GIVE_WAY * in_flight).max(in_flight + self.headroom(in_flight));
            if room < next {
                next = room;
                reason = Reason::Yield {
                    latency,
                    base: self.base,
                };
            }
        }
        if !reading.binding && self.on().release {
            let most = (RELEASE * self.peak).max(f64::from(self.bounds.initial()));
            if most < next {
                next = most;
                reason = Reason::Unused { peak: self.peak };
            }
        }
        (next, reason)
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

    #[test]
    fn the_elasticity_is_that_of_a_queue_or_of_a_slower_dependency() {
        let seen = |calls: f64, latency: f64| Estimate {
            calls: calls.ln(),
            latency: latency.ln(),
            variance: 0.01,
        };
        let queue = elasticity(&seen(40.0, 80.0), &seen(20.0, 40.0)).expect("far apart");
        assert!((queue.0 - 1.0).abs() < 1e-9);
        let slower = elasticity(&seen(40.0, 80.0), &seen(20.0, 80.0)).expect("far apart");
        assert!(slower.0.abs() < 1e-9);
        assert_eq!(elasticity(&seen(40.0, 80.0), &seen(39.0, 80.0)), None);
    }

    #[test]
    fn a_change_is_no_noise() {
        let mut noise = Noise::default();
        noise.learn(0.0, 0.01);
        for _ in 0..100 {
            noise.learn(0.5, 0.01);
        }
        assert!(noise.variance < 0.001, "{}", noise.variance);
        for step in 0..100 {
            noise.learn(if step % 2 == 0 { 0.2 } else { -0.2 }, 0.01);
        }
        assert!(noise.variance > 0.01, "{}", noise.variance);
    }
}
