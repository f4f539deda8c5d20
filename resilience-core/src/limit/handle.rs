//! What users hold of a limit.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::instance::{Instance, InstanceRef};
use super::permit::{Guard, Permit};
use super::queue::Entry;
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::event::listeners::Subscription;
use crate::event::{Event, Topics};
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

    /// What it is a handle of, to be told from another one that has its id later.
    #[cfg(all(any(feature = "metrics", feature = "testing"), not(loom)))]
    pub(crate) fn instance(&self) -> &Arc<Instance> {
        &self.0
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
    /// Never waits, whatever the settings say; use [`acquire`](Self::acquire) for that. While nobody waits, it takes no lock
    /// and allocates nothing.
    ///
    /// # Errors
    ///
    /// An error for which [`Error::is_limit_exceeded`] holds if as many calls are in flight as the limit allows, or others wait
    /// for a slot.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<'_>, Error> {
        Permit::try_acquire(InstanceRef::Borrowed(&self.0))
    }

    /// Like [`try_acquire`](Self::try_acquire), with a permit that borrows nothing, to be moved to another thread or
    /// kept in a struct. Costs a shared reference count.
    ///
    /// # Errors
    ///
    /// As for [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_owned(&self) -> Result<Permit<'static>, Error> {
        Permit::try_acquire(InstanceRef::Shared(self.0.clone()))
    }

    /// Takes a slot for a call; the thread waits for one if there is none and [`max_wait`](super::LimitConfig::max_wait) is
    /// set. Without it, this is [`try_acquire`](Self::try_acquire).
    ///
    /// This is what the attribute does on a fn that is not `async`; use it where the attribute cannot stand. On a thread that
    /// other tasks run on, use [`acquire_async`](Self::acquire_async).
    ///
    /// # Errors
    ///
    /// An error for which [`Error::is_limit_exceeded`] holds: [`Error::is_queue_full`] too if as many wait as may,
    /// [`Error::is_wait_timed_out`] too if no slot came free in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::Outcome;
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    /// use std::time::Duration;
    ///
    /// let config = LimitConfig::new().initial_limit(1).max_limit(1).max_wait(Duration::from_secs(1));
    /// let orders = Registry::new().register("orders", config)?;
    ///
    /// let permit = orders.acquire()?;
    /// std::thread::scope(|scope| {
    ///     let waiting = scope.spawn(|| orders.acquire().map(|permit| permit.complete(Outcome::Success)));
    ///     permit.complete(Outcome::Success);
    ///     waiting.join().unwrap()
    /// })?;
    /// # Ok::<(), resilience::Error>(())
    /// ```
    #[inline]
    pub fn acquire(&self) -> Result<Permit<'_>, Error> {
        Permit::acquire(InstanceRef::Borrowed(&self.0))
    }

    /// Like [`acquire`](Self::acquire), with a permit that borrows nothing.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    pub fn acquire_owned(&self) -> Result<Permit<'static>, Error> {
        Permit::acquire(InstanceRef::Shared(self.0.clone()))
    }

    /// Like [`acquire`](Self::acquire), as a future: the slot is taken, or the wait begins, when it is first polled.
    ///
    /// Runs on any executor. Dropped before it is ready, it gives up its place in the queue; a slot that it was given at
    /// that moment goes to the next who waits.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    /// use resilience::time::ManualClock;
    /// use std::pin::pin;
    /// use std::task::{Context, Poll, Waker};
    /// use std::time::Duration;
    ///
    /// let clock = ManualClock::new();
    /// let registry = Registry::builder().clock(clock.clone()).build()?;
    /// let config = LimitConfig::new().initial_limit(1).max_limit(1).max_wait(Duration::from_secs(1));
    /// let orders = registry.register("orders", config)?;
    /// let mut context = Context::from_waker(Waker::noop());
    ///
    /// let permit = orders.try_acquire()?;
    /// let (mut first, mut second) = (pin!(orders.acquire_async()), pin!(orders.acquire_async()));
    /// assert!(first.as_mut().poll(&mut context).is_pending());
    /// clock.advance(Duration::from_millis(500));
    /// assert!(second.as_mut().poll(&mut context).is_pending());
    ///
    /// drop(permit); // the slot goes to the first
    /// assert!(matches!(first.poll(&mut context), Poll::Ready(Ok(_))));
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn acquire_async(&self) -> Acquire<'_> {
        Acquire(Entry::new(InstanceRef::Borrowed(&self.0)))
    }

    /// Like [`acquire_async`](Self::acquire_async), with a future and a permit that borrow nothing.
    ///
    /// # Errors
    ///
    /// As for [`acquire`](Self::acquire).
    pub fn acquire_async_owned(&self) -> Acquire<'static> {
        Acquire(Entry::new(InstanceRef::Shared(self.0.clone())))
    }

    /// Returns what the limit is now and how it came to be that.
    pub fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }

    /// Calls `listener` on each change of the limit, until the subscription is dropped.
    ///
    /// It is called on the thread whose call ended the window, after that call's slot is free and with no lock held: it
    /// may call back into this handle. While it blocks, that one call does not return, and nothing else waits for it. If
    /// it panics, the panic ends there. What it causes itself, as by resetting the limit, is told from within it, but no
    /// more than eight deep.
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Subscription {
        self.subscribe_to(Topics::default(), listener)
    }

    /// Like [`subscribe`](Self::subscribe), to events of other kinds: closed windows and rejected calls too.
    ///
    /// A listener for [rejections](Topics::REJECTIONS) runs on the thread of each call that is rejected, when there are more
    /// than can be served: let it do little. Calls that are rejected in a listener, on its thread, are not told; else one
    /// that makes calls of its own would never return. While nobody listens for them anywhere in the registry a rejection
    /// costs one load more.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::event::{Event, Topics};
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    ///
    /// let orders = Registry::new().register("orders", LimitConfig::new())?;
    /// let _warning = orders.subscribe_to(Topics::WINDOWS, |event| {
    ///     if let Event::WindowClosed { id, samples, drops, .. } = event && *drops > samples / 2 {
    ///         eprintln!("most calls of {id} are overloads");
    ///     }
    /// });
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn subscribe_to(
        &self,
        topics: Topics,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.0.listeners().subscribe(topics, listener)
    }

    /// Forgets what was learned and goes back to the initial limit.
    ///
    /// Calls in flight keep their slots, finish, and are no samples. Counters go on. Must not be called from inside an
    /// [`Algorithm`](super::algorithm::Algorithm): it would wait for itself.
    pub fn reset(&self) {
        self.0.reset();
    }
}

/// A slot to come: the future that [`AdaptiveLimit::acquire_async`] returns.
///
/// # Panics
///
/// If it is polled after it was ready.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Acquire<'a>(Entry<InstanceRef<'a>>);

impl<'a> Future for Acquire<'a> {
    type Output = Result<Permit<'a>, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let entry = &mut self.get_mut().0;
        let admitted = std::task::ready!(entry.poll(context)).map(Guard::suspend);
        Poll::Ready(admitted.map(|call| Permit::of(entry.instance().clone(), call)))
    }
}
