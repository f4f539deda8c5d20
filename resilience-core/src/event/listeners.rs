//! Who is told of what happens to an instance.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{Event, Topics};
use crate::sync::contained;

type Listener = dyn Fn(&Event) + Send + Sync;

/// The listeners of a registry: those of each of its instances share what any of them wants to hear.
#[derive(Clone, Default)]
pub(crate) struct RegistryListeners {
    own: Arc<List>,
    audience: Arc<Audience>,
}

/// The listeners of an instance, and those of its registry.
pub(crate) struct Listeners {
    own: Arc<List>,
    registry: RegistryListeners,
}

/// How many listeners in a registry and its instances want to hear of rejected calls.
///
/// All that a rejected call looks at if there are none. Relaxed: who has subscribed before a call, as the program knows it,
/// is seen by it; who subscribes meanwhile hears the next.
#[derive(Default)]
struct Audience {
    of_rejections: AtomicU64,
}

#[derive(Default)]
struct List {
    /// What any of the listeners wants to hear. Written with the lock held; relaxed, as the audience.
    topics: AtomicU64,
    listeners: Mutex<Numbered>,
}

#[derive(Default)]
struct Numbered {
    next: u64,
    all: Arc<[Entry]>,
}

#[derive(Clone)]
struct Entry {
    number: u64,
    topics: Topics,
    listener: Arc<Listener>,
}

impl RegistryListeners {
    /// Listeners for an instance of the registry.
    pub(crate) fn of_instance(&self) -> Listeners {
        Listeners {
            own: Arc::default(),
            registry: self.clone(),
        }
    }

    pub(crate) fn subscribe(
        &self,
        topics: Topics,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        subscribe(&self.own, &self.audience, topics, Arc::new(listener))
    }

    /// Tells the listeners of the registry, as [`Listeners::tell`] does.
    pub(crate) fn tell(&self, event: &Event) {
        let topic = Topics::of(event);
        if self.own.wants(topic) {
            nested(topic, || self.own.tell(topic, event));
        }
    }
}

impl Listeners {
    pub(crate) fn subscribe(
        &self,
        topics: Topics,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        let audience = &self.registry.audience;
        subscribe(&self.own, audience, topics, Arc::new(listener))
    }

    /// Whether anybody in the registry may want to hear of a rejected call. One load.
    #[inline]
    pub(crate) fn may_hear_rejections(&self) -> bool {
        self.registry.audience.of_rejections.load(Ordering::Relaxed) != 0
    }

    /// Whether a listener of the instance or of its registry wants to hear of this.
    pub(crate) fn want(&self, topic: Topics) -> bool {
        self.own.wants(topic) || self.registry.own.wants(topic)
    }

    /// Whether no subscription to the instance is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.lock().all.is_empty()
    }

    /// Tells every listener, on this thread and with no lock held. One that panics does not keep the others from it.
    pub(crate) fn tell(&self, event: &Event) {
        let topic = Topics::of(event);
        if self.want(topic) {
            nested(topic, || {
                self.own.tell(topic, event);
                self.registry.own.tell(topic, event);
            });
        }
    }
}

thread_local! {
    /// How many events are being told on this thread, one from within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How deep events are told that listeners cause themselves: whoever resets a limit when it moves, or calls through it when
/// a window closes, hears of that too, and would go on for ever.
const DEEPEST: u32 = 8;

/// Tells an event, unless it is among those that a listener causes and that would lead to no end.
fn nested(topic: Topics, tell: impl FnOnce()) {
    let depth = DEPTH.get();
    // A listener that calls through a limit that is reached is rejected again each time that it hears of a rejection.
    if depth >= DEEPEST || depth > 0 && topic == Topics::REJECTIONS {
        return;
    }
    DEPTH.set(depth + 1);
    // Nothing in it panics: what is foreign is contained.
    tell();
    DEPTH.set(depth);
}

impl List {
    fn wants(&self, topic: Topics) -> bool {
        Topics::from_bits(self.topics.load(Ordering::Relaxed)).meets(topic)
    }

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes other listeners. Returns those before, to be dropped without the lock: their captures are foreign code.
    fn replace(&self, numbered: &mut Numbered, all: Arc<[Entry]>) -> Arc<[Entry]> {
        let topics = all.iter().fold(Topics::NONE, |all, one| all | one.topics);
        self.topics.store(topics.bits(), Ordering::Relaxed);
        std::mem::replace(&mut numbered.all, all)
    }

    fn tell(&self, topic: Topics, event: &Event) {
        if !self.wants(topic) {
            return;
        }
        let listeners = self.lock().all.clone();
        for entry in listeners.iter().filter(|entry| entry.topics.meets(topic)) {
            // There is no caller that could do anything about a panic.
            contained(|| (entry.listener)(event));
        }
        // The last of them, if their subscriptions have ended meanwhile.
        contained(|| drop(listeners));
    }
}

fn subscribe(
    list: &Arc<List>,
    audience: &Arc<Audience>,
    topics: Topics,
    listener: Arc<Listener>,
) -> Subscription {
    if topics.meets(Topics::REJECTIONS) {
        audience.of_rejections.fetch_add(1, Ordering::Relaxed);
    }
    let (number, before);
    {
        let mut numbered = list.lock();
        number = numbered.next;
        numbered.next += 1;
        let added = Entry {
            number,
            topics,
            listener,
        };
        let all = numbered.all.iter().cloned().chain([added]).collect();
        before = list.replace(&mut numbered, all);
    }
    drop(before);
    Subscription {
        list: Arc::downgrade(list),
        audience: Arc::downgrade(audience),
        topics,
        number,
    }
}

/// A listener's place: dropping it ends the subscription.
///
/// A listener that is running when its subscription is dropped still finishes.
#[must_use = "a subscription ends when it is dropped: keep it in a named variable, since `_` drops it at once"]
pub struct Subscription {
    list: Weak<List>,
    audience: Weak<Audience>,
    topics: Topics,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.topics.meets(Topics::REJECTIONS)
            && let Some(audience) = self.audience.upgrade()
        {
            audience.of_rejections.fetch_sub(1, Ordering::Relaxed);
        }
        let Some(list) = self.list.upgrade() else {
            return;
        };
        let dropped;
        {
            let mut numbered = list.lock();
            let all = &numbered.all;
            let left = all.iter().filter(|entry| entry.number != self.number);
            let left = left.cloned().collect();
            dropped = list.replace(&mut numbered, left);
        }
        // Outside the lock: the listener's captures may hold a subscription themselves.
        drop(dropped);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({})", self.number)
    }
}
