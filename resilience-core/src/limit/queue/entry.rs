//! A call on its way in: it takes a slot at once, or waits for one.

use std::ops::Deref;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::{Called, Expiry, Joined, Ticket};
use crate::error::Error;
use crate::limit::instance::{Admitted, Instance};
use crate::limit::permit::Guard;
use crate::limit::slots::AtOnce;
use crate::sync::thread::{self, Thread};

/// A call that asks for a slot when it is first polled, waits for it if it may, and keeps it between polls.
///
/// Dropped, it gives up its place in the queue or gives back its slot.
#[derive(Debug)]
pub(crate) struct Entry<I: Deref<Target = Instance>> {
    instance: I,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// It has not asked.
    Outside,
    Waiting(Ticket),
    /// It is admitted, and nobody polls it.
    Inside(Admitted),
    /// Over, or somebody else holds what it had.
    Over,
}

impl<I: Deref<Target = Instance>> Entry<I> {
    #[inline]
    pub(crate) fn new(instance: I) -> Self {
        Self {
            instance,
            state: State::Outside,
        }
    }

    /// Hands over the slot, once there is one.
    ///
    /// # Panics
    ///
    /// If it was ready before and has got nothing [to keep](Self::keep) since.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Guard<&Instance>, Error>> {
        let state = self.state;
        self.state = State::Over;
        match state {
            State::Inside(call) => Poll::Ready(Ok(Guard::of(&*self.instance, call))),
            // What is usual is told apart here, so that it stays in registers.
            State::Outside => match self.instance.slots().try_acquire() {
                AtOnce::Admitted { in_flight } => {
                    let call = self.instance.start(in_flight);
                    Poll::Ready(Ok(Guard::of(&*self.instance, call)))
                }
                AtOnce::Full(full) if !full.queues => {
                    Poll::Ready(Err(self.instance.rejection(full)))
                }
                _ => self.enter(context.waker()),
            },
            State::Waiting(ticket) => self.wait(ticket, context.waker()),
            State::Over => panic!("a limited future was polled after it was ready or had panicked"),
        }
    }

    pub(crate) fn instance(&self) -> &I {
        &self.instance
    }

    /// Keeps what was handed over.
    #[inline]
    pub(crate) fn keep(&mut self, call: Admitted) {
        self.state = State::Inside(call);
    }

    /// The way in at a limit that is not simply in force, or has calls wait.
    #[cold]
    fn enter(&mut self, waker: &Waker) -> Poll<Result<Guard<&Instance>, Error>> {
        match self.instance.admit() {
            Ok(call) => Poll::Ready(Ok(Guard::of(&*self.instance, call))),
            Err(full) if full.queues => self.join(waker),
            Err(full) => Poll::Ready(Err(self.instance.rejection(full))),
        }
    }

    fn join(&mut self, waker: &Waker) -> Poll<Result<Guard<&Instance>, Error>> {
        let (ticket, deadline) = match place(&self.instance, waker) {
            Ok(Place::None(call)) => {
                return Poll::Ready(Ok(Guard::of(&*self.instance, call)));
            }
            Ok(Place::Of(ticket, deadline)) => (ticket, deadline),
            Err(error) => return Poll::Ready(Err(error)),
        };
        // From here on it gives up the place if it is dropped, also if the clock panics.
        self.state = State::Waiting(ticket);
        set_alarm(&self.instance, ticket, deadline);
        Poll::Pending
    }

    #[cold]
    fn wait(&mut self, ticket: Ticket, waker: &Waker) -> Poll<Result<Guard<&Instance>, Error>> {
        // Until it is known how the wait ended, it gives up the place if it is dropped: a waker may panic.
        self.state = State::Waiting(ticket);
        match self.instance.queue().called_or_wakes(ticket, waker) {
            None => Poll::Pending,
            Some(called) => {
                self.state = State::Over;
                Poll::Ready(begin(&self.instance, called))
            }
        }
    }
}

impl<I: Deref<Target = Instance>> Drop for Entry<I> {
    #[inline]
    fn drop(&mut self) {
        match self.state {
            State::Waiting(ticket) => self.instance.leave(ticket),
            State::Inside(call) if call.is_counted() => self.instance.cancel(call),
            _ => {}
        }
    }
}

/// Takes a slot, and has the thread wait for it if it may.
#[expect(
    clippy::inline_always,
    reason = "out of line, all there is to a call and to a rejection goes through memory"
)]
#[inline(always)]
pub(crate) fn wait<I: Deref<Target = Instance>>(instance: I) -> Result<Guard<I>, Error> {
    // What is usual is told apart here, so that it stays in registers.
    match instance.slots().try_acquire() {
        AtOnce::Admitted { in_flight } => {
            let call = instance.start(in_flight);
            Ok(Guard::of(instance, call))
        }
        AtOnce::Full(full) if !full.queues => Err(instance.rejection(full)),
        _ => {
            let call = enter(&instance)?;
            Ok(Guard::of(instance, call))
        }
    }
}

/// The way in at a limit that is not simply in force, or has calls wait.
#[cold]
fn enter(instance: &Instance) -> Result<Admitted, Error> {
    match instance.admit() {
        Ok(call) => Ok(call),
        Err(full) if full.queues => block(instance),
        Err(full) => Err(instance.rejection(full)),
    }
}

/// The rest of [`wait`] for a call that found no slot.
fn block(instance: &Instance) -> Result<Admitted, Error> {
    let parked = Waker::from(Arc::new(Parked(thread::current())));
    let (ticket, deadline) = match place(instance, &parked)? {
        Place::None(call) => return Ok(call),
        Place::Of(ticket, deadline) => (ticket, deadline),
    };
    // Gives up the place if the clock panics.
    let mut entry = Entry {
        instance,
        state: State::Waiting(ticket),
    };
    // A thread wakes up by itself where the machine's time is what counts.
    let by_itself = instance.clock().is_the_systems();
    if !by_itself {
        set_alarm(instance, ticket, deadline);
    }
    loop {
        if let Some(called) = instance.queue().called(ticket) {
            entry.state = State::Over;
            return begin(instance, called).map(Guard::suspend);
        }
        if !by_itself {
            thread::park();
            continue;
        }
        match deadline.saturating_sub(instance.clock().now()) {
            0 => instance.queue().expire(ticket),
            left => thread::park_timeout(Duration::from_nanos(left)),
        }
    }
}

/// Wakes a thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

enum Place {
    /// It is admitted without one.
    None(Admitted),
    /// It waits until that instant at most.
    Of(Ticket, u64),
}

/// Takes a place in the queue, unless there is a slot by now.
fn place(instance: &Instance, waker: &Waker) -> Result<Place, Error> {
    // Before others can see it wait: who sees that, and moves a clock on by as long as it may wait, ends the wait.
    let asked = instance.clock().now();
    match instance.queue().join(instance.slots(), waker.clone()) {
        Joined::Waits(ticket, max_wait) => Ok(Place::Of(ticket, asked.saturating_add(max_wait))),
        Joined::AtOnce(admission) => match instance.begin(admission) {
            Ok(call) => Ok(Place::None(call)),
            Err(full) => Err(instance.rejection(full)),
        },
        Joined::QueueFull(full, queue_limit) => Err(instance.queue_full(full, queue_limit)),
    }
}

fn set_alarm(instance: &Instance, ticket: Ticket, deadline: u64) {
    let waker = Expiry::waker(instance.queue(), ticket);
    let alarm = instance.clock().wake_at(deadline, waker);
    instance.queue().keep(ticket, alarm);
}

/// Begins a call whose wait is over.
fn begin(instance: &Instance, called: Called) -> Result<Guard<&Instance>, Error> {
    match called {
        Called::In(admission) => match instance.begin(admission) {
            Ok(call) => Ok(Guard::of(instance, call)),
            Err(full) => Err(instance.rejection(full)),
        },
        Called::TimedOut(after) => Err(instance.wait_timed_out(after)),
    }
}
