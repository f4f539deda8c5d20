//! Why a call was rejected.

use std::fmt;

/// Why a call was rejected by a limit that was reached.
///
/// # Examples
///
/// ```
/// use resilience::event::Rejection;
///
/// assert_eq!(Rejection::QueueFull.name(), "queue_full");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Rejection {
    /// There was no slot, and it was not to wait for one: `R4C-CALL-001`.
    LimitExceeded,
    /// As many waited as may: `R4C-CALL-004`.
    QueueFull,
    /// It waited as long as it may: `R4C-CALL-005`.
    WaitTimedOut,
}

impl Rejection {
    /// Returns the stable name of the reason: what serde calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LimitExceeded => "limit_exceeded",
            Self::QueueFull => "queue_full",
            Self::WaitTimedOut => "wait_timed_out",
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LimitExceeded => "limit exceeded",
            Self::QueueFull => "queue full",
            Self::WaitTimedOut => "wait timed out",
        })
    }
}
