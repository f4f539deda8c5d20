//! The attribute beside the attributes and types of others.
//!
//! Of two attribute macros the upper one is expanded first, so it is inside of what the lower one makes.
#![allow(
    clippy::unnecessary_wraps,
    reason = "what is limited returns a `Result`"
)]

mod async_recursion;
mod built_in;
mod errors;
mod tokio;
mod tracing;

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use resilience::limit::{Counters, Permit};
use resilience::registry::Registry;

/// The futures here are ready at once.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// Runs a test in a registry of its own.
fn scoped<R>(test: impl FnOnce(&Registry) -> R) -> R {
    let registry = Registry::new();
    registry.scope(|| test(&registry))
}

/// The counters of a limit.
fn counters(registry: &Registry, id: &str) -> Counters {
    let limit = registry.adaptive_limit(id).expect("called before");
    limit.snapshot().counters
}

/// Takes all slots of a limit.
fn fill(registry: &Registry, id: &str) -> Vec<Permit<'static>> {
    let limit = registry.adaptive_limit(id).expect("called before");
    std::iter::from_fn(|| limit.try_acquire_owned().ok()).collect()
}
