//! Calls that run beside each other on the test's thread, as far as the clock lets them.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::TestRegistry;
use crate::time::{Clock, nanos};

/// Calls that run beside each other on the test's thread; made by [`TestRegistry::calls`].
///
/// They run when they are started and when the clock is [advanced](Self::advance), each until it waits for something, in the
/// order in which they were started: the same on every run. The clock stops at each moment that one of them waits for, so a
/// call that takes 300 ms has taken 300 ms, also if the clock is advanced by a second. No runtime is needed. Those that need
/// one, for its timers or its sockets, run under that: see the guide.
///
/// # Examples
///
/// ```
/// use resilience::testing::{Script, TestRegistry};
/// use std::time::Duration;
///
/// let test = TestRegistry::new();
/// let index = test.dependency(Script::of([
///     (Duration::from_millis(300), "slow"),
///     (Duration::from_millis(100), "fast"),
/// ]));
/// let calls = test.calls();
/// let (slow, fast) = (calls.start(index.call()), calls.start(index.call()));
/// calls.advance(Duration::from_millis(200));
/// assert_eq!(fast.output(), "fast");
/// assert!(slow.is_pending());
/// ```
pub struct Calls<'a> {
    test: TestRegistry,
    running: RefCell<Vec<Running<'a>>>,
}

/// A call that was started.
struct Running<'a> {
    call: Rc<dyn Run + 'a>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A call, whatever it returns.
trait Run {
    /// Lets it run. Returns whether it has more to do.
    fn run(&self, context: &mut Context<'_>) -> bool;
}

/// A started call: its output, once there is one. Made by [`Calls::start`].
pub struct Call<'a, T>(Rc<State<'a, T>>);

struct State<'a, T> {
    future: RefCell<Option<Pin<Box<dyn Future<Output = T> + 'a>>>>,
    output: RefCell<Option<T>>,
}

/// How often calls are woken while the clock stands still, before they are thought to wake each other without end.
const MOST_ROUNDS: u32 = 100_000;

impl<'a> Calls<'a> {
    pub(super) fn new(test: &TestRegistry) -> Self {
        Self {
            test: test.clone(),
            running: RefCell::default(),
        }
    }

    /// Starts a call, and lets it and the others run until all of them wait.
    ///
    /// # Panics
    ///
    /// As [`advance`](Self::advance).
    #[track_caller]
    pub fn start<F: Future + 'a>(&self, future: F) -> Call<'a, F::Output>
    where
        F::Output: 'a,
    {
        let state = Rc::new(State {
            future: RefCell::new(Some(Box::pin(future))),
            output: RefCell::new(None),
        });
        self.running.borrow_mut().push(Running {
            call: state.clone(),
            woken: Arc::new(Woken(AtomicBool::new(true))),
        });
        self.run();
        Call(state)
    }

    /// Moves the clock on, from one moment that somebody waits for to the next, and lets the calls run at each.
    ///
    /// # Panics
    ///
    /// If a call panics, or if calls wake themselves or each other again and again while the clock stands still.
    #[track_caller]
    pub fn advance(&self, by: Duration) {
        let clock = self.test.clock();
        let end = clock.now().saturating_add(nanos(by));
        self.run();
        while let Some(next) = clock.next_wake().filter(|next| *next <= end) {
            clock.advance_to(next);
            self.run();
        }
        clock.advance_to(end);
        self.run();
    }

    /// Lets the calls run until all of them wait, as after something else than the clock has woken one.
    ///
    /// # Panics
    ///
    /// As [`advance`](Self::advance).
    #[track_caller]
    pub fn run(&self) {
        for _ in 0..MOST_ROUNDS {
            if !self.run_each() {
                return;
            }
        }
        panic!("calls wake themselves again and again while the clock stands still");
    }

    /// Lets each call run that was woken. Returns whether there was one.
    fn run_each(&self) -> bool {
        let mut ran = false;
        let mut at = 0;
        loop {
            // Not borrowed while a call runs: it may start others.
            let next = {
                let running = self.running.borrow();
                let Some(next) = running.get(at) else {
                    return ran;
                };
                let woken = next.woken.0.swap(false, Ordering::Acquire);
                woken.then(|| (next.call.clone(), Waker::from(next.woken.clone())))
            };
            let mut goes_on = true;
            if let Some((call, waker)) = next {
                ran = true;
                let mut context = Context::from_waker(&waker);
                goes_on = self.test.scope(|| call.run(&mut context));
            }
            if goes_on {
                at += 1;
            } else {
                self.running.borrow_mut().remove(at);
            }
        }
    }
}

impl<T> Run for State<'_, T> {
    fn run(&self, context: &mut Context<'_>) -> bool {
        // Out of its place while it runs: it may be cancelled from within.
        let Some(mut future) = self.future.take() else {
            return false;
        };
        match future.as_mut().poll(context) {
            Poll::Pending => {
                *self.future.borrow_mut() = Some(future);
                true
            }
            Poll::Ready(output) => {
                *self.output.borrow_mut() = Some(output);
                false
            }
        }
    }
}

impl<T> Call<'_, T> {
    /// Returns whether it goes on.
    pub fn is_pending(&self) -> bool {
        self.0.future.borrow().is_some()
    }

    /// Returns what it returned.
    ///
    /// # Panics
    ///
    /// If it has not ended: the clock must be advanced further.
    #[track_caller]
    pub fn output(self) -> T {
        let output = self.0.output.take();
        output.expect("the call has not ended: it waits for the clock or for something else")
    }

    /// Cancels it, as a time-out around it or a client that hangs up would: what is left of it is dropped.
    pub fn cancel(self) {
        drop(self.0.future.take());
    }
}

impl fmt::Debug for Calls<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("running", &self.running.borrow().len())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Call<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("pending", &self.is_pending())
            .finish_non_exhaustive()
    }
}
