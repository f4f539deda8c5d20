//! What the tests share.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use resilience::limit::{Counters, Permit};
use resilience::registry::Registry;

/// An error of the user's.
#[derive(Debug)]
pub(crate) enum Fail {
    Limited(resilience::Error),
    Status(u16),
    Text,
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limited(error) => error.fmt(f),
            Self::Status(code) => write!(f, "status {code}"),
            Self::Text => f.write_str("no number"),
        }
    }
}

impl std::error::Error for Fail {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Limited(error) => Some(error),
            _ => None,
        }
    }
}

impl From<resilience::Error> for Fail {
    fn from(error: resilience::Error) -> Self {
        Self::Limited(error)
    }
}

impl From<std::num::ParseIntError> for Fail {
    fn from(_: std::num::ParseIntError) -> Self {
        Self::Text
    }
}

impl Fail {
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::Limited(error) if error.is_limit_exceeded())
    }
}

/// Polls to the end; the futures here wake nobody.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return output;
        }
    }
}

/// Polls once.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Is pending once, so that what lives across an `await` is stored.
pub(crate) async fn pause() {
    let mut paused = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut paused, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Runs a test in a registry of its own.
pub(crate) fn scoped<R>(test: impl FnOnce(&Registry) -> R) -> R {
    let registry = Registry::new();
    registry.scope(|| test(&registry))
}

/// The counters of a limit.
pub(crate) fn counters(registry: &Registry, id: &str) -> Counters {
    registry
        .adaptive_limit(id)
        .expect("called before")
        .snapshot()
        .counters
}

/// Takes all slots of a limit.
pub(crate) fn fill(registry: &Registry, id: &str) -> Vec<Permit<'static>> {
    let limit = registry.adaptive_limit(id).expect("called before");
    std::iter::from_fn(|| limit.try_acquire_owned().ok()).collect()
}

/// The only limit's counters, whatever its name.
pub(crate) fn only(registry: &Registry) -> Counters {
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.limits.len(), 1, "{snapshot:?}");
    snapshot.limits[0].counters
}

/// Writes its name down when it is dropped.
pub(crate) struct Noisy<'a>(
    pub(crate) &'static str,
    pub(crate) &'a Mutex<Vec<&'static str>>,
);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.1.lock().expect("no panic").push(self.0);
    }
}
