//! What the latency of a window says, against what was predicted.

use super::closing::FEWEST;
use super::levels::Estimate;
use super::posterior::MODEL;
use super::reading::Reading;
use super::settling::Stage;
use super::{Knee, LEAST_SPREAD};
use crate::limit::window::Window;

/// Standard errors that a window may be off its prediction by at a sensitivity of 1.
const CONTRADICTION: f64 = 4.5;

/// The part of that by which a window that is faster contradicts, if it is exact: chance does less there, and what it costs to be
/// wrong is less than a queue.
const FASTER: f64 = 0.5;

/// A window is exact if its own variance is no more than so many times the model's.
const EXACT: f64 = 2.0;

/// A window whose latencies scatter so many times more than they usually do has a change in its middle.
const MIXED: f64 = 1.3;

/// Standard errors below the anchor from which a binding window lowers it.
const BELOW: f64 = 3.0;

/// How unsure a base latency is that was never seen without a queue.
const FIRST_ANCHOR: f64 = 0.2;

/// The probability that the lowest level is below the knee from which its latency is a base latency.
const LIKELY_BELOW: f64 = 0.8;

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

/// The logarithm of how much slower than predicted a window has to be for its end not to be waited for, and how much surer that
/// has to be than at its end, since it is looked at several times: less can wait.
const ALARM: f64 = 0.25;
const ALARM_SURE: f64 = 1.3;

/// Windows that were slower than predicted, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Suspect {
    /// What the last of them showed; nothing if the change came in the middle of it.
    seen: Option<Estimate>,
    /// The limit before anything was done about it.
    limit: f64,
}

/// What the latency of a window says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Finding {
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
    pub(super) fn contradiction(&self) -> f64 {
        CONTRADICTION / self.settings.sensitivity
    }

    /// Learns from a window while the limit is not binding: it shows the latency without a queue of ours.
    pub(super) fn hear(&mut self, seen: Estimate, measuring: bool) -> Finding {
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
    pub(super) fn compare(
        &mut self,
        seen: Estimate,
        reading: &Reading,
        alarming: bool,
    ) -> (Finding, bool) {
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
        let exact = seen.variance <= EXACT * MODEL;
        let mut verify = false;
        let mut finding = Finding::Expected;
        if alarming || deviations > contradiction {
            finding = self.slower(seen, expected, suspect);
            if let Finding::Shifted { .. } = finding {
                self.levels.shift(off, SHIFT);
                self.anchor = Some(seen);
                verify = true;
            } else {
                self.doubt();
                let pure = suspect.is_some() || !(alarming || self.is_mixed(reading));
                self.suspect = Some(Suspect {
                    seen: (pure && reading.steady).then_some(seen),
                    limit: suspect.map_or(self.limit, |suspect| suspect.limit),
                });
            }
        } else if deviations < -contradiction * if exact { FASTER } else { 1.0 } {
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

    pub(super) fn slower(
        &self,
        seen: Estimate,
        expected: f64,
        suspect: Option<Suspect>,
    ) -> Finding {
        let elasticity = suspect.and_then(|suspect| elasticity(&suspect.seen?, &seen));
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

    pub(super) fn doubt(&mut self) {
        if self.on().doubt {
            self.levels.doubt();
        }
    }

    /// The base latency, once the lowest level is likely below the knee.
    pub(super) fn first_anchor(&self) -> Option<Estimate> {
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

    /// Whether a second slow window does not yet tell less capacity from a slower dependency.
    pub(super) fn undecided(&self, reading: &Reading) -> bool {
        let before = self.suspect.and_then(|suspect| suspect.seen);
        let (Some(before), Some(seen)) = (before, self.seen(reading)) else {
            return false;
        };
        if !reading.binding || !self.on().shift {
            return false;
        }
        let Some((elasticity, deviation)) = elasticity(&before, &seen) else {
            return false;
        };
        if (elasticity - 0.5).abs() >= ELASTIC_SURE * deviation {
            return false;
        }
        self.above_expected(&seen)
            .is_some_and(|(above, deviation)| above > self.contradiction() * deviation)
    }

    /// Whether an open window is so much slower than predicted that its end need not be waited for: calls pile up meanwhile.
    pub(super) fn is_alarming(&self, window: &Window) -> bool {
        if !self.on().alarm
            || self.suspect.is_some()
            || self.draining
            || self.anchor.is_none()
            || self.limit <= 1.0
            || self.settling.stage(window) != Stage::Measuring
        {
            return false;
        }
        let reading = Reading::of(window, self.limit);
        if !reading.binding || reading.calls < FEWEST {
            return false;
        }
        // The usual spread: with a change in the middle of the window its own is larger.
        let seen = self.seen_with(&reading, self.spread.max(LEAST_SPREAD), false);
        seen.filter(|seen| seen.latency > self.base.max(1.0).ln() + ALARM)
            .and_then(|seen| self.above_expected(&seen))
            .is_some_and(|(above, deviation)| {
                above > ALARM && above > ALARM_SURE * self.contradiction() * deviation
            })
    }

    /// Whether a window shows two kinds of latencies, from before a change and after it.
    fn is_mixed(&self, reading: &Reading) -> bool {
        let usual = self.spread.max(LEAST_SPREAD);
        reading
            .latency
            .is_some_and(|(_, spread)| spread > MIXED * usual)
    }

    /// How much slower a window was than predicted, with the standard error of that.
    fn above_expected(&self, seen: &Estimate) -> Option<(f64, f64)> {
        let (expected, variance) = self.posterior()?.predict(seen.calls);
        Some((
            seen.latency - expected,
            (variance + seen.variance + MODEL).sqrt(),
        ))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
