//! What users hold of a limit.

use std::sync::Arc;

use super::instance::{Instance, InstanceRef};
use super::listeners::Subscription;
use super::permit::Permit;
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::event::Event;
use crate::id::Id;

/// An adaptive limit of a registry. Clones are the same limit.
///
/// # Examples
///
/// ```
/// use resilience::Outcome;
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// let registry = Registry::new();
/// let search = registry.register("search", LimitConfig::new().max_limit(100))?;
///
/// let permit = search.try_acquire()?;
/// assert_eq!((search.in_flight(), search.limit()), (1, 20));
/// permit.complete(Outcome::Success);
/// assert_eq!(search.in_flight(), 0);
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveLimit(Arc<Instance>);

impl AdaptiveLimit {
    pub(crate) fn new(instance: Arc<Instance>) -> Self {
        Self(instance)
    }

    /// Returns the id it has in its registry.
    pub fn id(&self) -> &Id {
        self.0.id()
    }

    /// Returns the limit, in calls.
    pub fn limit(&self) -> u32 {
        self.0.limit()
    }

    /// Returns the calls in flight. Above the limit for a while after it fell.
    pub fn in_flight(&self) -> u32 {
        self.0.in_flight()
    }

    /// Takes a slot for a call, to be given back by the [`Permit`].
    ///
    /// This is what the attribute does; use it where the attribute cannot stand. Takes no lock and allocates nothing.
    ///
    /// # Errors
    ///
    /// An error for which [`Error::is_limit_exceeded`] holds if as many calls are in flight as the limit allows.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, Error> {
        Permit::acquire(InstanceRef::Borrowed(&self.0))
    }

    /// Like [`try_acquire`](Self::try_acquire), with a permit that borrows nothing, to be moved to another thread or
    /// kept in a struct. Costs a shared reference count.
    ///
    /// # Errors
    ///
    /// As for [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(&self) -> Result<Permit<'static>, Error> {
        Permit::acquire(InstanceRef::Shared(self.0.clone()))
    }

    /// Returns what the limit is now and how it came to be that.
    pub fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    /// Calls `listener` on each change of the limit, until the subscription is dropped.
    ///
    /// It is called on the thread whose call ended the window, after that call's slot is free and with no lock held: it
    /// may call back into this handle. While it blocks, that one call does not return, and nothing else waits for it. If
    /// it panics, the panic ends there.
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Subscription {
        self.0.listeners().subscribe(listener)
    }

    /// Forgets what was learned and goes back to the initial limit.
    ///
    /// Calls in flight keep their slots, finish, and are no samples. Counters go on. Must not be called from inside an
    /// [`Algorithm`](super::algorithm::Algorithm): it would wait for itself.
    pub fn reset(&self) {
        self.0.reset();
    }
}
