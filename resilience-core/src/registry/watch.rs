//! Reads the sources of a registry again and again.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::instances::Instances;
use crate::sync::contained;

/// A thread that reads the settings from outside again and again; made by [`Registry::watch`](super::Registry::watch).
///
/// It ends when this is dropped, which waits for a reload that is under way. It does not keep the registry alive.
#[must_use = "the files are watched until this is dropped"]
pub struct Watch {
    over: Arc<Over>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Over {
    is: Mutex<bool>,
    changed: Condvar,
}

/// More often than this it does not look: an interval of nothing would keep a processor busy.
const LEAST: Duration = Duration::from_millis(1);

impl Watch {
    pub(crate) fn new(instances: &Arc<Instances>, interval: Duration) -> Self {
        let over = Arc::new(Over::default());
        let (watched, ends) = (Arc::downgrade(instances), over.clone());
        let watch = move || {
            while !ends.within(interval.max(LEAST)) {
                let Some(instances) = watched.upgrade() else {
                    return;
                };
                // The registry tells its listeners what is wrong.
                contained(|| instances.reload(true));
            }
        };
        let thread = thread::Builder::new()
            .name("resilience-watch".to_owned())
            .spawn(watch)
            .expect("the system starts another thread");
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Over {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end. Returns whether it has come within that time.
    fn within(&self, interval: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), interval, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *self.over.lock() = true;
        self.over.changed.notify_all();
        if let Some(thread) = self.thread.take()
            // A listener may drop it, on that very thread.
            && thread.thread().id() != thread::current().id()
        {
            // It cannot panic: what is foreign in it is contained.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
