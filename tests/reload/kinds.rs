//! Which errors mean overload, chosen by name.

use std::fmt;
use std::io;
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::outcome::OfKind;
use resilience::registry::Registry;
use resilience::{Code, Error, adaptive_limit};

use crate::support::{Directory, manual, says};

/// An error of the user's, which borrows.
#[derive(Debug)]
enum SearchError<'a> {
    Limited(Error),
    Busy(&'a str),
    NotFound,
    Io(io::Error),
}

impl From<Error> for SearchError<'_> {
    fn from(error: Error) -> Self {
        Self::Limited(error)
    }
}

impl fmt::Display for SearchError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for SearchError<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Limited(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl OfKind for SearchError<'_> {
    fn is_of_kind(&self, kind: &str) -> bool {
        kind == "busy" && matches!(self, Self::Busy(text) if !text.is_empty())
    }
}

#[adaptive_limit(name = "search", registry = registry)]
fn search<'a>(registry: &Registry, how: &str, text: &'a str) -> Result<(), SearchError<'a>> {
    fail(how, text)
}

#[adaptive_limit(name = "search", registry = registry)]
async fn search_async<'a>(
    registry: &Registry,
    how: &str,
    text: &'a str,
) -> Result<(), SearchError<'a>> {
    fail(how, text)
}

#[adaptive_limit(name = "search", registry = registry, drop_on = [SearchError::NotFound])]
fn with_patterns<'a>(registry: &Registry, how: &str, text: &'a str) -> Result<(), SearchError<'a>> {
    fail(how, text)
}

fn fail<'a>(how: &str, text: &'a str) -> Result<(), SearchError<'a>> {
    Err(match how {
        "time-out" => Error::timed_out("inner", Duration::from_secs(1)).into(),
        "full" => Error::bulkhead_full("inner", 1).into(),
        "busy" => SearchError::Busy(text),
        "reset" => SearchError::Io(io::ErrorKind::ConnectionReset.into()),
        "not found" => SearchError::NotFound,
        _ => return Ok(()),
    })
}

const HOWS: [&str; 6] = ["time-out", "full", "busy", "reset", "not found", "success"];

fn registry(directory: &Directory, content: &str) -> Registry {
    let file = directory.write("app.properties", content);
    let (builder, _) = manual();
    builder
        .file(file)
        .kind("busy", |_| false)
        .kind("reset", |error| {
            error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
        })
        .build()
        .unwrap()
}

/// How the calls of each kind are counted, in the order of [`HOWS`]: which of them are drops.
fn drops(registry: &Registry, call: impl Fn(&str)) -> Vec<&'static str> {
    let limit = registry.register("search", LimitConfig::new()).unwrap();
    let dropped = |how: &&&str| {
        let before = limit.snapshot().counters.dropped;
        call(how);
        limit.snapshot().counters.dropped > before
    };
    HOWS.iter().filter(dropped).copied().collect()
}

fn sync(registry: &Registry) -> Vec<&'static str> {
    drops(registry, |how| drop(search(registry, how, "text")))
}

#[test]
fn a_limit_takes_for_overload_what_its_settings_name() {
    let directory = Directory::new();
    let key = "instances.search.adaptiveLimit.dropOn";
    let registry = registry(&directory, "# nothing\n");
    assert_eq!(sync(&registry), ["time-out", "full"], "the default");
    for (names, expected) in [
        ("timeout", vec!["time-out"]),
        ("timeout, busy", vec!["time-out", "busy"]),
        ("reset,busy", vec!["busy", "reset"]),
        ("limit-exceeded", vec![]),
        ("", vec![]),
        ("bulkhead-full", vec!["full"]),
    ] {
        directory.write("app.properties", &format!("{key}={names}\n"));
        registry.reload().unwrap();
        assert_eq!(sync(&registry), expected, "{names}");
        let run = |how: &str| {
            let call = search_async(&registry, how, "text");
            let mut call = std::pin::pin!(call);
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(call.as_mut().poll(&mut context).is_ready());
        };
        assert_eq!(drops(&registry, run), expected, "{names}, async");
    }
    directory.write("app.properties", "# nothing again\n");
    registry.reload().unwrap();
    assert_eq!(sync(&registry), ["time-out", "full"]);
}

#[test]
fn patterns_win_unless_the_one_limit_says_otherwise() {
    let directory = Directory::new();
    let content = "configs.backend.adaptiveLimit.dropOn=busy\ninstances.search.adaptiveLimit.config=backend\n";
    let registry = registry(&directory, content);
    let patterns = || drops(&registry, |how| drop(with_patterns(&registry, how, "text")));
    assert_eq!(patterns(), ["not found"]);
    assert_eq!(
        sync(&registry),
        ["busy"],
        "of the same limit, without patterns"
    );
    directory.write(
        "app.properties",
        "instances.search.adaptiveLimit.dropOn=busy\n",
    );
    registry.reload().unwrap();
    assert_eq!(patterns(), ["busy"]);
}

#[test]
fn a_kind_that_nobody_knows_is_told_with_the_nearest() {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "instances.search.adaptiveLimit.dropOn=timeouts\n",
    );
    let (builder, _) = manual();
    let error = builder.file(file).build().unwrap_err();
    says(
        &error.to_string(),
        &["timeouts", "`timeout`", "app.properties:1"],
    );

    let (builder, _) = manual();
    let error = builder
        .defaults(LimitConfig::new().drop_on(["bussy"]))
        .kind("busy", |_| false)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), Code::UNKNOWN_KIND);
    says(&error.to_string(), &["bussy", "`busy`", "kinds.rs"]);
}

#[test]
fn a_kind_has_a_name_that_a_list_can_hold() {
    for name in ["", "a,b", " a", "timeout"] {
        let (builder, _) = manual();
        let error = builder.kind(name, |_| false).build().unwrap_err();
        assert_eq!(error.code(), Code::RESERVED_NAME, "{name}");
    }
}

#[test]
fn the_order_of_kinds_says_nothing() -> Result<(), Error> {
    let registry = Registry::new();
    registry.register(
        "orders",
        LimitConfig::new().drop_on(["timeout", "limit-exceeded"]),
    )?;
    registry.register(
        "orders",
        LimitConfig::new().drop_on(["limit-exceeded", "timeout", "timeout"]),
    )?;
    Ok(())
}
