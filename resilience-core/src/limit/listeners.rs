//! Who is told when a limit moves.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::event::Event;
use crate::sync::contained;

type Listener = dyn Fn(&Event) + Send + Sync;

/// The listeners of an instance, or of all instances of a registry. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<List>>);

#[derive(Default)]
struct List {
    next: u64,
    listeners: Arc<[(u64, Arc<Listener>)]>,
}

impl Listeners {
    pub(crate) fn subscribe(
        &self,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = list.next;
        list.next += 1;
        let added: (u64, Arc<Listener>) = (number, Arc::new(listener));
        list.listeners = list.listeners.iter().cloned().chain([added]).collect();
        Subscription {
            list: Arc::downgrade(&self.0),
            number,
        }
    }

    /// Whether no subscription is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .listeners
            .is_empty()
    }

    /// Tells every listener, on this thread and with no lock held. One that panics does not keep the others from it.
    pub(crate) fn tell(&self, event: &Event) {
        let listeners = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .listeners
            .clone();
        for (_, listener) in &*listeners {
            // There is no caller that could do anything about a panic.
            contained(|| listener(event));
        }
        // The last of them, if their subscriptions have ended meanwhile.
        contained(|| drop(listeners));
    }
}

/// A listener's place: dropping it ends the subscription.
///
/// A listener that is running when its subscription is dropped still finishes.
#[must_use = "a subscription ends when it is dropped: keep it in a named variable, since `_` drops it at once"]
pub struct Subscription {
    list: Weak<Mutex<List>>,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(list) = self.list.upgrade() else {
            return;
        };
        let dropped;
        {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            let left = list
                .listeners
                .iter()
                .filter(|(number, _)| *number != self.number)
                .cloned()
                .collect();
            dropped = std::mem::replace(&mut list.listeners, left);
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
