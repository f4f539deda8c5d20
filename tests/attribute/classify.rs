//! Which outputs are drops, and what a rejected call returns.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use resilience::{Error, adaptive_limit};

use crate::support::{Fail, block_on, fill, only, pause, scoped};

fn timed_out() -> Error {
    Error::timed_out("dependency", Duration::from_secs(1))
}

/// Calls and says how it was counted: succeeded, dropped, ignored.
fn counted<R>(call: impl FnOnce() -> R) -> (u64, u64, u64) {
    scoped(|registry| {
        call();
        let counters = only(registry);
        (counters.succeeded, counters.dropped, counters.ignored)
    })
}

const SUCCESS: (u64, u64, u64) = (1, 0, 0);
const DROP: (u64, u64, u64) = (0, 1, 0);
const IGNORED: (u64, u64, u64) = (0, 0, 1);

/// An error that borrows.
#[derive(Debug)]
struct Borrowed<'a>(#[allow(dead_code)] &'a str, Option<Error>);

impl fmt::Display for Borrowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("borrowed")
    }
}

impl StdError for Borrowed<'_> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.1.as_ref().map(|error| error as _)
    }
}

impl From<Error> for Borrowed<'_> {
    fn from(error: Error) -> Self {
        Self("", Some(error))
    }
}

macro_rules! returns {
    ($($name:ident: $output:ty;)*) => {
        $(
            #[adaptive_limit]
            fn $name(output: $output) -> $output {
                output
            }
        )*
    };
}

type Alias<T> = Result<T, Box<dyn StdError + Send + Sync>>;

returns! {
    own: Result<(), Error>;
    boxed_own: Result<(), Box<Error>>;
    concrete: Result<(), Fail>;
    dynamic: Result<(), Box<dyn StdError>>;
    dynamic_sync: Alias<()>;
    anyhow: anyhow::Result<()>;
}

#[adaptive_limit(rejected = other)]
fn in_io(output: io::Result<()>) -> io::Result<()> {
    output
}

fn other(error: Error) -> io::Result<()> {
    Err(io::Error::other(error))
}

#[adaptive_limit(rejected = in_an_arc)]
fn in_arc(output: Result<(), Arc<dyn StdError>>) -> Result<(), Arc<dyn StdError>> {
    output
}

fn in_an_arc(error: Error) -> Result<(), Arc<dyn StdError>> {
    Err(Arc::new(error))
}

#[adaptive_limit]
fn borrowed<'a>(text: &'a str, error: Option<Error>) -> Result<(), Borrowed<'a>> {
    Err(Borrowed(text, error))
}

type Lent<'a> = Box<dyn StdError + 'a>;

// What the box holds may borrow as well.
#[adaptive_limit]
fn boxed_borrowed<'a>(text: &'a str, error: Option<Error>) -> Result<(), Lent<'a>> {
    Err(Box::new(Borrowed(text, error)))
}

#[adaptive_limit]
async fn boxed_borrowed_later<'a>(
    text: &'a str,
    error: Option<Error>,
) -> Result<&'a str, Box<dyn StdError + Send + Sync + 'a>> {
    pause().await;
    match error {
        Some(error) => Err(Box::new(error)),
        None => Err(Box::new(Borrowed(text, None))),
    }
}

#[adaptive_limit]
fn generic<E: StdError + From<Error>>(error: E) -> Result<(), E> {
    Err(error)
}

#[test]
fn overload_is_found_in_the_source_chain() {
    assert_eq!(counted(|| own(Ok(()))), SUCCESS);
    assert_eq!(counted(|| own(Err(timed_out()))), DROP);
    assert_eq!(counted(|| boxed_own(Err(Box::new(timed_out())))), DROP);
    assert_eq!(counted(|| concrete(Err(Fail::Limited(timed_out())))), DROP);
    assert_eq!(counted(|| concrete(Err(Fail::Status(503)))), IGNORED);
    assert_eq!(counted(|| dynamic(Err(Box::new(timed_out())))), DROP);
    assert_eq!(counted(|| dynamic(Err("no".into()))), IGNORED);
    assert_eq!(
        counted(|| dynamic_sync(Err(Box::new(Fail::Limited(timed_out()))))),
        DROP
    );
    assert_eq!(counted(|| dynamic_sync(Err("no".into()))), IGNORED);
    assert_eq!(
        counted(|| anyhow(Err(anyhow::Error::new(timed_out()).context("asked")))),
        DROP
    );
    assert_eq!(counted(|| anyhow(Err(anyhow::anyhow!("no")))), IGNORED);
    assert_eq!(counted(|| anyhow(Ok(()))), SUCCESS);
    assert_eq!(counted(|| in_arc(Err(Arc::new(timed_out())))), DROP);
    assert_eq!(
        counted(|| borrowed(&String::from("a"), Some(timed_out())).is_err()),
        DROP
    );
    assert_eq!(counted(|| borrowed("a", None)), IGNORED);
    let text = String::from("a");
    let boxed = |error| counted(|| boxed_borrowed(&text, error).is_err());
    assert_eq!((boxed(Some(timed_out())), boxed(None)), (DROP, IGNORED));
    let later = |error| counted(|| block_on(boxed_borrowed_later(&text, error)).is_err());
    assert_eq!((later(Some(timed_out())), later(None)), (DROP, IGNORED));
    assert_eq!(counted(|| generic(timed_out())), DROP);
    assert_eq!(counted(|| generic(Fail::Text)), IGNORED);
    assert_eq!(counted(|| in_io(Err(io::Error::other(timed_out())))), DROP);
    assert_eq!(counted(|| in_io(Err(io::Error::other("no")))), IGNORED);
}

/// Says nothing of itself.
#[derive(Clone, Copy)]
enum Opaque {
    Status(u16),
    Many { count: u32 },
    Rejected,
}

impl From<Error> for Opaque {
    fn from(_: Error) -> Self {
        Self::Rejected
    }
}

#[adaptive_limit(drop_on = [Opaque::Status(500..=503 | 429) | Opaque::Rejected, Opaque::Many { count: 3.., .. }])]
fn on_patterns(output: Result<u32, Opaque>) -> Result<u32, Opaque> {
    output
}

#[adaptive_limit(drop_on = [])]
fn on_none(output: Result<u32, Opaque>) -> Result<u32, Opaque> {
    output
}

#[adaptive_limit(drop_on = [_])]
async fn on_all(output: Result<u32, Opaque>) -> Result<u32, Opaque> {
    pause().await;
    output
}

#[adaptive_limit(drop_if = is_zero)]
fn if_zero(output: Result<u32, Opaque>) -> Result<u32, Opaque> {
    output
}

fn is_zero<E>(output: &Result<u32, E>) -> bool {
    matches!(output, Ok(0))
}

#[adaptive_limit(drop_if = is_zero, drop_on = [Opaque::Rejected])]
fn if_zero_and_on(output: Result<u32, Opaque>) -> Result<u32, Opaque> {
    output
}

#[adaptive_limit(drop_if = is_zero)]
fn if_zero_and_default(output: Result<u32, Error>) -> Result<u32, Error> {
    output
}

#[adaptive_limit(drop_if = Option::is_none, rejected = no_text)]
fn if_none(output: Option<&str>) -> Option<&str> {
    output
}

#[allow(clippy::unnecessary_wraps)]
fn no_text<'a>(_: Error) -> Option<&'a str> {
    Some("rejected")
}

#[test]
fn patterns_replace_the_default() {
    let status = |code| Err(Opaque::Status(code));
    let many = |count| Err(Opaque::Many { count });
    for (output, expected) in [
        (Ok(1), SUCCESS),
        (status(501), DROP),
        (status(429), DROP),
        (status(404), IGNORED),
        (many(2), IGNORED),
        (many(3), DROP),
        (Err(Opaque::Rejected), DROP),
    ] {
        assert_eq!(counted(|| on_patterns(output)), expected);
    }
    assert_eq!(counted(|| on_none(status(503))), IGNORED);
    assert_eq!(counted(|| on_none(Ok(1))), SUCCESS);
    assert_eq!(counted(|| block_on(on_all(status(404)))), DROP);
    assert_eq!(counted(|| block_on(on_all(Ok(1)))), SUCCESS);
}

#[test]
fn drop_if_is_asked_first() {
    assert_eq!(counted(|| if_zero(Ok(0))), DROP);
    assert_eq!(counted(|| if_zero(Ok(1))), SUCCESS);
    assert_eq!(counted(|| if_zero(Err(Opaque::Rejected))), IGNORED);
    assert_eq!(counted(|| if_zero_and_on(Ok(0))), DROP);
    assert_eq!(counted(|| if_zero_and_on(Err(Opaque::Rejected))), DROP);
    assert_eq!(counted(|| if_zero_and_default(Err(timed_out()))), DROP);
    assert_eq!(counted(|| if_zero_and_default(Ok(1))), SUCCESS);
    assert_eq!(counted(|| if_none(None)), DROP);
    assert_eq!(counted(|| if_none(Some(""))), SUCCESS);
}

#[test]
fn a_rejected_call_returns_what_the_path_makes() {
    scoped(|registry| {
        assert_eq!(if_none(Some("a")), Some("a"));
        let id = registry.snapshot().limits[0].id.to_string();
        let permits = fill(registry, &id);
        assert_eq!(if_none(Some("a")), Some("rejected"));
        drop(permits);
    });
}
