//! Which limit follows from what is known.

use super::drops::Verdict;
use super::finding::Finding;
use super::posterior::Posterior;
use super::reading::Reading;
use super::{Knee, REACH};
use crate::event::Reason;
use crate::limit::window::Window;

/// The quantile of the knee that is the target when it is well known, and the one when it is not.
const WELL_KNOWN: f64 = 0.8;
const UNSURE: f64 = 0.5;

/// The standard deviation of the logarithm of the knee from which it is not known at all.
const WIDE: f64 = 0.3;

/// Slow start ends when the knee is surely no further away than this.
const IN_REACH: f64 = 1.2;

/// Room left above the calls in flight by one who gives way.
const GIVE_WAY: f64 = 1.25;

/// The least part of the limit that one decision leaves: half, as TCP does, since a queue shows within a window.
const FALL: f64 = 0.5;

/// The most of the limit that a window leaves which was slower than predicted, whatever is thought to be the reason: with fewer
/// calls the next one tells a queue from a dependency that got slower.
const EXPERIMENT: f64 = 0.75;

/// Growth of a limit that is not binding but rejects bursts.
const BURST: f64 = 1.25;

/// A limit that is not binding is let down to so many times the recent peak.
const RELEASE: f64 = 4.0;

/// What a window said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    pub(super) window: &'a Window,
    pub(super) reading: &'a Reading,
    pub(super) verdict: Verdict,
    pub(super) finding: Finding,
    /// Whether the limit was that of a drain.
    pub(super) draining: bool,
    /// Whether the slots were filling for the first time.
    pub(super) filling: bool,
}

impl Told<'_> {
    /// The limit to go back to, if it was lowered for nothing.
    fn restore(&self) -> Option<f64> {
        match (self.verdict, self.finding) {
            (Verdict::Background { restore, .. }, _) => Some(restore),
            (_, Finding::Shifted { restore, .. }) => restore,
            _ => None,
        }
    }

    fn overloaded(&self) -> bool {
        matches!(self.verdict, Verdict::TimedOut | Verdict::Refused)
    }

    fn drops(&self) -> Reason {
        Reason::Drops {
            drops: self.window.drops,
            samples: self.window.samples(),
        }
    }

    fn latency(&self) -> f64 {
        self.reading
            .latency
            .map_or(0.0, |(latency, _)| latency.exp())
    }
}

impl Knee {
    /// Chooses the next limit from what is known after a window, and says why.
    pub(super) fn choose(&mut self, told: &Told<'_>) -> (f64, Reason) {
        let Some(posterior) = self.posterior() else {
            return self.choose_blindly(told);
        };
        let target = self.target(&posterior, told);
        let (next, reason) = self.with_drops(told, target);
        let limit = self.limit;
        let mut next = next.clamp(FALL * limit, REACH.1 * limit);
        let unasked = next > limit && !told.reading.limited;
        let unfounded = next < limit && !told.reading.binding && !told.overloaded();
        if unasked || unfounded {
            next = limit;
        }
        self.with_others(told, (next, reason))
    }

    /// Without a latency there are only drops.
    fn choose_blindly(&self, told: &Told<'_>) -> (f64, Reason) {
        match told.restore() {
            Some(restore) if told.reading.limited => (restore, self.background()),
            _ => (FALL * self.limit, told.drops()),
        }
    }

    /// The limit that follows from the knee, the base latency if it is known, and from what was found.
    fn target(&mut self, posterior: &Posterior, told: &Told<'_>) -> (f64, Reason) {
        let (limit, reading) = (self.limit, told.reading);
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
        self.served = posterior.quantile(0.5);
        if told.verdict != Verdict::TimedOut {
            self.base = posterior.base().exp();
        }
        let mut next = told.restore().unwrap_or(knee + self.headroom(knee));
        if !reading.binding && reading.rejected > 0.0 && self.on().bursts {
            next = next.max(BURST * limit);
        }
        if let Finding::Slower { .. } = told.finding {
            next = next.min(EXPERIMENT * limit);
        }
        let latency = told.latency();
        if told.filling {
            next = limit;
        } else if reading.binding && self.anchor.is_none() && !told.draining {
            return ((FALL * limit).floor(), Reason::NoBaseline { latency });
        }
        let reason = match told.finding {
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
            Finding::Expected | Finding::Nothing => Reason::Knee {
                knee: self.served,
                low,
                high,
                base: self.base,
                latency,
            },
            Finding::NotBinding | Finding::Crowded => Reason::AppLimited {
                max_in_flight: told.window.max_in_flight,
            },
        };
        (next, reason)
    }

    fn with_drops(&self, told: &Told<'_>, (mut next, mut reason): (f64, Reason)) -> (f64, Reason) {
        if let Verdict::Background { .. } = told.verdict {
            reason = self.background();
        }
        if self.drops.ceiling < next {
            next = self.drops.ceiling;
            reason = Reason::Ceiling {
                ceiling: self.drops.ceiling,
            };
        }
        if told.verdict == Verdict::TimedOut {
            next = FALL * self.limit;
        }
        if told.overloaded() {
            reason = told.drops();
        }
        (next, reason)
    }

    /// Leaves others what is not in use.
    fn with_others(&self, told: &Told<'_>, (mut next, mut reason): (f64, Reason)) -> (f64, Reason) {
        let in_flight = told.reading.in_flight;
        let room = (GIVE_WAY * in_flight).max(in_flight + self.headroom(in_flight));
        if told.finding == Finding::Crowded && self.on().yielding && room < next {
            next = room;
            reason = Reason::Yield {
                latency: told.latency(),
                base: self.base,
            };
        }
        let most = (RELEASE * self.peak).max(f64::from(self.bounds.initial()));
        if !told.reading.binding && self.on().release && most < next {
            next = most;
            reason = Reason::Unused { peak: self.peak };
        }
        (next, reason)
    }

    fn background(&self) -> Reason {
        Reason::BackgroundDrops {
            share: self.drops.background,
        }
    }
}

impl Knee {
    fn headroom(&self, knee: f64) -> f64 {
        (self.settings.headroom * knee.sqrt()).max(1.0)
    }
}
