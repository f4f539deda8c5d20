//! Those who wait for a slot, first in first out.
//!
//! Slots are admission, and the queue is a layer over it: while nobody waits, no call comes here. Whoever has to wait takes
//! the lock, and marks the word of the slots before it lets go of the lock. From then on nobody takes a slot from the word
//! but by the queue, and whoever gives one back, or makes room by another limit, comes here to hand it out. A slot that is
//! handed out is taken at that moment, for the one who waits; it begins its call when it next runs.
//!
//! The mark may outlast the last one who waited, and then costs one call a look here. It is set and taken away under the lock
//! alone.

mod entry;
#[cfg(all(test, loom))]
mod models;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Wake, Waker};

pub(crate) use entry::{Entry, wait};

use super::slots::{Admission, Full, Slots};
use crate::sync::{Mutex, contained, lock};
use crate::time::Alarm;

/// The queue of one limit.
#[derive(Debug)]
pub(crate) struct Queue(Mutex<Line>);

/// Which of those who wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// How long and how many may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// In nanoseconds; 0 if none waits.
    pub(crate) max_wait: u64,
    pub(crate) queue_limit: u32,
}

/// What has happened to calls that could not have a slot at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// Calls that began to wait.
    pub(crate) queued: u64,
    /// Of them, those whose time was up.
    pub(crate) timed_out: u64,
    /// Of them, those that were dropped before they began.
    pub(crate) cancelled: u64,
    /// Calls that found the queue full.
    pub(crate) found_full: u64,
}

struct Line {
    patience: Patience,
    waits: Waits,
    /// In the order of their tickets, which is that in which they came.
    waiting: BTreeMap<Ticket, Waiting>,
    /// Those that wait no more and have not been told yet.
    called: BTreeMap<Ticket, Called>,
}

#[derive(Debug)]
struct Waiting {
    waker: Waker,
    /// How long it may wait, in nanoseconds.
    max_wait: u64,
    /// Rings when its time is up.
    alarm: Option<Alarm>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// With a slot, or because none is needed.
    In(Admission),
    /// After so many nanoseconds.
    TimedOut(u64),
}

/// The answer to a call that would wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// It need not, or must not since the settings have changed.
    AtOnce(Admission),
    /// It does, for at most so many nanoseconds.
    Waits(Ticket, u64),
    /// As many wait as may.
    QueueFull(Full, u32),
}

impl Queue {
    pub(crate) fn new(patience: Patience) -> Self {
        Self(Mutex::new(Line {
            patience,
            waits: Waits::default(),
            waiting: BTreeMap::new(),
            called: BTreeMap::new(),
        }))
    }

    /// For those who begin to wait from now on.
    pub(crate) fn set_patience(&self, patience: Patience) {
        lock(&self.0).patience = patience;
    }

    /// How many wait, and what has become of those before.
    pub(crate) fn seen(&self) -> (u32, Waits) {
        let line = lock(&self.0);
        (line.waiting.len() as u32, line.waits)
    }

    /// Takes a slot for a call that does not wait, unless somebody does.
    pub(crate) fn acquire_unless_awaited(&self, slots: &Slots) -> Admission {
        let line = lock(&self.0);
        if !line.waiting.is_empty() {
            return slots.pass();
        }
        slots.nobody_waits();
        slots.acquire_first()
    }

    /// Takes a slot if one is free and nobody waits, else takes a place in the queue. `waker` is woken when the wait is over.
    pub(crate) fn join(&self, slots: &Slots, waker: Waker) -> Joined {
        let mut line = lock(&self.0);
        let Patience {
            max_wait,
            queue_limit,
        } = line.patience;
        let admission = match (line.waiting.is_empty(), max_wait) {
            (false, _) => slots.pass(),
            (true, 0) => slots.acquire_first(),
            (true, _) => slots.acquire_or_await(),
        };
        let full = match admission {
            Admission::Full(full) if max_wait != 0 => full,
            _ => return Joined::AtOnce(admission),
        };
        if line.waiting.len() >= queue_limit as usize {
            line.waits.found_full += 1;
            return Joined::QueueFull(full, queue_limit);
        }
        line.waits.queued += 1;
        let ticket = Ticket(line.waits.queued);
        let waiting = Waiting {
            waker,
            max_wait,
            alarm: None,
        };
        line.waiting.insert(ticket, waiting);
        Joined::Waits(ticket, max_wait)
    }

    /// Keeps the alarm for as long as its owner waits.
    pub(crate) fn keep(&self, ticket: Ticket, alarm: Alarm) {
        let mut line = lock(&self.0);
        if let Some(waiting) = line.waiting.get_mut(&ticket) {
            waiting.alarm = Some(alarm);
        } else {
            // With the lock free: it has a lock of its own.
            drop(line);
            drop(alarm);
        }
    }

    /// Whether the wait is over, and how. The ticket is void then.
    pub(crate) fn called(&self, ticket: Ticket) -> Option<Called> {
        lock(&self.0).called.remove(&ticket)
    }

    /// As [`called`](Self::called). If it is not over, `waker` is woken when it is.
    pub(crate) fn called_or_wakes(&self, ticket: Ticket, waker: &Waker) -> Option<Called> {
        {
            let mut line = lock(&self.0);
            if let Some(called) = line.called.remove(&ticket) {
                return Some(called);
            }
            let waiting = line.waiting.get(&ticket)?;
            if waiting.waker.will_wake(waker) {
                return None;
            }
        }
        // A waker is foreign code, which is made and dropped with no lock held.
        let mut waker = waker.clone();
        let mut line = lock(&self.0);
        if let Some(waiting) = line.waiting.get_mut(&ticket) {
            std::mem::swap(&mut waiting.waker, &mut waker);
        }
        line.called.remove(&ticket)
    }

    /// Ends the wait of one whose time is up, unless it is over.
    pub(crate) fn expire(&self, ticket: Ticket) {
        let waiting = {
            let mut line = lock(&self.0);
            let waiting = line.waiting.remove(&ticket);
            if let Some(Waiting { max_wait, .. }) = waiting {
                line.waits.timed_out += 1;
                line.called.insert(ticket, Called::TimedOut(max_wait));
            }
            waiting
        };
        wake(waiting);
    }

    /// Gives up a place. Returns how the wait had ended, if it had: a slot that was handed out is the caller's to give back.
    pub(crate) fn leave(&self, ticket: Ticket) -> Option<Called> {
        let mut line = lock(&self.0);
        let waiting = line.waiting.remove(&ticket);
        let called = line.called.remove(&ticket);
        if !matches!(called, Some(Called::TimedOut(_))) {
            line.waits.cancelled += 1;
        }
        drop(line);
        // Its waker is foreign code, and so dropped with the lock free.
        contained(|| drop(waiting));
        called
    }

    /// Hands out the slots that are free to those who wait, in their order.
    #[cold]
    pub(crate) fn hand_out(&self, slots: &Slots) {
        // Wakers are foreign code, so they are called with no lock held: a few at a time, which is one on most occasions.
        const AT_ONCE: usize = 8;
        loop {
            let mut next: [Option<Waiting>; AT_ONCE] = [const { None }; AT_ONCE];
            let served = self.serve(slots, &mut next);
            next.into_iter().for_each(wake);
            if served < AT_ONCE {
                return;
            }
        }
    }

    fn serve(&self, slots: &Slots, next: &mut [Option<Waiting>]) -> usize {
        let mut line = lock(&self.0);
        for (served, place) in next.iter_mut().enumerate() {
            let Some(first) = line.waiting.first_entry() else {
                slots.nobody_waits();
                return served;
            };
            let admission = slots.acquire_first();
            if matches!(admission, Admission::Full(_)) {
                return served;
            }
            let (ticket, waiting) = first.remove_entry();
            line.called.insert(ticket, Called::In(admission));
            *place = Some(waiting);
        }
        next.len()
    }
}

fn wake(waiting: Option<Waiting>) {
    if let Some(Waiting { waker, alarm, .. }) = waiting {
        contained(|| waker.wake());
        drop(alarm);
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// What an alarm does when it rings: the wait is over at that very moment, whenever its owner runs next.
pub(crate) struct Expiry {
    queue: Arc<Queue>,
    ticket: Ticket,
}

impl Expiry {
    pub(crate) fn waker(queue: &Arc<Queue>, ticket: Ticket) -> Waker {
        let queue = queue.clone();
        Arc::new(Self { queue, ticket }).into()
    }
}

impl Wake for Expiry {
    fn wake(self: Arc<Self>) {
        self.queue.expire(self.ticket);
    }
}
