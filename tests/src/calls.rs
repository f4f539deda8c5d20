//! Functions under a limit, for benchmarks and counts.
//!
//! None of them is inlined, as a function that calls a dependency would not be. Their limits cannot move, so that no
//! call is rejected that should not be, whatever latencies a benchmark makes up; a call cannot tell.

use std::fmt;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use resilience::adaptive_limit;
use resilience::limit::Permit;
use resilience::registry::Registry;

/// The error of a function that calls a dependency.
#[derive(Debug)]
pub enum CallError {
    /// The limit was reached.
    Rejected(resilience::Error),
    /// The dependency does not know the key.
    Unknown(u64),
}

impl From<resilience::Error> for CallError {
    fn from(error: resilience::Error) -> Self {
        Self::Rejected(error)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(_) => f.write_str("the call was rejected"),
            Self::Unknown(key) => write!(f, "unknown key {key}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rejected(error) => Some(error),
            Self::Unknown(_) => None,
        }
    }
}

/// What the dependency would do.
fn find(key: u64) -> Result<u64, CallError> {
    let key = black_box(key);
    if key == 0 {
        Err(CallError::Unknown(key))
    } else {
        Ok(key)
    }
}

/// A call without a limit.
///
/// # Errors
///
/// If the key is 0.
#[inline(never)]
pub fn unlimited(key: u64) -> Result<u64, CallError> {
    find(key)
}

/// A call that is admitted.
///
/// # Errors
///
/// If the key is 0, or 100 calls are in flight.
#[adaptive_limit(
    name = "admitted",
    initial_limit = 100,
    min_limit = 100,
    max_limit = 100
)]
#[inline(never)]
pub fn admitted(key: u64) -> Result<u64, CallError> {
    find(key)
}

macro_rules! apart {
    ($($name:ident)*) => {
        /// Calls that are admitted, each under a limit of its own.
        pub const APART: &[fn(u64) -> Result<u64, CallError>] = &[$($name,)*];

        $(
            #[adaptive_limit(initial_limit = 100, min_limit = 100, max_limit = 100)]
            #[inline(never)]
            fn $name(key: u64) -> Result<u64, CallError> {
                find(key)
            }
        )*
    };
}

apart!(first second third fourth);

macro_rules! with_algorithms {
    ($($name:ident $algorithm:literal)*) => {
        /// Calls that are admitted, by the algorithm that finds their limit.
        pub const WITH_ALGORITHMS: &[(&str, fn(u64) -> Result<u64, CallError>)] = &[$(($algorithm, $name),)*];

        $(
            #[adaptive_limit(initial_limit = 100, min_limit = 100, max_limit = 100, algorithm = $algorithm)]
            #[inline(never)]
            fn $name(key: u64) -> Result<u64, CallError> {
                find(key)
            }
        )*
    };
}

with_algorithms!(knee "knee" gradient2 "gradient2" aimd "aimd" vegas "vegas");

/// An async call that is admitted and ready at once.
///
/// # Errors
///
/// As for [`admitted`].
#[adaptive_limit(
    name = "admitted async",
    initial_limit = 100,
    min_limit = 100,
    max_limit = 100
)]
pub async fn admitted_async(key: u64) -> Result<u64, CallError> {
    find(key)
}

/// Makes an async call on the stack and polls it once.
///
/// # Errors
///
/// As the call.
///
/// # Panics
///
/// If it is not ready.
#[inline(never)]
pub fn poll_admitted_async(key: u64) -> Result<u64, CallError> {
    let call = pin!(admitted_async(key));
    match call.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the call is ready at once"),
    }
}

/// A call that is rejected while the permit of [`fill`] is held.
///
/// # Errors
///
/// The rejection.
#[adaptive_limit(name = "rejected", initial_limit = 1, max_limit = 1)]
#[inline(never)]
pub fn rejected(key: u64) -> Result<u64, CallError> {
    find(key)
}

/// Takes the one slot of [`rejected`].
///
/// # Panics
///
/// If it is taken.
pub fn fill() -> Permit<'static> {
    rejected(1).expect("the slot is free");
    Registry::global()
        .adaptive_limit("rejected")
        .and_then(|limit| limit.try_acquire_owned())
        .expect("the slot is free again")
}
