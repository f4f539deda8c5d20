//! What happens to a limit, told to listeners. Events carry ids and numbers, nothing that needs a lock.

pub(crate) mod listeners;
#[cfg(all(test, feature = "serde"))]
mod pins;
mod reason;
mod rejection;
mod topics;

pub use listeners::Subscription;
pub use reason::Reason;
pub use rejection::Rejection;
pub use topics::Topics;

use std::fmt;
use std::sync::Arc;

use crate::id::Id;

/// Something that happened to an instance.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "event", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Event {
    /// The whole-number limit moved.
    #[non_exhaustive]
    LimitChanged {
        /// The instance.
        id: Id,
        /// The limit before, in calls.
        from: u32,
        /// The limit now, in calls.
        to: u32,
        /// Why.
        reason: Reason,
        /// How many decisions the instance had made, this one included. Listeners may be called by several threads at
        /// once and out of order; this orders the events.
        decision: u64,
    },
    /// A window closed and the algorithm decided, whether or not the limit moved. Latencies are in nanoseconds.
    ///
    /// Told before the change of the limit that it may have led to, which has the same `decision`.
    #[non_exhaustive]
    WindowClosed {
        /// The instance.
        id: Id,
        /// How many decisions the instance had made, this one included.
        decision: u64,
        /// How long the window lasted, in nanoseconds.
        duration: u64,
        /// Its samples: the calls that succeeded or were drops.
        samples: u64,
        /// Those that were drops.
        drops: u64,
        /// The mean latency of its successes, in nanoseconds, if any took more than 0 ns.
        latency: Option<f64>,
        /// The most calls that were in flight when one of its samples was admitted.
        max_in_flight: u32,
        /// The limit from now on, in calls.
        limit: u32,
        /// Why.
        reason: Reason,
    },
    /// A call found the limit reached and did not run.
    #[non_exhaustive]
    Rejected {
        /// The instance.
        id: Id,
        /// The limit, in calls.
        limit: u32,
        /// The calls in flight.
        in_flight: u32,
        /// Whether it might have waited.
        reason: Rejection,
    },
    /// An instance was made. Told to listeners of the registry.
    #[non_exhaustive]
    LimitMade {
        /// The instance.
        id: Id,
        /// The limit that it begins with, in calls.
        limit: u32,
    },
    /// Settings from outside of the code have changed and are in force. Told to listeners of the registry.
    #[non_exhaustive]
    Reloaded {
        /// The limits that run with other settings than before.
        limits: usize,
    },
    /// Settings from outside of the code have changed, are wrong and not in force: those from before still are. Told to
    /// listeners of the registry.
    #[non_exhaustive]
    ReloadRefused {
        /// All that is wrong with them.
        error: Arc<str>,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitChanged {
                id,
                from,
                to,
                reason,
                ..
            } => {
                write!(f, "limit of `{id}` from {from} to {to}: {reason}")
            }
            Self::WindowClosed {
                id,
                samples,
                drops,
                limit,
                reason,
                ..
            } => {
                write!(
                    f,
                    "window of `{id}` closed with {samples} calls, {drops} of them drops; limit {limit}: {reason}"
                )
            }
            Self::Rejected {
                id,
                limit,
                in_flight,
                reason,
            } => {
                write!(
                    f,
                    "call of `{id}` rejected, {reason}: {in_flight} in flight, limit {limit}"
                )
            }
            Self::LimitMade { id, limit } => write!(f, "`{id}` begins with limit {limit}"),
            Self::Reloaded { limits } => {
                write!(f, "settings reloaded: limits that run with others {limits}")
            }
            Self::ReloadRefused { error } => write!(f, "settings not reloaded: {error}"),
        }
    }
}
