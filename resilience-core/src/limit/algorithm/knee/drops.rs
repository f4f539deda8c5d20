//! What drops say: too much, more than the dependency takes in, or nothing about the limit.

use super::mechanisms::Mechanisms;
use super::reading::Reading;

/// Standard errors that a share of drops has to be above what is tolerated by.
const SURE: f64 = 2.0;

/// Drops count against the limit if there are so many times more than there are anyway.
const ABOVE_BACKGROUND: f64 = 1.5;

/// A share of drops that is still so large a part of what it was does not follow the limit.
const STAYED: f64 = 0.75;

/// Above this share the dependency is down, and whether drops follow the limit cannot be told.
const DOWN: f64 = 0.9;

/// The part of the first limit that a lower one has to be below, for its share of drops to say something: by slow drops, which
/// come from a queue that takes a few round trips to shrink, by others, and by those that came at once, where it is
/// the part of what was in use: a quota refuses calls below that too, as many as are made.
const LOWER_SLOW: f64 = 0.7;
const LOWER: f64 = 0.95;
const LOWER_FAST: f64 = 0.75;

/// How much of the difference the first window at a lower limit takes the background up by: what is left of the drops may
/// be chance, or a queue that is not gone yet.
const FROM_A_LOWER_LIMIT: f64 = 0.5;

/// How much of the difference one window takes the background down by.
const FORGETTING: f64 = 0.1;

/// How long a ceiling is kept to before it is tried again, in base latencies: at first, and at most. Each time it is met in the
/// same place that is twice as long, until what it costs to run into it now and then no longer matters.
const KEPT: (f64, f64) = (8.0, 128.0);

/// The part of what was served that a ceiling is set to by drops that took their time: those don't tell it as exactly.
const BELOW_THE_CEILING: f64 = 0.96;

/// The part of what was served that a ceiling is set to if calls are refused below it too, as by a quota: what is counted is not
/// how many they are at once.
const STILL_REFUSED: f64 = 0.85;

/// A ceiling is met in the same place if it is no further off than by this part.
const SAME_PLACE: f64 = 0.1;

/// The step, as a part of the ceiling, by which it is tried, and how much more each step is than the one before.
const STEP: f64 = 0.04;
const ACCELERATION: f64 = 2.0;

/// Drops that took so many times the base latency are time-outs.
const TIMED_OUT: f64 = 2.0;

/// What was learned from drops.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drops {
    /// The share of drops that does not depend on the limit.
    pub(super) background: f64,
    /// The most calls that the dependency takes without refusing some at once; infinite if it never did.
    pub(super) ceiling: f64,
    /// Where it was met.
    met: f64,
    /// How long it is kept to, and how much longer, in base latencies.
    kept: f64,
    left: f64,
    /// The part that it rises by in the next window after that.
    step: f64,
    bout: Option<Bout>,
}

/// Windows with too many drops, one after the other: the limit and the share of drops in the first of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bout {
    limit: f64,
    /// The limit below which the share of drops says whether it follows the limit.
    lower: f64,
    share: f64,
    slow: bool,
}

/// What the drops of a window call for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Nothing: there are none, or no more than usual.
    Fine,
    /// Drops come whatever the limit is: back to what it was before they were answered.
    Background { restore: f64, slow: bool },
    /// The dependency refuses what is too much.
    Refused,
    /// Calls time out: the limit is halved, and latencies that were cut off teach nothing.
    TimedOut,
}

impl Default for Drops {
    fn default() -> Self {
        Self {
            background: 0.0,
            ceiling: f64::INFINITY,
            met: f64::INFINITY,
            kept: KEPT.0,
            left: 0.0,
            step: STEP,
            bout: None,
        }
    }
}

impl Drops {
    /// Judges the drops of a window under `limit`. `base` is the base latency in nanoseconds if it is known, `tolerated` the
    /// share of drops that is no overload.
    pub(super) fn judge(
        &mut self,
        reading: &Reading,
        limit: f64,
        base: Option<f64>,
        tolerated: f64,
        mechanisms: Mechanisms,
    ) -> Verdict {
        let (share, _) = reading.drop_share();
        let too_many = self.are_too_many(reading, tolerated);
        if !too_many {
            if let Some(bout) = self.bout.take()
                && mechanisms.background
                && limit < bout.lower
                && share > self.background
            {
                self.background += FROM_A_LOWER_LIMIT * (share - self.background);
                if share > STAYED * bout.share {
                    self.ceiling = f64::INFINITY;
                }
            }
            self.background += FORGETTING * (share - self.background).min(0.0);
            self.rise(reading, limit);
            return Verdict::Fine;
        }
        let slow = reading.successes < 1.0
            || reading.drop_latency > TIMED_OUT * base.unwrap_or(reading.success_latency);
        let fast = 2.0 * reading.fast_drops > reading.drops;
        let used = reading.in_flight.min(limit);
        let lower = match () {
            () if slow => LOWER_SLOW * limit,
            () if fast => LOWER_FAST * used,
            () => LOWER * used,
        };
        let bout = Bout {
            limit,
            lower,
            share,
            slow,
        };
        let again = self.bout.is_some();
        let bout = Bout {
            slow,
            ..*self.bout.get_or_insert(bout)
        };
        let stayed = share > STAYED * bout.share && share < DOWN;
        if mechanisms.background && stayed && limit < bout.lower {
            self.bout = None;
            self.background = share;
            self.ceiling = f64::INFINITY;
            return Verdict::Background {
                restore: bout.limit,
                slow,
            };
        }
        if slow {
            return Verdict::TimedOut;
        }
        if mechanisms.ceiling {
            let part = match () {
                () if again => STILL_REFUSED,
                () if fast => 1.0,
                () => BELOW_THE_CEILING,
            };
            self.meet((part * reading.succeeding.min(limit)).max(1.0));
        }
        Verdict::Refused
    }

    /// Whether a window under `limit` is to tell whether drops follow the limit.
    pub(super) fn is_asking(&self, limit: f64) -> bool {
        self.bout.is_some_and(|bout| limit < bout.lower)
    }

    /// Whether there are surely more drops than usual and than what is tolerated.
    pub(super) fn are_too_many(&self, reading: &Reading, tolerated: f64) -> bool {
        let (share, deviation) = reading.drop_share();
        share - SURE * deviation > tolerated + ABOVE_BACKGROUND * self.background
    }

    /// Sets the ceiling to what was served.
    fn meet(&mut self, served: f64) {
        let same = (served / self.met).ln().abs() < SAME_PLACE;
        self.kept = if same {
            (2.0 * self.kept).min(KEPT.1)
        } else {
            KEPT.0
        };
        (self.met, self.left, self.step) = (served, self.kept, STEP);
        self.ceiling = served.round().max(1.0);
    }

    /// Lets a ceiling rise that was kept to for long enough, the faster the longer it is not met.
    fn rise(&mut self, reading: &Reading, limit: f64) {
        if self.left > 0.0 || !reading.binding || limit < self.ceiling.floor() {
            return;
        }
        self.ceiling = (self.ceiling * (1.0 + self.step)).max(self.ceiling + 1.0);
        self.step *= ACCELERATION;
    }

    /// Lets so many base latencies pass.
    pub(super) fn age(&mut self, latencies: f64) {
        self.left = (self.left - latencies).max(0.0);
    }
}
