//! tokio's time-outs are overload, wherever they stand in the error's source chain.

use std::fmt;
use std::future::pending;
use std::io;
use std::time::Duration;

use resilience::adaptive_limit;
use resilience::limit::Counters;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::support::{only, scoped};

#[derive(Debug)]
struct Wrapped(Option<Elapsed>);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrapped")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.as_ref().map(|elapsed| elapsed as _)
    }
}

impl From<Elapsed> for Wrapped {
    fn from(elapsed: Elapsed) -> Self {
        Self(Some(elapsed))
    }
}

impl From<resilience::Error> for Wrapped {
    fn from(_: resilience::Error) -> Self {
        Self(None)
    }
}

/// Runs out of no time at all.
async fn late() -> Result<(), Elapsed> {
    timeout(Duration::ZERO, pending()).await
}

fn dropped<F: Future>(call: impl FnOnce() -> F) -> Counters {
    scoped(|registry| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async { call().await });
        only(registry)
    })
}

#[test]
fn of_a_users_error() {
    #[adaptive_limit]
    async fn call() -> Result<(), Wrapped> {
        Ok(late().await?)
    }
    assert_eq!(dropped(call).dropped, 1);
}

#[test]
fn of_anyhow_with_context() {
    #[adaptive_limit]
    async fn call() -> anyhow::Result<()> {
        use anyhow::Context;
        late().await.context("while it was called").context("twice")
    }
    assert_eq!(dropped(call).dropped, 1);
}

#[test]
fn of_a_boxed_error() {
    #[adaptive_limit]
    async fn call() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(late().await.map_err(io::Error::other)?)
    }
    assert_eq!(dropped(call).dropped, 1);
}

#[test]
fn of_an_io_error_that_was_made_from_it() {
    #[adaptive_limit]
    async fn call() -> io::Result<()> {
        late().await.map_err(io::Error::other)
    }
    assert_eq!(dropped(call).dropped, 1);
}

#[test]
fn of_none_if_the_patterns_say_so() {
    #[adaptive_limit(drop_on = [])]
    async fn call() -> Result<(), Wrapped> {
        Ok(late().await?)
    }
    let counters = dropped(call);
    assert_eq!((counters.dropped, counters.ignored), (0, 1));
}
