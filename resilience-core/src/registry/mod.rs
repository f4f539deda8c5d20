//! Where limits live: shared by name, set up from layers of settings, looked up by whoever wants to see them.

mod builder;
pub(crate) mod call_site;
mod explain;
mod external;
mod global;
mod instances;
mod keyed;
mod layers;
mod properties;
pub(crate) mod sites;
mod snapshot;
mod watch;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use builder::Builder;
pub use explain::{Explanation, Overridden, Setting};
pub use global::Scoped;
pub use keyed::{KeyedLimits, KeyedSnapshot};
pub use snapshot::RegistrySnapshot;
pub use watch::Watch;

use crate::error::{Error, Origin};
use crate::event::Subscription;
use crate::event::{Event, Topics};
use crate::id::Id;
use crate::limit::{AdaptiveLimit, LimitConfig};
use call_site::CallSite;
use instances::{Ask, Instances};
use layers::{Layer, Origins};

/// A set of limits, found by their ids. Clones are the same registry.
///
/// Most programs have one, the [process-wide](Self::global) one, and never name it: attributes use it by themselves.
/// Set it up once at the start with a [builder](Self::builder) and [`install`](Self::install) it. Tests make their own
/// and [scope](Self::scope) it to a thread or a future, or give it to an attribute with `registry = expr`.
///
/// # Examples
///
/// ```
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// let registry = Registry::builder()
///     .defaults(LimitConfig::new().max_limit(500))
///     .config("backend", LimitConfig::new().algorithm("aimd").max_limit(100))
///     .build()?;
///
/// let orders = registry.register_with("orders", "backend", LimitConfig::new())?;
/// assert_eq!(orders.snapshot().max_limit, 100);
/// assert_eq!(registry.adaptive_limit("orders")?.limit(), 20);
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Instances>);

impl Registry {
    /// Returns a registry with the built-in defaults.
    pub fn new() -> Self {
        Self(Arc::new(Instances::default()))
    }

    /// Returns a builder for a registry with settings of its own.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns the process-wide registry; if none was [installed](Self::install), one with the built-in defaults is made
    /// and stays.
    pub fn global() -> &'static Self {
        global::get()
    }

    /// Makes this the process-wide registry.
    ///
    /// # Errors
    ///
    /// `R4C-REG-005` if another one was installed or used before: limits that live in it would be lost.
    pub fn install(self) -> Result<(), Error> {
        global::install(self)
    }

    /// Runs `run` with this registry in the place of the process-wide one, on this thread.
    ///
    /// For sync calls: a future that `run` returns is polled outside of the scope, see
    /// [`scope_future`](Self::scope_future). Attributes that name a registry of their own are not affected, nor is what
    /// `run` starts on other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::registry::Registry;
    ///
    /// let test = Registry::new();
    /// test.scope(|| {
    ///     // Calls of annotated functions here use limits of `test`, made on their first call.
    /// });
    /// assert!(test.snapshot().limits.is_empty());
    /// ```
    pub fn scope<R>(&self, run: impl FnOnce() -> R) -> R {
        let _entered = global::enter(self);
        run()
    }

    /// Returns `future` with this registry in the place of the process-wide one whenever it is polled, on whatever thread.
    ///
    /// Tasks that it spawns are futures of their own, and blocking tasks run on threads of their own: wrap each.
    pub fn scope_future<F: Future>(&self, future: F) -> Scoped<F> {
        Scoped::new(self.clone(), future)
    }

    /// Returns the limit of that id.
    ///
    /// # Errors
    ///
    /// `R4C-REG-009`, with the nearest id, if there is none. A limit of an attribute is made on the function's first call;
    /// to hear of it from then on, [subscribe](Self::subscribe) to the registry. With the feature `sites` the process-wide
    /// registry makes it here.
    pub fn adaptive_limit(&self, id: &str) -> Result<AdaptiveLimit, Error> {
        let found = self.0.get(id).or_else(|unknown| {
            let mut sites = self.sites().into_iter();
            match sites.find(|site| site.id().as_str() == id) {
                Some(site) => self.0.of_site(site),
                None => Err(unknown),
            }
        });
        found.map(AdaptiveLimit::new)
    }

    /// The call sites that are known to have their limits here.
    fn sites(&self) -> Vec<&'static CallSite> {
        if self.is_global() {
            sites::ambient()
        } else {
            Vec::new()
        }
    }

    fn is_global(&self) -> bool {
        global::installed().is_some_and(|global| Arc::ptr_eq(&global.0, &self.0))
    }

    /// Returns the limit of that id, made with these settings if there is none, as an attribute there would.
    ///
    /// # Errors
    ///
    /// `R4C-REG-008` if it was made with different settings, which names both places and what differs; `R4C-REG-001` and
    /// `R4C-REG-002` for settings that are out of range; all problems at once.
    #[track_caller]
    pub fn register(&self, id: impl Into<Id>, config: LimitConfig) -> Result<AdaptiveLimit, Error> {
        let origin = Origins::One(Origin::caller());
        let ask = Ask {
            own: Layer::new("`register`", origin, config),
            config: None,
        };
        self.0.get_or_make(&id.into(), ask).map(AdaptiveLimit::new)
    }

    /// Like [`register`](Self::register), over a named config.
    ///
    /// # Errors
    ///
    /// Also `R4C-REG-004`, with the nearest name, if the registry has no such config.
    #[track_caller]
    pub fn register_with(
        &self,
        id: impl Into<Id>,
        name: &str,
        config: LimitConfig,
    ) -> Result<AdaptiveLimit, Error> {
        let origin = Origins::One(Origin::caller());
        let ask = Ask {
            own: Layer::new("`register_with`", origin, config),
            config: Some(name.to_owned()),
        };
        self.0.get_or_make(&id.into(), ask).map(AdaptiveLimit::new)
    }

    /// Returns limits by a key that comes from outside, such as a tenant: at most `max_instances` of them, of which the one
    /// that was used the longest time ago makes room for a new one. They have the settings of the limit `id`, which is the
    /// one that keys share when all others are in use.
    ///
    /// See [`KeyedLimits`] for what is evicted when. On a 64-bit machine a limit takes about 4 kB, and 256 bytes more for each further thread
    /// that calls through it.
    ///
    /// # Errors
    ///
    /// `R4C-REG-009`, with the nearest id, if there is no limit `id`: [register](Self::register) it before. `R4C-REG-001` if
    /// `max_instances` is 0, `R4C-REG-008` if it was another one before.
    pub fn keyed(&self, id: &str, max_instances: usize) -> Result<KeyedLimits, Error> {
        let shared = self.adaptive_limit(id)?;
        let family = self.0.keyed(id, max_instances)?;
        Ok(KeyedLimits::new(self.0.clone(), family, shared))
    }

    /// Reads the files and other sources of settings again, and puts in force what they say.
    ///
    /// All or nothing: if anything is wrong for any limit, everything stays as it was, the
    /// [snapshot](RegistrySnapshot::stale) says so, and the next good reading is taken. Limits are not replaced: handles,
    /// subscriptions, calls in flight and what was learned live on. A limit outside of its new bounds is put within them at
    /// once. What each setting does to a limit that runs is told in the guide to the configuration.
    ///
    /// Reloads go one after the other; calls never wait for one. Must not be called from inside of an
    /// [`Algorithm`](crate::limit::algorithm::Algorithm) or a source such as that of [`Builder::values`]: it would wait for
    /// itself.
    ///
    /// # Errors
    ///
    /// All problems of all sources and limits at once, as for [`Builder::build`]; also `R4C-REG-008` for a limit that is
    /// shared by places whose settings would no longer be the same, and `R4C-CFG-013` for a file that is suddenly empty.
    pub fn reload(&self) -> Result<(), Error> {
        self.0.reload(false).map(|_| ())
    }

    /// As [`reload`](Self::reload), unless all sources say what they said the last time. Returns whether they said
    /// something else.
    ///
    /// # Errors
    ///
    /// As for [`reload`](Self::reload). A bad reading is told once.
    pub fn reload_if_changed(&self) -> Result<bool, Error> {
        self.0.reload(true)
    }

    /// Calls [`reload_if_changed`](Self::reload_if_changed) at this interval, at most a thousand times a second, on a thread
    /// of its own, until the watch is dropped.
    ///
    /// By content: renamed, linked and mounted files are seen, and a file that is written anew with the same content is
    /// not. What was changed or refused is told to [listeners](Self::subscribe).
    ///
    /// # Panics
    ///
    /// If the system has no further thread to give.
    pub fn watch(&self, interval: Duration) -> Watch {
        Watch::new(&self.0, interval)
    }

    /// Says where each setting of a limit comes from, and what it overrides.
    ///
    /// # Errors
    ///
    /// `R4C-REG-009`, with the nearest id, if there is no such limit.
    pub fn explain(&self, id: &str) -> Result<Explanation, Error> {
        self.0.explain(id)
    }

    /// Looks for settings that have no effect: for limits that there are not, in configs that no limit is based on, for
    /// another algorithm than the limit's, of unknown policies, and in variables that nothing matches.
    ///
    /// Call it once everything has registered. A limit of an attribute is known from its function's first call on. With the
    /// feature `sites` the process-wide registry knows it before: then this makes the limits of all attributes, and tells
    /// what is wrong with the settings of any.
    ///
    /// # Errors
    ///
    /// All of them at once.
    pub fn check(&self) -> Result<(), Error> {
        self.0.check(&self.sites())
    }

    /// Calls `listener` on each change of any limit of this registry, also of those that are made later, and on each change
    /// of the settings from outside, until the subscription is dropped: on [`Topics::default`].
    ///
    /// Where and how it is called: [`AdaptiveLimit::subscribe`].
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::registry::Registry;
    ///
    /// let registry = Registry::new();
    /// let _logging = registry.subscribe(|event| println!("{event}"));
    /// ```
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Subscription {
        self.subscribe_to(Topics::default(), listener)
    }

    /// Like [`subscribe`](Self::subscribe), to events of other kinds: closed windows and rejected calls too, or fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use std::sync::Arc;
    ///
    /// use resilience::event::Topics;
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    ///
    /// let registry = Registry::new();
    /// let rejected = Arc::new(AtomicU64::new(0));
    /// let counted = rejected.clone();
    /// let _counting = registry.subscribe_to(Topics::REJECTIONS, move |_| {
    ///     counted.fetch_add(1, Relaxed);
    /// });
    ///
    /// let orders = registry.register("orders", LimitConfig::new().max_limit(1))?;
    /// let permit = orders.try_acquire()?;
    /// assert!(orders.try_acquire().is_err());
    /// assert_eq!(rejected.load(Relaxed), 1);
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn subscribe_to(
        &self,
        topics: Topics,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.0.listeners().subscribe(topics, listener)
    }

    /// Returns all limits, ordered by id, but those [by key](Self::keyed): whoever holds one keeps it from being evicted.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    ///
    /// let registry = Registry::new();
    /// registry.register("orders", LimitConfig::new())?;
    /// let in_flight: u32 = registry.adaptive_limits().iter().map(|limit| limit.in_flight()).sum();
    /// assert_eq!(in_flight, 0);
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn adaptive_limits(&self) -> Vec<AdaptiveLimit> {
        self.0.all().into_iter().map(AdaptiveLimit::new).collect()
    }

    /// Returns what all limits are now, ordered by id.
    ///
    /// Calls go on meanwhile. Of limits [by key](Self::keyed) those that are made or evicted meanwhile may be missing.
    pub fn snapshot(&self) -> RegistrySnapshot {
        self.0.snapshot()
    }
}

impl Registry {
    /// Looks at all limits one after the other, those by key included: each is held while it is looked at and no longer.
    #[cfg(feature = "metrics")]
    pub(crate) fn each_limit(&self, mut look: impl FnMut(&AdaptiveLimit)) {
        self.0.each(|instance| look(&AdaptiveLimit::new(instance)));
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self
            .0
            .all()
            .iter()
            .map(|instance| instance.id().clone())
            .collect();
        f.debug_struct("Registry")
            .field("limits", &ids)
            .finish_non_exhaustive()
    }
}
