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

/// The part of the first limit that a lower one has to be below, for its share of drops to say something: by fast drops,
/// and by slow ones, which come from a queue that takes a few round trips to shrink.
const LOWER: (f64, f64) = (0.95, 0.7);

/// How much of the difference the first window at a lower limit takes the background up by: what is left of the drops may
/// be chance, or a queue that is not gone yet.
const FROM_A_LOWER_LIMIT: f64 = 0.5;

/// How much of the difference one window takes the background down by.
const FORGETTING: f64 = 0.1;

/// The part of the calls that were served at once that a ceiling is set to, so that a bulkhead is not run into at once.
const BELOW_THE_CEILING: f64 = 0.96;

/// How much the ceiling rises in the window after it was set by drops that took their time, and by ones that came at once:
/// with one call more than a full bulkhead takes it refuses all that are offered meanwhile, so it is run into every 50
/// windows only.
const CEILING_GROWTH: (f64, f64) = (0.02, 0.0005);

/// How much faster the ceiling rises with each window, and the most it rises in one: twice as high after 100 windows.
const CEILING_ACCELERATION: f64 = 1.045;
const CEILING_GROWTH_AT_MOST: f64 = 0.05;

/// Drops that took so many times the base latency are time-outs.
const TIMED_OUT: f64 = 2.0;

/// What was learned from drops.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drops {
    /// The share of drops that does not depend on the limit.
    pub(super) background: f64,
    /// The most calls that the dependency takes without refusing some at once; infinite if it never did.
    pub(super) ceiling: f64,
    /// How much it rises in the next window.
    growth: f64,
    bout: Option<Bout>,
}

/// Windows with too many drops, one after the other: the limit and the share of drops in the first of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bout {
    limit: f64,
    share: f64,
    slow: bool,
}

impl Bout {
    /// The limit below which the share of drops says whether it follows the limit.
    fn lower(&self) -> f64 {
        self.limit * if self.slow { LOWER.1 } else { LOWER.0 }
    }
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
            growth: CEILING_GROWTH.0,
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
        let (share, deviation) = reading.drop_share();
        let too_many = share - SURE * deviation > tolerated + ABOVE_BACKGROUND * self.background;
        self.ceiling *= 1.0 + self.growth;
        self.growth = (self.growth * CEILING_ACCELERATION).min(CEILING_GROWTH_AT_MOST);
        if !too_many {
            if let Some(bout) = self.bout.take()
                && mechanisms.background
                && limit < bout.lower()
                && share > self.background
            {
                self.background += FROM_A_LOWER_LIMIT * (share - self.background);
                if share > STAYED * bout.share {
                    self.ceiling = f64::INFINITY;
                }
            }
            self.background += FORGETTING * (share - self.background).min(0.0);
            return Verdict::Fine;
        }
        let slow = reading.successes < 1.0
            || reading.drop_latency > TIMED_OUT * base.unwrap_or(reading.success_latency);
        let bout = Bout { limit, share, slow };
        let bout = Bout {
            slow,
            ..*self.bout.get_or_insert(bout)
        };
        let stayed = share > STAYED * bout.share && share < DOWN;
        if mechanisms.background && stayed && limit < bout.lower() {
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
            let served = reading.succeeding.min(limit);
            self.ceiling = (BELOW_THE_CEILING * served).max(1.0);
            self.growth = if 2.0 * reading.fast_drops > reading.drops {
                CEILING_GROWTH.1
            } else {
                CEILING_GROWTH.0
            };
        }
        Verdict::Refused
    }
}
