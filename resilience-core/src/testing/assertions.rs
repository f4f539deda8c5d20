//! What a test expects of a limit and of decisions.

use std::fmt;
use std::time::Duration;

use crate::error::Error;
use crate::event::Reason;
use crate::limit::AdaptiveLimit;
use crate::limit::algorithm::Decision;
use crate::outcome::find_cause;
use crate::time::nanos;

/// Assertions on the handle of a limit, to be chained. Each says what is, what was expected, and why the limit is what it is.
///
/// # Examples
///
/// ```
/// use resilience::event::Reason;
/// use resilience::limit::LimitConfig;
/// use resilience::testing::{Assertions, TestRegistry};
///
/// let test = TestRegistry::new();
/// let orders = test.registry().register("orders", LimitConfig::new().initial_limit(2))?;
/// let call = orders.try_acquire()?;
/// orders.assert_limit(2).assert_in_flight(1).assert_rejected(0);
/// orders.assert_reason(|reason| matches!(reason, Reason::Initial));
/// # drop(call);
/// # Ok::<(), resilience::Error>(())
/// ```
pub trait Assertions {
    /// Asserts what the limit is, in calls.
    #[track_caller]
    fn assert_limit(&self, expected: u32) -> &Self;

    /// Asserts how many calls are in flight.
    #[track_caller]
    fn assert_in_flight(&self, expected: u32) -> &Self;

    /// Asserts how many calls were rejected so far.
    #[track_caller]
    fn assert_rejected(&self, expected: u64) -> &Self;

    /// Asserts how many windows were closed so far.
    #[track_caller]
    fn assert_windows(&self, expected: u64) -> &Self;

    /// Asserts the mean latency of the last window's successes, to the nanosecond.
    #[track_caller]
    fn assert_latency(&self, expected: Duration) -> &Self;

    /// Asserts that the reason of the last decision is as expected: `|reason| matches!(reason, Reason::Drops { .. })`.
    #[track_caller]
    fn assert_reason(&self, expected: impl FnOnce(&Reason) -> bool) -> &Self;
}

impl Assertions for AdaptiveLimit {
    fn assert_limit(&self, expected: u32) -> &Self {
        equal(self, "the limit", self.limit(), expected)
    }

    fn assert_in_flight(&self, expected: u32) -> &Self {
        equal(
            self,
            "the number of calls in flight",
            self.in_flight(),
            expected,
        )
    }

    fn assert_rejected(&self, expected: u64) -> &Self {
        let rejected = self.snapshot().counters.rejected;
        equal(self, "the number of rejected calls", rejected, expected)
    }

    fn assert_windows(&self, expected: u64) -> &Self {
        let windows = self.snapshot().windows;
        equal(self, "the number of closed windows", windows, expected)
    }

    fn assert_latency(&self, expected: Duration) -> &Self {
        let latency = self
            .snapshot()
            .last_window
            .and_then(|window| window.latency);
        let latency = latency.map(|latency| Duration::from_nanos(latency as u64));
        let rounded = Duration::from_nanos(nanos(expected));
        equal(
            self,
            "the latency of the last window",
            Shown(latency),
            Shown(Some(rounded)),
        )
    }

    fn assert_reason(&self, expected: impl FnOnce(&Reason) -> bool) -> &Self {
        let reason = self.snapshot().reason;
        assert!(
            expected(&reason),
            "the reason of the last decision is not the expected one: {reason:?}\n  {}",
            state(self)
        );
        self
    }
}

/// A latency, or that there is none.
#[derive(Clone, Copy, PartialEq)]
struct Shown(Option<Duration>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(latency) => write!(f, "{latency:?}"),
            None => f.write_str("none"),
        }
    }
}

#[track_caller]
fn equal<'a, T: Copy + PartialEq + fmt::Display>(
    limit: &'a AdaptiveLimit,
    what: &str,
    given: T,
    expected: T,
) -> &'a AdaptiveLimit {
    assert!(
        given == expected,
        "{what} of `{}` is {given}, expected {expected}\n  {}",
        limit.id(),
        state(limit)
    );
    limit
}

/// All there is to see why an assertion failed.
fn state(limit: &AdaptiveLimit) -> String {
    let now = limit.snapshot();
    format!(
        "{}: limit {} of {} to {}, {} in flight, {} windows; {} admitted, {} rejected, {} dropped; last decision: {}",
        now.algorithm,
        now.limit,
        now.min_limit,
        now.max_limit,
        now.in_flight,
        now.windows,
        now.counters.admitted,
        now.counters.rejected,
        now.counters.dropped,
        now.reason
    )
}

/// Assertions on what an algorithm decided, to be chained.
///
/// # Examples
///
/// ```
/// use resilience::event::Reason;
/// use resilience::limit::algorithm::{Aimd, AimdSettings, Algorithm, Bounds};
/// use resilience::limit::window::{Sample, Window};
/// use resilience::testing::DecisionAssertions;
///
/// let mut aimd = Aimd::new(Bounds::new(20, 1, 200).unwrap(), AimdSettings::default());
/// let window = Window::of(20, [Sample::dropped(5_000_000, 20)]);
/// aimd.update(&window)
///     .assert_limit(18)
///     .assert_reason(|reason| matches!(reason, Reason::Drops { .. }));
/// ```
pub trait DecisionAssertions {
    /// Asserts the limit that it decided on, cut to whole calls.
    #[track_caller]
    fn assert_limit(&self, expected: u32) -> &Self;

    /// Asserts that its reason is as expected.
    #[track_caller]
    fn assert_reason(&self, expected: impl FnOnce(&Reason) -> bool) -> &Self;
}

impl DecisionAssertions for Decision {
    fn assert_limit(&self, expected: u32) -> &Self {
        assert!(
            self.limit as u32 == expected,
            "the decision is for a limit of {}, expected {expected}: {}",
            self.limit,
            self.reason
        );
        self
    }

    fn assert_reason(&self, expected: impl FnOnce(&Reason) -> bool) -> &Self {
        assert!(
            expected(&self.reason),
            "the reason of the decision is not the expected one: {:?}",
            self.reason
        );
        self
    }
}

/// Asserts that a call was rejected by a limit, whatever errors are around that, and returns the library's error.
///
/// # Panics
///
/// If it was not.
///
/// # Examples
///
/// ```
/// use resilience::limit::LimitConfig;
/// use resilience::testing::{TestRegistry, assert_rejected};
/// use std::io;
///
/// let orders = TestRegistry::new().registry().register("orders", LimitConfig::new().initial_limit(1))?;
/// let _held = orders.try_acquire()?;
/// let answer = orders.try_acquire().map_err(io::Error::other);
/// assert_eq!(assert_rejected(&answer).limit(), Some(1));
/// # Ok::<(), resilience::Error>(())
/// ```
#[track_caller]
pub fn assert_rejected<T: fmt::Debug, E: std::error::Error + 'static>(
    result: &Result<T, E>,
) -> &Error {
    let error = match result {
        Ok(output) => panic!(
            "the call was let through and returned {output:?}, expected a rejection by a limit"
        ),
        Err(error) => error,
    };
    let rejection = find_cause(error, |cause| {
        let cause = cause.downcast_ref::<Error>()?;
        cause.is_limit_exceeded().then_some(cause)
    });
    match rejection {
        Some(rejection) => rejection,
        None => panic!("the call failed by itself, expected a rejection by a limit: {error:?}"),
    }
}
