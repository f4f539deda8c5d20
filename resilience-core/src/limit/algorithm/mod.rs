//! How the limit is found: pure folds from windows to limits.
//!
//! An [`Algorithm`] sees windows and nothing else: no clock, no atomics, no registry. Given the same windows it makes
//! the same [`Decision`]s, so a recorded sequence replays to the same limits and reasons.

mod aimd;
mod bounds;
mod deviations;
mod gradient2;
mod growth;
mod knee;
mod signal;
mod vegas;

pub use aimd::{Aimd, AimdSettings};
pub use bounds::Bounds;
pub use deviations::Deviations;
pub use gradient2::{Gradient2, Gradient2Settings, QueueSize};
pub use growth::GrowthBound;
pub use knee::{Drain, Knee, KneeSettings, Mechanisms};
pub use vegas::{Calls, Jitter, Vegas, VegasBaseline, VegasSettings};

use std::fmt;

use super::window::{Window, WindowRule};
use crate::event::Reason;

/// Finds the limit from what the calls of each window add up to.
///
/// Implement it to bring an algorithm of your own; it is named in a registry's builder and then chosen by that name.
/// The instance calls it with a lock held, from the thread whose call ended the window and after that call's slot is
/// free. It must not block, and it must not call back into the handle of its own instance: that would wait for itself.
/// If it panics, the limit stays as it was, the decision's reason is [`Reason::Failed`] and later windows are given to
/// it as before.
///
/// # Examples
///
/// ```
/// use resilience::event::Reason;
/// use resilience::limit::algorithm::{Algorithm, Bounds, Decision};
/// use resilience::limit::window::{Sample, Window};
///
/// /// One more after a clean window in which at least half of the slots were in use, half after one with drops.
/// #[derive(Debug)]
/// struct Halving {
///     bounds: Bounds,
///     limit: f64,
/// }
///
/// impl Algorithm for Halving {
///     fn update(&mut self, window: &Window) -> Decision {
///         if window.drops > 0 {
///             self.limit /= 2.0;
///         } else if window.max_in_flight * 2 >= window.limit {
///             self.limit += 1.0;
///         }
///         // Or else it would go on beyond the bounds and take as long to come back.
///         self.limit = self.bounds.clamp(self.limit);
///         Decision::new(self.limit, Reason::custom("halving"))
///     }
/// }
///
/// let bounds = Bounds::new(20, 1, 200).unwrap();
/// let mut algorithm = Halving { bounds, limit: f64::from(bounds.initial()) };
/// let drop = Sample::dropped(5_000_000, 9);
/// assert_eq!(algorithm.update(&Window::of(20, [drop])).limit, 10.0);
/// ```
pub trait Algorithm: fmt::Debug + Send + 'static {
    /// Returns when windows may close, as far as the configuration does not say: at least 1 s and 10 samples, unless an
    /// algorithm knows better.
    fn window_rule(&self) -> WindowRule {
        WindowRule::default()
    }

    /// Returns what becomes of a window whose time is up.
    ///
    /// By default it closes if it holds the samples that the rule asks for, and is extended by the rule's duration
    /// otherwise: little traffic is looked at once per duration and never thrown away. It changes no state, so that the
    /// windows given to [`update`](Self::update) are all that a replay needs.
    fn close(&self, window: &Window, rule: &WindowRule) -> Close {
        if window.samples() >= rule.min_samples {
            Close::Now
        } else {
            Close::Extend {
                until: window.closed.saturating_add(rule.duration),
            }
        }
    }

    /// Folds a closed window into the state and returns the limit that follows from it.
    ///
    /// The limit is clamped into the bounds and cut to a whole number where it is applied.
    fn update(&mut self, window: &Window) -> Decision;

    /// Takes other bounds while it runs, as when a configuration is read again, and returns whether it did.
    ///
    /// The limit is put within them at once, with or without the algorithm. By default it takes none: then one is made
    /// anew that starts at the limit in force, and what this one has learned is lost.
    fn set_bounds(&mut self, _bounds: Bounds) -> bool {
        false
    }

    /// Returns the latency the algorithm takes as normal, in nanoseconds, if it has one.
    fn baseline(&self) -> Option<f64> {
        None
    }
}

/// What becomes of a window whose time is up. Instants are in nanoseconds on the instance's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Close {
    /// It closes, and [`Algorithm::update`] decides.
    Now,
    /// It stays open with all it holds, and is asked again by the first call that ends at or after `until`.
    Extend {
        /// When to ask again.
        until: u64,
    },
    /// What it holds is thrown away, a new one begins now and is asked about at or after `until`.
    Restart {
        /// When to ask again.
        until: u64,
        /// Whether only calls admitted from now on count as samples.
        fresh: bool,
    },
}

/// A limit and why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Decision {
    /// The limit, in calls. Not a number or infinite means the algorithm has failed; the limit stays as it was.
    pub limit: f64,
    /// Why.
    pub reason: Reason,
    /// Whether only calls admitted from now on count as samples: the calls in flight say something about the limit
    /// before this decision, and must neither cut again nor teach a baseline.
    pub fresh: bool,
    /// When the next window may close at the earliest, in nanoseconds from now; `None` for the rule's duration.
    pub next_window: Option<u64>,
    /// Drops with a latency below this many nanoseconds count as fast in the next window.
    pub fast_drop_below: u64,
}

impl Decision {
    /// Returns a decision for `limit` calls.
    #[must_use]
    pub fn new(limit: f64, reason: Reason) -> Self {
        Self {
            limit,
            reason,
            fresh: false,
            next_window: None,
            fast_drop_below: 0,
        }
    }

    /// Asks to count only calls admitted from now on, if `fresh`.
    #[must_use]
    pub fn fresh(mut self, fresh: bool) -> Self {
        self.fresh = fresh;
        self
    }

    /// Lets the next window close after `nanoseconds` at the earliest, instead of the rule's duration.
    #[must_use]
    pub fn next_window(mut self, nanoseconds: u64) -> Self {
        self.next_window = Some(nanoseconds);
        self
    }

    /// Counts drops with a latency below `nanoseconds` as fast in the next window.
    #[must_use]
    pub fn fast_drop_below(mut self, nanoseconds: u64) -> Self {
        self.fast_drop_below = nanoseconds;
        self
    }
}
