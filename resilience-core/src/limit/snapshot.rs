//! What a limit is at one moment, to be looked at.

use std::borrow::Cow;

use super::config::Mode;
use super::window::Window;
use crate::event::Reason;
use crate::id::Id;

/// An adaptive limit at one moment. Latencies are in nanoseconds.
///
/// The numbers are read one after the other while calls go on, so they need not fit together to the last call.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Snapshot {
    /// The instance.
    pub id: Id,
    /// The algorithm's name.
    pub algorithm: Cow<'static, str>,
    /// Whether the limit is in force.
    pub enabled: bool,
    /// Whether it rejects calls or only observes them.
    pub mode: Mode,
    /// The limit, in calls.
    pub limit: u32,
    /// The limit as the last decision gave it, with its fraction and within the bounds.
    pub exact_limit: f64,
    /// The calls in flight.
    pub in_flight: u32,
    /// The calls that wait for a slot.
    pub queued: u32,
    /// The limit before the first decision, in calls.
    pub initial_limit: u32,
    /// The smallest limit, in calls.
    pub min_limit: u32,
    /// The largest limit, in calls.
    pub max_limit: u32,
    /// The windows closed since the instance was made or reset.
    pub windows: u64,
    /// The last of them.
    pub last_window: Option<LastWindow>,
    /// The latency that the algorithm takes as normal, if it has one.
    pub baseline: Option<f64>,
    /// Why the limit is what it is: the reason of the last decision.
    pub reason: Reason,
    /// What has happened since the instance was made.
    pub counters: Counters,
}

/// What is left to see of a closed window. Latencies are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LastWindow {
    /// How long it lasted, in nanoseconds.
    pub duration: u64,
    /// Its samples.
    pub samples: u64,
    /// Those that were drops.
    pub drops: u64,
    /// The mean latency of its successes, if any took more than 0 ns.
    pub latency: Option<f64>,
    /// The most calls that were in flight when one of its samples was admitted.
    pub max_in_flight: u32,
}

impl LastWindow {
    pub(crate) fn of(window: &Window) -> Self {
        Self {
            duration: window.duration(),
            samples: window.samples(),
            drops: window.drops,
            latency: window.mean_latency(),
            max_in_flight: window.max_in_flight,
        }
    }
}

/// What has happened to an instance's calls since it was made. A reset does not set them back.
///
/// Once no call is in flight, `admitted` is the sum of the four ways to end. Once none waits either, the calls made are
/// `admitted`, `rejected` and `wait_cancelled`, not counting those that passed while the limit was switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Counters {
    /// Calls that were let through, at once or after a wait.
    pub admitted: u64,
    /// Calls that were turned away: the limit was reached, and they could not wait or waited in vain.
    pub rejected: u64,
    /// Of those admitted: calls that were let through in observe mode and would have been turned away otherwise.
    pub would_reject: u64,
    /// Calls that began to wait for a slot.
    pub queued: u64,
    /// Of those rejected: calls that found as many waiting as may.
    pub queue_full: u64,
    /// Of those rejected: calls that waited until their time was up.
    pub wait_timed_out: u64,
    /// Calls that were cancelled before their wait was over, or before they noticed that it was.
    pub wait_cancelled: u64,
    /// Calls that ended well.
    pub succeeded: u64,
    /// Calls that ended with an overload signal.
    pub dropped: u64,
    /// Calls that failed in a way that says nothing about load.
    pub ignored: u64,
    /// Calls that were cancelled or panicked.
    pub cancelled: u64,
}
