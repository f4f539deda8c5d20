//! Looks for overload signals in an error and what caused it.

use std::error::Error as StdError;
use std::io;

use crate::error::Error;

/// A chain longer than this is cut: a `source` that returns itself must not hang a call.
const LONGEST: usize = 64;

/// Returns whether an error, or any error in its source chain, is an overload signal that the library knows: its own
/// time-outs and full bulkheads and, with the `tokio` feature, `tokio::time::error::Elapsed`.
///
/// The error that an [`std::io::Error`] was made from is looked at too, which its `source` skips. A rejection by another
/// adaptive limit is no such signal: that limit has judged its own dependency.
///
/// # Examples
///
/// ```
/// use resilience::{Error, outcome::is_overload};
/// use std::{io, time::Duration};
///
/// let timed_out = Error::timed_out("orders", Duration::from_secs(1));
/// assert!(is_overload(&timed_out));
/// assert!(is_overload(&io::Error::other(timed_out)));
/// assert!(!is_overload(&io::Error::other("not found")));
/// ```
pub fn is_overload(error: &(dyn StdError + 'static)) -> bool {
    any(error, |error| is_time_out(error) || is_bulkhead_full(error))
}

/// Whether there is such an error in the chain that begins with this one.
pub(crate) fn any(
    error: &(dyn StdError + 'static),
    is: impl Fn(&(dyn StdError + 'static)) -> bool,
) -> bool {
    find(error, |error| is(error).then_some(())).is_some()
}

/// What is found first in the chain that begins with this error.
pub(crate) fn find<'a, T>(
    error: &'a (dyn StdError + 'static),
    find: impl Fn(&'a (dyn StdError + 'static)) -> Option<T>,
) -> Option<T> {
    let mut next = Some(error);
    for _ in 0..LONGEST {
        let error = next?;
        if let Some(found) = find(error) {
            return Some(found);
        }
        // `io::Error::source` answers with the source of the error inside, not with that error itself.
        next = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

pub(super) fn is_time_out(error: &(dyn StdError + 'static)) -> bool {
    #[cfg(feature = "tokio")]
    if error.is::<tokio::time::error::Elapsed>() {
        return true;
    }
    own(error, Error::is_timed_out)
}

pub(super) fn is_bulkhead_full(error: &(dyn StdError + 'static)) -> bool {
    own(error, Error::is_bulkhead_full)
}

pub(super) fn is_limit_exceeded(error: &(dyn StdError + 'static)) -> bool {
    own(error, Error::is_limit_exceeded)
}

fn own(error: &(dyn StdError + 'static), is: impl Fn(&Error) -> bool) -> bool {
    error.downcast_ref().is_some_and(is)
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::time::Duration;

    use super::*;

    #[derive(Debug)]
    struct Wrap(Box<dyn StdError + Send + Sync>);
    impl fmt::Display for Wrap {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("wrapped")
        }
    }
    impl StdError for Wrap {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&*self.0)
        }
    }

    #[test]
    fn a_signal_is_found_at_any_depth() {
        let full = Error::bulkhead_full("pool", 30);
        assert!(is_overload(&Wrap(Box::new(Wrap(Box::new(
            io::Error::other(Wrap(Box::new(full)))
        ))))));
    }

    #[test]
    fn a_rejection_of_another_limit_is_no_signal() {
        assert!(!is_overload(&Wrap(Box::new(Error::limit_exceeded(
            "inner".into(),
            1,
            1
        )))));
    }

    #[test]
    fn a_chain_that_never_ends_is_cut() {
        #[derive(Debug)]
        struct Loop;
        impl fmt::Display for Loop {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("loop")
            }
        }
        impl StdError for Loop {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(&Loop)
            }
        }
        assert!(!is_overload(&Loop));
    }

    #[test]
    fn a_time_out_is_a_signal() {
        assert!(is_overload(&Error::timed_out("a", Duration::from_secs(1))));
    }
}
