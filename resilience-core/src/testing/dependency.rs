//! A dependency that keeps to a script, on a clock that the test moves.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use super::Script;
use crate::time::{Alarm, Clock, ManualClock, nanos};

/// A dependency that takes as long and answers as its script says, on a clock that the test moves. Clones are the same.
///
/// A call is pending until the clock has been advanced by its latency. Under [`Calls`](super::Calls) and any runtime:
/// [`call`](Self::call). For sync code either [`call_blocking`](Self::call_blocking), on threads of their own, or
/// [`call_advancing`](Self::call_advancing), where one call after the other is enough.
///
/// # Examples
///
/// ```
/// use resilience::testing::{Script, TestRegistry};
/// use std::time::Duration;
///
/// let test = TestRegistry::new();
/// let index = test.dependency(Script::of([(Duration::from_secs(1), Ok(7)), (Duration::ZERO, Err("refused"))]));
/// let calls = test.calls();
/// let call = calls.start(index.call());
/// assert_eq!((index.begun(), index.pending()), (1, 1));
/// calls.advance(Duration::from_secs(1));
/// assert_eq!(call.output(), Ok(7));
/// assert_eq!(index.call_advancing(), Err("refused"));
/// ```
pub struct Dependency<T>(Arc<Shared<T>>);

struct Shared<T> {
    clock: ManualClock,
    state: Mutex<State<T>>,
    begins_or_ends: Condvar,
}

struct State<T> {
    script: Script<T>,
    begun: u64,
    pending: usize,
}

impl<T> Dependency<T> {
    /// Returns a dependency on that clock.
    pub fn new(clock: &ManualClock, script: Script<T>) -> Self {
        Self(Arc::new(Shared {
            clock: clock.clone(),
            state: Mutex::new(State {
                script,
                begun: 0,
                pending: 0,
            }),
            begins_or_ends: Condvar::new(),
        }))
    }

    /// Calls it: the future is ready when the clock has been advanced by the latency. The call begins at the first poll.
    ///
    /// # Panics
    ///
    /// When polled, if the script is over.
    pub async fn call(&self) -> T {
        let pending = self.begin();
        sleep_until(&self.0.clock, pending.ends).await;
        pending.answer()
    }

    /// Calls it and blocks the thread until another one has advanced the clock by the latency.
    ///
    /// # Panics
    ///
    /// If the script is over.
    #[track_caller]
    pub fn call_blocking(&self) -> T {
        let pending = self.begin();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let _alarm = self.0.clock.wake_at(pending.ends, waker);
        while self.0.clock.now() < pending.ends {
            thread::park();
        }
        pending.answer()
    }

    /// Calls it and advances the clock by the latency itself: for tests in which one call runs at a time.
    ///
    /// # Panics
    ///
    /// If the script is over.
    #[track_caller]
    pub fn call_advancing(&self) -> T {
        let pending = self.begin();
        self.0.clock.advance_to(pending.ends);
        pending.answer()
    }

    /// Returns how many calls have begun.
    pub fn begun(&self) -> u64 {
        self.0.lock().begun
    }

    /// Returns how many calls are pending.
    pub fn pending(&self) -> usize {
        self.0.lock().pending
    }

    /// Blocks the thread until so many calls are pending, which other threads make.
    pub fn wait_until_pending(&self, calls: usize) {
        let state = self.0.lock();
        let waited = self
            .0
            .begins_or_ends
            .wait_while(state, |state| state.pending != calls);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    #[track_caller]
    fn begin(&self) -> Pending<'_, T> {
        let mut state = self.0.lock();
        state.begun += 1;
        let number = state.begun;
        let Some((latency, answer)) = state.script.next() else {
            drop(state);
            panic!("the script of the dependency is over, and this is call {number}");
        };
        // Read before anybody can see the call as pending: whoever does may move the clock.
        let ends = self.0.clock.now().saturating_add(nanos(latency));
        state.pending += 1;
        drop(state);
        self.0.begins_or_ends.notify_all();
        Pending {
            dependency: &self.0,
            ends,
            answer: Some(answer),
        }
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A script is foreign code; one that panics has answered nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that has begun. Dropped, as when it is cancelled, it is no longer pending.
struct Pending<'a, T> {
    dependency: &'a Shared<T>,
    ends: u64,
    answer: Option<T>,
}

impl<T> Pending<'_, T> {
    fn answer(mut self) -> T {
        self.answer.take().expect("there is one until here")
    }
}

impl<T> Drop for Pending<'_, T> {
    fn drop(&mut self) {
        self.dependency.lock().pending -= 1;
        self.dependency.begins_or_ends.notify_all();
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Returns a future that is ready when the clock has been advanced that far from the time at which this is called.
///
/// For fakes of your own, and for tasks of a test that act at some moment.
///
/// # Examples
///
/// ```
/// use resilience::testing::{TestRegistry, sleep};
/// use std::time::Duration;
///
/// let test = TestRegistry::new();
/// let calls = test.calls();
/// let call = calls.start(sleep(test.clock(), Duration::from_secs(2)));
/// calls.advance(Duration::from_secs(1));
/// assert!(call.is_pending());
/// calls.advance(Duration::from_secs(1));
/// assert!(!call.is_pending());
/// ```
pub fn sleep(clock: &ManualClock, duration: Duration) -> Sleep {
    sleep_until(clock, clock.now().saturating_add(nanos(duration)))
}

fn sleep_until(clock: &ManualClock, instant: u64) -> Sleep {
    Sleep {
        clock: clock.clone(),
        instant,
        alarm: None,
    }
}

/// A future that is ready when the clock has been advanced far enough; made by [`sleep`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    clock: ManualClock,
    instant: u64,
    alarm: Option<Alarm>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Set before the clock is read, so that no move is missed.
        let alarm = (self.clock).wake_at(self.instant, context.waker().clone());
        self.alarm = Some(alarm);
        if self.clock.now() >= self.instant {
            self.alarm = None;
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<T> Clone for Dependency<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Dependency<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Dependency")
            .field("begun", &state.begun)
            .field("pending", &state.pending)
            .finish_non_exhaustive()
    }
}
