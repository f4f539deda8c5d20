//! Who is to be woken at which moment of a clock.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::sync::contained;

/// Who is to be woken at which moment of a clock: for a [`Clock`](super::Clock) whose time somebody moves.
///
/// Such a clock sets an alarm for each [`wake_at`](super::Clock::wake_at), and rings whenever it has moved. Clones are the
/// same alarms.
///
/// # Examples
///
/// A clock that jumps:
///
/// ```
/// use resilience::time::{Alarm, Alarms, Clock};
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::task::Waker;
///
/// #[derive(Default)]
/// struct Jumping {
///     now: AtomicU64,
///     alarms: Alarms,
/// }
///
/// impl Jumping {
///     fn jump(&self, to: u64) {
///         self.now.store(to, Ordering::SeqCst);
///         self.alarms.ring(to);
///     }
/// }
///
/// impl Clock for Jumping {
///     fn now(&self) -> u64 {
///         self.now.load(Ordering::SeqCst)
///     }
///     fn wake_at(&self, instant: u64, waker: Waker) -> Alarm {
///         let alarm = self.alarms.set(instant, waker);
///         // It may have jumped meanwhile.
///         self.alarms.ring(self.now());
///         alarm
///     }
/// }
///
/// let clock = Jumping::default();
/// let alarm = clock.wake_at(5, Waker::noop().clone());
/// assert_eq!(clock.alarms.next(), Some(5));
/// clock.jump(7);
/// assert_eq!(clock.alarms.next(), None);
/// # drop(alarm);
/// ```
#[derive(Clone, Default)]
pub struct Alarms(Arc<Mutex<Set>>);

#[derive(Default)]
struct Set {
    /// How many were set, which tells apart those for the same moment.
    count: u64,
    due: BTreeMap<(u64, u64), Waker>,
}

impl Alarms {
    /// Returns a set of alarms with none in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has `waker` woken when the clock reads `instant` or more, unless the alarm is dropped before.
    pub fn set(&self, instant: u64, waker: Waker) -> Alarm {
        let mut set = self.lock();
        set.count += 1;
        let key = (instant, set.count);
        set.due.insert(key, waker);
        Alarm {
            set: self.clone(),
            key,
        }
    }

    /// Wakes whoever waits for `now` or an earlier moment, in the order of the moments. A waker that panics keeps none
    /// after it from being woken.
    pub fn ring(&self, now: u64) {
        loop {
            // One at a time and with no lock held: who is woken may set or drop alarms.
            let waker = {
                let mut set = self.lock();
                match set.due.first_entry() {
                    Some(first) if first.key().0 <= now => first.remove(),
                    _ => return,
                }
            };
            contained(|| waker.wake());
        }
    }

    /// Returns the moment of the first alarm.
    pub fn next(&self) -> Option<u64> {
        self.lock()
            .due
            .first_key_value()
            .map(|((instant, _), _)| *instant)
    }

    fn lock(&self) -> MutexGuard<'_, Set> {
        // No foreign code runs under the lock, so nothing is half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Alarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarms")
            .field("next", &self.next())
            .finish_non_exhaustive()
    }
}

/// An alarm that was set. Dropped, it does not ring any more.
#[derive(Debug)]
#[must_use = "an alarm that is dropped does not ring"]
pub struct Alarm {
    set: Alarms,
    key: (u64, u64),
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // The waker is dropped with the lock free.
        let waker = self.set.lock().due.remove(&self.key);
        contained(|| drop(waker));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::Wake;

    use super::*;

    struct Rung(AtomicU64);

    impl Wake for Rung {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn rings_what_is_due_and_not_what_was_dropped() {
        let alarms = Alarms::new();
        let rung: [_; 3] = std::array::from_fn(|_| Arc::new(Rung(AtomicU64::new(0))));
        let [first, dropped, last] =
            [5, 6, 7].map(|at| alarms.set(at, rung[at as usize - 5].clone().into()));
        drop(dropped);
        alarms.ring(4);
        let rings = || rung.each_ref().map(|rung| rung.0.load(Ordering::Relaxed));
        assert_eq!((rings(), alarms.next()), ([0, 0, 0], Some(5)));
        alarms.ring(6);
        assert_eq!((rings(), alarms.next()), ([1, 0, 0], Some(7)));
        alarms.ring(u64::MAX);
        alarms.ring(u64::MAX);
        assert_eq!((rings(), alarms.next()), ([1, 0, 1], None));
        drop((first, last));
    }

    #[test]
    fn a_waker_that_panics_keeps_none_from_being_woken() {
        struct Panics;
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                panic!("a waker's own panic");
            }
        }
        let alarms = Alarms::new();
        let rung = Arc::new(Rung(AtomicU64::new(0)));
        let _alarms = [
            alarms.set(1, Arc::new(Panics).into()),
            alarms.set(1, rung.clone().into()),
        ];
        alarms.ring(1);
        assert_eq!(rung.0.load(Ordering::Relaxed), 1);
    }
}
