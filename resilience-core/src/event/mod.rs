//! What happens to a limit, told to listeners. Events carry ids and numbers, nothing that needs a lock.

#[cfg(all(test, feature = "serde"))]
mod pins;
mod reason;

pub use reason::Reason;

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
            Self::Reloaded { limits } => {
                write!(f, "settings reloaded: limits that run with others {limits}")
            }
            Self::ReloadRefused { error } => write!(f, "settings not reloaded: {error}"),
        }
    }
}
