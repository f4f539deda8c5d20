//! A place in the source that calls through a limit.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::instances::Ask;
use super::layers::{Layer, Origins};
use super::{Registry, global};
use crate::error::{Error, Origin};
use crate::id::Id;
use crate::limit::algorithm::Bounds;
use crate::limit::instance::Instance;
use crate::limit::{LimitConfig, Mode};

/// A place in the source that calls through a limit: its settings, and the instance once it is known.
///
/// The attribute makes one as a `static`. It is public for generated code alone.
#[derive(Debug)]
pub struct CallSite {
    name: Name,
    origin: Origin,
    config: Option<&'static str>,
    algorithm: Option<&'static str>,
    initial_limit: Option<u32>,
    min_limit: Option<u32>,
    max_limit: Option<u32>,
    window: Option<u64>,
    enabled: Option<bool>,
    max_wait: Option<u64>,
    queue_limit: Option<u32>,
    mode: Option<Mode>,
    /// The instance in the process-wide registry, of which there is one. Kept for as long as the process lives, so a call
    /// borrows it and touches no reference count.
    global: OnceLock<Arc<Instance>>,
    /// The same for the first registry that was named, which is the only one in production.
    pinned: OnceLock<Pinned>,
}

#[derive(Debug)]
enum Name {
    Given(&'static str),
    /// The path of an item in the limited function, below which it stands as `::__ADAPTIVE_LIMIT_SITE::here`.
    Path(fn() -> &'static str),
}

#[derive(Debug)]
struct Pinned {
    registry: Registry,
    instance: Arc<Instance>,
}

impl CallSite {
    /// A site that shares the limit of that name.
    #[track_caller]
    pub const fn named(name: &'static str, file: &'static str, line: u32, column: u32) -> Self {
        let name = legible(
            name,
            "`name` is empty; leave it out to give the fn a limit of its own [R4C-ATR-007]",
            "`name` contains a control character, which would garble logs and messages [R4C-ATR-007]",
        );
        Self::new(Name::Given(name), file, line, column)
    }

    /// A site with a limit of its own, found by the path of its function.
    pub const fn unnamed(
        path: fn() -> &'static str,
        file: &'static str,
        line: u32,
        column: u32,
    ) -> Self {
        Self::new(Name::Path(path), file, line, column)
    }

    const fn new(name: Name, file: &'static str, line: u32, column: u32) -> Self {
        Self {
            name,
            origin: Origin { file, line, column },
            config: None,
            algorithm: None,
            initial_limit: None,
            min_limit: None,
            max_limit: None,
            window: None,
            enabled: None,
            max_wait: None,
            queue_limit: None,
            mode: None,
            global: OnceLock::new(),
            pinned: OnceLock::new(),
        }
    }

    pub(crate) fn id(&self) -> Id {
        match self.name {
            Name::Given(name) => name.into(),
            Name::Path(path) => {
                let path = path();
                let path = path
                    .strip_suffix("::__ADAPTIVE_LIMIT_SITE::here")
                    .unwrap_or(path);
                // The body of an `async fn` is a closure in it.
                path.trim_end_matches("::{{closure}}").into()
            }
        }
    }

    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    pub(crate) fn is_unnamed(&self) -> bool {
        matches!(self.name, Name::Path(_))
    }

    /// The config that its attribute names.
    pub(crate) fn asks_for_config(&self) -> Option<&'static str> {
        self.config
    }

    /// The id of a function whose path is another one's too.
    pub(crate) fn id_with_place(&self) -> Id {
        format!("{} at {}", self.id(), self.origin).into()
    }

    /// What its attribute asks for.
    pub(crate) fn ask(&self) -> Ask {
        let config = LimitConfig {
            algorithm: self.algorithm.map(Cow::Borrowed),
            initial_limit: self.initial_limit,
            min_limit: self.min_limit,
            max_limit: self.max_limit,
            window: self.window.map(Duration::from_nanos),
            enabled: self.enabled,
            max_wait: self.max_wait.map(Duration::from_nanos),
            queue_limit: self.queue_limit,
            mode: self.mode,
            ..LimitConfig::default()
        };
        Ask {
            own: Layer::new("attribute", Origins::One(self.origin), config),
            config: self.config.map(str::to_owned),
        }
    }

    /// The site's limit in the registry that is in force: the one scoped to the thread or future, else the process-wide.
    #[inline]
    pub fn resolve(&'static self) -> Resolved {
        match self.global.get() {
            Some(instance) if !global::any_scoped() => Resolved(Answer::Borrowed(instance)),
            _ => self.resolve_slowly(),
        }
    }

    /// Its first call, or a registry is scoped to some thread or future.
    #[cold]
    fn resolve_slowly(&'static self) -> Resolved {
        if let Some(registry) = global::scoped() {
            return self.look_up(&registry);
        }
        let instance = match self.global.get() {
            Some(instance) => instance,
            None => match global::get().0.of_site(self) {
                Ok(instance) => self.global.get_or_init(|| instance),
                Err(error) => return Resolved(Answer::Error(Box::new(error))),
            },
        };
        Resolved(Answer::Borrowed(instance))
    }

    /// The site's limit in a registry.
    #[inline]
    pub fn resolve_in(&'static self, registry: &Registry) -> Resolved {
        match self.pinned.get() {
            Some(pinned) if Arc::ptr_eq(&pinned.registry.0, &registry.0) => {
                Resolved(Answer::Borrowed(&pinned.instance))
            }
            Some(_) => self.look_up(registry),
            None => self.pin(registry),
        }
    }

    /// The site's limit in the registry that a delegate was given, or else in the one that is in force.
    #[inline]
    pub fn resolve_for(&'static self, registry: Option<&Registry>) -> Resolved {
        match registry {
            Some(registry) => self.resolve_in(registry),
            None => self.resolve(),
        }
    }

    /// Not pinned: a scoped registry ends, and a site must not keep it.
    #[cold]
    fn look_up(&'static self, registry: &Registry) -> Resolved {
        Resolved(match registry.0.of_site(self) {
            Ok(instance) => Answer::Shared(instance),
            Err(error) => Answer::Error(Box::new(error)),
        })
    }

    #[cold]
    fn pin(&'static self, registry: &Registry) -> Resolved {
        match registry.0.of_site(self) {
            Ok(instance) => {
                let pinned = self.pinned.get_or_init(|| Pinned {
                    registry: registry.clone(),
                    instance,
                });
                if Arc::ptr_eq(&pinned.registry.0, &registry.0) {
                    Resolved(Answer::Borrowed(&pinned.instance))
                } else {
                    // Another thread was first, with another registry.
                    self.look_up(registry)
                }
            }
            Err(error) => Resolved(Answer::Error(Box::new(error))),
        }
    }
}

/// Refuses a limit that there cannot be. The site is a `static`, so a constant that is out of range does not compile.
#[track_caller]
const fn checked(limit: u32, if_below: &'static str, if_above: &'static str) -> u32 {
    assert!(1 <= limit, "{}", if_below);
    assert!(limit <= Bounds::MAX, "{}", if_above);
    limit
}

/// Refuses a name that is blank or cannot be printed on a line, as the attribute does where it sees the text. What is blank
/// beyond ASCII is left to the registry.
#[track_caller]
const fn legible(
    name: &'static str,
    if_blank: &'static str,
    if_control: &'static str,
) -> &'static str {
    let bytes = name.as_bytes();
    assert!(!bytes.trim_ascii().is_empty(), "{}", if_blank);
    let mut at = 0;
    while at < bytes.len() {
        // C2 80 to C2 9F are the control characters beyond ASCII; no other character's bytes hold C2.
        let beyond_ascii = bytes[at] == 0xC2 && bytes[at + 1] < 0xA0;
        assert!(
            !bytes[at].is_ascii_control() && !beyond_ascii,
            "{}",
            if_control
        );
        at += 1;
    }
    name
}

/// The attribute's arguments.
impl CallSite {
    /// Sets `config`.
    #[must_use]
    #[track_caller]
    pub const fn config(mut self, config: &'static str) -> Self {
        self.config = Some(legible(
            config,
            "`config` is empty; leave it out to use no named configuration [R4C-ATR-007]",
            "`config` contains a control character, which would garble logs and messages [R4C-ATR-007]",
        ));
        self
    }

    /// Sets `algorithm`.
    #[must_use]
    pub const fn algorithm(mut self, algorithm: &'static str) -> Self {
        self.algorithm = Some(algorithm);
        self
    }

    /// Sets `initial_limit`.
    #[must_use]
    #[track_caller]
    pub const fn initial_limit(mut self, limit: u32) -> Self {
        self.initial_limit = Some(checked(
            limit,
            "`initial_limit` is below 1; at least one call must pass [R4C-ATR-003]",
            "`initial_limit` is above 1000000, the most calls of one limit [R4C-ATR-009]",
        ));
        self
    }

    /// Sets `min_limit`.
    #[must_use]
    #[track_caller]
    pub const fn min_limit(mut self, limit: u32) -> Self {
        self.min_limit = Some(checked(
            limit,
            "`min_limit` is below 1; at least one call must pass [R4C-ATR-003]",
            "`min_limit` is above 1000000, the most calls of one limit [R4C-ATR-009]",
        ));
        self
    }

    /// Sets `max_limit`.
    #[must_use]
    #[track_caller]
    pub const fn max_limit(mut self, limit: u32) -> Self {
        self.max_limit = Some(checked(
            limit,
            "`max_limit` is below 1; at least one call must pass [R4C-ATR-003]",
            "`max_limit` is above 1000000, the most calls of one limit [R4C-ATR-009]",
        ));
        self
    }

    /// Sets `enabled`.
    #[must_use]
    pub const fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = Some(enabled);
        self
    }

    /// Sets `max_wait`, in nanoseconds.
    #[must_use]
    pub const fn max_wait_nanos(mut self, value: u64) -> Self {
        self.max_wait = Some(value);
        self
    }

    /// Sets `queue_limit`.
    #[must_use]
    #[track_caller]
    pub const fn queue_limit(mut self, calls: u32) -> Self {
        self.queue_limit = Some(checked(
            calls,
            "`queue_limit` is below 1; without `max_wait` no call waits [R4C-ATR-003]",
            "`queue_limit` is above 1000000, the most calls of one limit [R4C-ATR-009]",
        ));
        self
    }

    /// Sets `mode`: to observe, or else to enforce.
    #[must_use]
    pub const fn observe(mut self, observe: bool) -> Self {
        self.mode = Some(if observe {
            Mode::Observe
        } else {
            Mode::Enforce
        });
        self
    }

    /// Sets `window`, in nanoseconds.
    #[must_use]
    pub const fn window_nanos(mut self, value: u64) -> Self {
        self.window = Some(value);
        self
    }
}

/// A site's limit, or why it has none.
#[derive(Debug)]
pub struct Resolved(pub(crate) Answer);

/// Flat, with a pointer in each variant, so that it is handed over in two registers.
#[derive(Debug)]
pub(crate) enum Answer {
    Borrowed(&'static Instance),
    Shared(Arc<Instance>),
    Error(Box<Error>),
}
