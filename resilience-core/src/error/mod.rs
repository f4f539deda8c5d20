//! The one error of the library.

mod code;
mod problem;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use code::Code;
pub(crate) use problem::{Origin, Problem, did_you_mean, listed};

use crate::id::Id;
use crate::time::nanos;

/// Everything that can go wrong: a call that was not let through or not let finish, or settings that do not fit.
///
/// One type for all policies, so a function under several of them needs one `From<Error>`. It is opaque: ask it what it
/// is with the predicates, or by its stable [`code`](Self::code). Making a rejection allocates nothing.
///
/// # Examples
///
/// ```
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// let registry = Registry::new();
/// let orders = registry.register("orders", LimitConfig::new().initial_limit(1).max_limit(1))?;
/// let permit = orders.try_acquire()?;
///
/// let error = orders.try_acquire().unwrap_err();
/// assert!(error.is_limit_exceeded());
/// assert_eq!(error.code().as_str(), "R4C-CALL-001");
/// assert_eq!(error.to_string(), "limit of `orders` exceeded: 1 in flight, limit 1");
/// # drop(permit);
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Repr);

#[derive(Clone)]
enum Repr {
    /// Kept inline: made on the path of a rejection, which allocates nothing.
    LimitExceeded {
        id: Id,
        limit: u32,
        in_flight: u32,
        why: Why,
    },
    BulkheadFull {
        id: Id,
        limit: u32,
    },
    TimedOut {
        id: Id,
        /// In nanoseconds, which keeps the error small.
        after: u64,
    },
    /// Problems with settings: at least one.
    Settings(Arc<[Problem]>),
}

/// Why a call did not wait for a slot, or not any longer.
#[derive(Clone, Copy)]
enum Why {
    NoWait,
    QueueFull { queue_limit: u32 },
    WaitTimedOut { microseconds: u32 },
}

impl Error {
    /// Returns the error of a call that found the limit reached. Not cold: under overload most calls come here.
    #[inline]
    pub(crate) fn limit_exceeded(id: Id, limit: u32, in_flight: u32) -> Self {
        Self(Repr::LimitExceeded {
            id,
            limit,
            in_flight,
            why: Why::NoWait,
        })
    }

    /// Returns the error of a call that found the limit reached and the queue full.
    pub(crate) fn queue_full(id: Id, limit: u32, in_flight: u32, queue_limit: u32) -> Self {
        Self(Repr::LimitExceeded {
            id,
            limit,
            in_flight,
            why: Why::QueueFull { queue_limit },
        })
    }

    /// Returns the error of a call that waited for a slot in vain.
    pub(crate) fn wait_timed_out(id: Id, limit: u32, in_flight: u32, after: Duration) -> Self {
        // No wait is longer than an hour, which fits.
        let microseconds = u32::try_from(after.as_micros()).unwrap_or(u32::MAX);
        Self(Repr::LimitExceeded {
            id,
            limit,
            in_flight,
            why: Why::WaitTimedOut { microseconds },
        })
    }

    /// Returns the error of a call that a time-out ended after `after`.
    ///
    /// For time-outs of your own: a limit around the call counts it as overload without further ado.
    #[cold]
    pub fn timed_out(id: impl Into<Id>, after: Duration) -> Self {
        Self(Repr::TimedOut {
            id: id.into(),
            after: nanos(after),
        })
    }

    /// Returns the error of a call that found a bulkhead of `limit` calls full.
    ///
    /// For bulkheads of your own: a limit around the call counts it as overload without further ado.
    #[cold]
    pub fn bulkhead_full(id: impl Into<Id>, limit: u32) -> Self {
        Self(Repr::BulkheadFull {
            id: id.into(),
            limit,
        })
    }

    /// Returns the error that reports `problems`, in a fixed order.
    #[cold]
    pub(crate) fn settings(mut problems: Vec<Problem>) -> Self {
        problems.sort();
        problems.dedup();
        Self::in_order(problems)
    }

    /// Returns the error that reports `problems` as they come.
    #[cold]
    pub(crate) fn in_order(problems: Vec<Problem>) -> Self {
        debug_assert!(
            !problems.is_empty(),
            "an error reports at least one problem"
        );
        Self(Repr::Settings(problems.into()))
    }

    /// The problems with settings that this error reports.
    pub(crate) fn problems(&self) -> &[Problem] {
        match &self.0 {
            Repr::Settings(problems) => problems,
            _ => &[],
        }
    }

    /// Returns the stable code; of several problems with settings, the first one's.
    pub fn code(&self) -> Code {
        match &self.0 {
            Repr::LimitExceeded { why, .. } => match why {
                Why::NoWait => Code::LIMIT_EXCEEDED,
                Why::QueueFull { .. } => Code::QUEUE_FULL,
                Why::WaitTimedOut { .. } => Code::WAIT_TIMED_OUT,
            },
            Repr::BulkheadFull { .. } => Code::BULKHEAD_FULL,
            Repr::TimedOut { .. } => Code::TIMED_OUT,
            Repr::Settings(problems) => problems[0].code,
        }
    }

    /// Returns the codes of all problems that this error reports; one for an error of a call.
    pub fn codes(&self) -> Vec<Code> {
        match &self.0 {
            Repr::Settings(problems) => problems.iter().map(|problem| problem.code).collect(),
            _ => vec![self.code()],
        }
    }

    /// Returns the id of the instance that the call was rejected or ended by; `None` for a problem with settings.
    pub fn id(&self) -> Option<&Id> {
        match &self.0 {
            Repr::LimitExceeded { id, .. }
            | Repr::BulkheadFull { id, .. }
            | Repr::TimedOut { id, .. } => Some(id),
            Repr::Settings(_) => None,
        }
    }

    /// Returns the limit in force when the call was rejected, in calls; `None` if it was not rejected by a limit.
    pub fn limit(&self) -> Option<u32> {
        match &self.0 {
            Repr::LimitExceeded { limit, .. } | Repr::BulkheadFull { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    /// Returns the calls in flight when an adaptive limit rejected the call.
    pub fn in_flight(&self) -> Option<u32> {
        match &self.0 {
            Repr::LimitExceeded { in_flight, .. } => Some(*in_flight),
            _ => None,
        }
    }

    /// Returns whether an adaptive limit rejected the call, at once or after a wait; its body did not run.
    pub fn is_limit_exceeded(&self) -> bool {
        matches!(self.0, Repr::LimitExceeded { .. })
    }

    /// Returns whether an adaptive limit rejected the call because as many were waiting for a slot as may.
    pub fn is_queue_full(&self) -> bool {
        self.code() == Code::QUEUE_FULL
    }

    /// Returns whether an adaptive limit rejected the call because no slot came free in the time that it may wait. That is no
    /// [time-out](Self::is_timed_out) of the call: its body did not run.
    pub fn is_wait_timed_out(&self) -> bool {
        self.code() == Code::WAIT_TIMED_OUT
    }

    /// Returns whether a bulkhead rejected the call; its body did not run.
    pub fn is_bulkhead_full(&self) -> bool {
        matches!(self.0, Repr::BulkheadFull { .. })
    }

    /// Returns whether a time-out ended the call.
    pub fn is_timed_out(&self) -> bool {
        matches!(self.0, Repr::TimedOut { .. })
    }

    /// Returns whether settings, names or the set-up are at fault, not the call.
    pub fn is_settings(&self) -> bool {
        matches!(self.0, Repr::Settings(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::LimitExceeded {
                id,
                limit,
                in_flight,
                why,
            } => {
                write!(f, "limit of `{id}` exceeded")?;
                match why {
                    Why::NoWait => write!(f, ": {in_flight} in flight, limit {limit}"),
                    Why::QueueFull { queue_limit } => write!(
                        f,
                        ", and its queue is full: {in_flight} in flight, limit {limit}, queue limit {queue_limit}"
                    ),
                    Why::WaitTimedOut { microseconds } => write!(
                        f,
                        ", and no slot came free within {:?}: {in_flight} in flight, limit {limit}",
                        Duration::from_micros(u64::from(*microseconds))
                    ),
                }
            }
            Repr::BulkheadFull { id, limit } => {
                write!(f, "bulkhead `{id}` full: limit {limit}")
            }
            Repr::TimedOut { id, after } => {
                let after = Duration::from_nanos(*after);
                write!(f, "`{id}` timed out after {after:?}")
            }
            Repr::Settings(problems) => {
                if let [problem] = &**problems {
                    return write!(f, "{problem}");
                }
                write!(f, "{} problems with the settings:", problems.len())?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Each problem tells its own code.
            Repr::Settings(_) => write!(f, "Error({self})"),
            _ => write!(f, "Error({self} [{}])", self.code()),
        }
    }
}

impl std::error::Error for Error {}

/// So that functions that return [`std::io::Result`] need nothing more. The kind is [`std::io::ErrorKind::Other`]; the
/// error itself is found again with [`std::io::Error::get_ref`].
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_and_crosses_threads() {
        fn sound<T: Send + Sync + std::panic::UnwindSafe + 'static>() {}
        sound::<Error>();
        assert!(size_of::<Error>() <= 40, "{} bytes", size_of::<Error>());
    }

    #[test]
    fn every_code_stands_once_in_the_table() {
        let mut codes: Vec<_> = Code::TABLE.iter().map(|(code, _)| *code).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), Code::TABLE.len());
    }
}
