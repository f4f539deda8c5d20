//! The errors of others, and results under other names.

use std::error::Error as StdError;
use std::time::Duration;
use std::{fmt, future, io};

use ::tokio::time::error::Elapsed;
use resilience::{Error, adaptive_limit};

use crate::{counters, fill, now, scoped};

/// An error of one's own.
#[derive(Debug)]
enum Failure {
    Limited(Error),
    TimedOut(Elapsed),
    NotFound,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failure")
    }
}

impl StdError for Failure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Limited(error) => Some(error),
            Self::TimedOut(error) => Some(error),
            Self::NotFound => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Limited(error)
    }
}

mod alias {
    pub(super) type Result<T = (), E = super::Failure> = core::result::Result<T, E>;
}

type Outcome = alias::Result;

#[adaptive_limit(name = "eyre")]
fn of_eyre(outcome: Outcome) -> eyre::Result<()> {
    use eyre::WrapErr as _;
    outcome.wrap_err("context")
}

#[adaptive_limit(name = "eyre_later")]
async fn of_eyre_later(outcome: Outcome) -> Result<(), eyre::Report> {
    outcome?;
    eyre::ensure!(cfg!(all()), "never");
    Ok(())
}

#[adaptive_limit(name = "anyhow")]
fn of_anyhow(outcome: Outcome) -> anyhow::Result<()> {
    use anyhow::Context as _;
    outcome.context("context").context("and more")
}

#[adaptive_limit(name = "anyhow_later")]
async fn of_anyhow_later(outcome: Outcome) -> Result<(), anyhow::Error> {
    if let Err(error) = outcome {
        anyhow::bail!(error);
    }
    Ok(())
}

#[adaptive_limit(name = "io")]
fn of_io(outcome: Outcome) -> io::Result<()> {
    outcome.map_err(io::Error::other)
}

#[adaptive_limit(name = "io_later")]
async fn of_io_later(outcome: Outcome) -> io::Result<()> {
    outcome.map_err(|error| io::Error::new(io::ErrorKind::TimedOut, error))
}

#[adaptive_limit(name = "alias")]
fn of_an_alias(outcome: Outcome) -> alias::Result {
    outcome?;
    Ok(())
}

#[adaptive_limit(name = "alias_later")]
async fn of_an_alias_later(outcome: Outcome) -> alias::Result<()> {
    outcome?;
    Ok(())
}

#[adaptive_limit(name = "generic")]
fn of_any<E>(outcome: Result<(), E>) -> Result<(), E>
where
    E: StdError + From<Error>,
{
    outcome?;
    Ok(())
}

#[adaptive_limit(name = "generic_later")]
async fn of_any_later<E: StdError + From<Error>>(outcome: Result<(), E>) -> Result<(), E> {
    outcome?;
    Ok(())
}

#[adaptive_limit(name = "boxed")]
fn boxed(outcome: Outcome) -> Result<(), Box<dyn StdError + Send + Sync>> {
    outcome?;
    Ok(())
}

#[adaptive_limit(name = "boxed_later")]
async fn boxed_later(outcome: Outcome) -> Result<(), Box<dyn StdError>> {
    Ok(outcome?)
}

fn elapsed() -> Elapsed {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let never = future::pending::<()>();
        ::tokio::time::timeout(Duration::ZERO, never)
            .await
            .unwrap_err()
    })
}

/// A call that works, one that ends in a time-out, one in another error, and one that is rejected.
fn check<E: fmt::Debug>(id: &str, call: impl Fn(Outcome) -> Result<(), E>) {
    scoped(|registry| {
        call(Ok(())).unwrap();
        call(Err(Failure::TimedOut(elapsed()))).unwrap_err();
        call(Err(Failure::NotFound)).unwrap_err();
        let permits = fill(registry, id);
        call(Ok(())).unwrap_err();
        drop(permits);
        let counters = counters(registry, id);
        assert_eq!((counters.succeeded, counters.dropped), (1, 1), "{id}");
        assert_eq!(counters.ignored, 1, "{id}");
    });
}

#[test]
fn every_error_is_searched_and_every_rejection_becomes_one() {
    check("eyre", of_eyre);
    check("eyre_later", |outcome| now(of_eyre_later(outcome)));
    check("anyhow", of_anyhow);
    check("anyhow_later", |outcome| now(of_anyhow_later(outcome)));
    check("io", of_io);
    check("io_later", |outcome| now(of_io_later(outcome)));
    check("alias", of_an_alias);
    check("alias_later", |outcome| now(of_an_alias_later(outcome)));
    check("generic", of_any);
    check("generic_later", |outcome| now(of_any_later(outcome)));
    check("boxed", boxed);
    check("boxed_later", |outcome| now(boxed_later(outcome)));
}
