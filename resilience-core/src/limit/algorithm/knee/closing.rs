//! When a window closes.

use super::Knee;
use super::posterior::MODEL;
use super::reading::{BINDING, Reading};
use super::schedule::Schedule;
use super::settling::{Stage, ended};
use crate::limit::algorithm::Close;
use crate::limit::window::{Window, WindowRule};

/// The least time a window lasts, in nanoseconds: much shorter ones would only be decided upon more often.
pub(super) const SHORTEST: f64 = 1e6;

/// The least samples of a window: their mean is off by a quarter of their spread.
pub(super) const FEWEST: f64 = 16.0;

/// The calls a window holds for each that is in flight, so that it lasts about so many base latencies: short against all
/// that changes, long enough to hold slow calls as often as they come. One is enough before a base latency is known.
const ROUNDS: f64 = 3.0;

/// With so many in flight one round is enough.
const MANY: f64 = 64.0;

/// Fewer rounds are enough too if the mean is as exact as this, in squares of logarithms: the model itself is no better.
const PRECISE: f64 = MODEL;

/// After so many rounds a window counts, steady or not: what never becomes steady has to be answered too.
const FULL: f64 = 12.0;

/// Latencies scatter little if their logarithms deviate by no more than this.
const EVEN: f64 = 0.35;

/// How often an open window is looked at, in base latencies, where latencies hardly scatter and where they scatter much.
const LOOKS: (f64, f64) = (0.25, 1.0);

/// Slots are still filling if no more of them than this were in use on average.
const FILLING: f64 = 0.8;

/// Refusals alone are enough too, so many times more of them, or a dependency that refuses everything would never be looked
/// at.
const REFUSALS: f64 = 4.0;

/// A drain begins with the first call that ends after it is due. If none does for so many base latencies, it would come
/// when others have ended theirs.
const DRAIN_SLACK: f64 = 4.0;

impl Knee {
    /// Returns what becomes of a window whose time is up.
    pub(super) fn closes(&self, window: &Window, rule: &WindowRule) -> Close {
        let now = window.closed;
        if self.drain_to(window).is_some() {
            return Close::Now;
        }
        if self.listens(window) {
            return Close::Restart {
                until: now.saturating_add(self.base as u64),
                fresh: false,
            };
        }
        let refused = window.fast_drops as f64 >= FEWEST && self.is_being_refused(window);
        if window.duration() >= rule.duration && (refused || self.is_alarming(window)) {
            return Close::Now;
        }
        let stage = if self.fills(window) {
            // Not all of them: the last one's end is hardly the moment at which the window is looked at.
            match (3 * u64::from(window.limit) / 4).saturating_sub(ended(window)) {
                0 => Stage::Measuring,
                calls => Stage::Waiting { calls },
            }
        } else if self.on().settling && !self.listened(window) {
            self.settling.stage(window)
        } else {
            Stage::Measuring
        };
        let least = self.base.max(SHORTEST).max(rule.duration as f64);
        let poll = self.poll();
        match stage {
            // Refusals come at once, so they are none of those that a change leaves behind.
            Stage::Over if self.is_being_refused(window) => Close::Extend {
                until: self.not_past_a_drain(now, poll),
            },
            Stage::Over => Close::Restart {
                until: self.not_past_a_drain(now, poll),
                fresh: false,
            },
            Stage::Waiting { calls } => {
                // As long as so many calls take at the pace of the window so far.
                let pace = window.duration() as f64 / ended(window).max(1) as f64;
                Close::Extend {
                    until: self.not_past_a_drain(now, (pace * calls as f64).clamp(1.0, poll)),
                }
            }
            Stage::Measuring if (window.duration() as f64) < least => Close::Extend {
                until: self.not_past_a_drain(now, (least - window.duration() as f64).min(poll)),
            },
            Stage::Measuring if self.complete(&Reading::of(window, self.limit), rule) => Close::Now,
            Stage::Measuring => Close::Extend {
                until: self.not_past_a_drain(now, poll),
            },
        }
    }

    /// Whether a window is the very first, in which the slots fill for the first time: the calls saw half as many others on
    /// average as those after them, which tells a queue from a latency of its own. Latencies that scatter much don't tell.
    pub(super) fn fills(&self, window: &Window) -> bool {
        self.decided.is_none()
            && self.on().filling
            && window.restarts == 0
            && window.peak_in_flight >= window.limit
            && {
                let reading = Reading::of(window, self.limit);
                reading.in_flight < FILLING * self.limit
                    && reading.latency.is_some_and(|(_, spread)| spread < EVEN)
            }
    }

    /// How often an open window is looked at. The less latencies scatter, the sooner it says something.
    pub(super) fn poll(&self) -> f64 {
        (self.base * self.spread.clamp(LOOKS.0, LOOKS.1)).max(SHORTEST)
    }

    /// Whether surely too many calls are refused, as above a ceiling, where each moment costs as many.
    fn is_being_refused(&self, window: &Window) -> bool {
        window.fast_drops > 0
            && !self.drops.is_asking(self.limit)
            && self
                .drops
                .are_too_many(&Reading::of(window, self.limit), self.settings.drop_share)
    }

    /// Whether a window that lasted long enough says something.
    fn complete(&self, reading: &Reading, rule: &WindowRule) -> bool {
        let wanted = self.wanted(reading, rule);
        if reading.fast_drops >= REFUSALS * wanted {
            return true;
        }
        let steady = reading.steady || !self.on().steadiness;
        reading.calls >= wanted && (full(reading) || steady && !self.undecided(reading))
    }
}

impl Knee {
    /// The samples that a window has to hold.
    fn wanted(&self, reading: &Reading, rule: &WindowRule) -> f64 {
        let rounds = if self.draining || self.anchor.is_some() {
            ROUNDS
        } else {
            1.0
        };
        let precise = self.scatter(reading).powi(2) / PRECISE;
        (rounds * reading.in_flight)
            .min(reading.in_flight.max(MANY))
            .min(reading.in_flight.max(precise))
            .max(FEWEST)
            .max(rule.min_samples as f64)
    }

    /// The limit to drain at, if a drain is due and one would show anything.
    pub(super) fn drain_to(&self, window: &Window) -> Option<f64> {
        let due = self.schedule.is_due(window.opened, window.closed)
            && self
                .schedule
                .due()
                .is_some_and(|due| window.closed - due <= (DRAIN_SLACK * self.base) as u64);
        // With the call that has just ended.
        let in_flight = f64::from(window.in_flight) + 1.0;
        let binding = self.binding && in_flight > BINDING * self.limit;
        let lower = Schedule::limit(self.served);
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

    pub(super) fn listened(&self, window: &Window) -> bool {
        self.on().listening && !self.binding && self.schedule.is_past(window.opened)
    }

    /// Returns the instant `wait` from `now`, or that of the next drain if it is sooner.
    fn not_past_a_drain(&self, now: u64, wait: f64) -> u64 {
        let until = now.saturating_add(wait.ceil() as u64);
        match self.schedule.due() {
            Some(due) if due > now => until.min(due),
            _ => until,
        }
    }
}

fn full(reading: &Reading) -> bool {
    reading.calls >= FULL * reading.in_flight.max(4.0)
}
