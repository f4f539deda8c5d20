//! Models of the queue beside calls that come and go: no slot and no wait gets lost between two threads, whatever the order
//! of what they do.

use std::task::Waker;

use loom::sync::Arc;
use loom::thread;

use super::super::instance::Instance;
use super::super::slots::{AtOnce, Rules};
use super::super::{LimitConfig, queue};
use super::*;
use crate::event::listeners::RegistryListeners;
use crate::outcome::Outcome;
use crate::time::{ManualClock, SharedClock};

struct Limit {
    slots: Slots,
    queue: Queue,
}

impl Limit {
    /// A limit with as many calls in flight.
    fn reached(limit: u32) -> Arc<Self> {
        let rules = Rules {
            enabled: true,
            observed: false,
            queues: true,
        };
        let slots = Slots::new(limit, rules);
        for in_flight in 1..=limit {
            assert_eq!(slots.try_acquire(), AtOnce::Admitted { in_flight });
        }
        let queue = Queue::new(Patience {
            max_wait: 1,
            queue_limit: 10,
        });
        Arc::new(Self { slots, queue })
    }

    fn join(&self) -> Joined {
        self.queue.join(&self.slots, Waker::noop().clone())
    }

    fn waits(&self) -> Ticket {
        match self.join() {
            Joined::Waits(ticket, _) => ticket,
            other => panic!("{other:?}"),
        }
    }

    fn release(&self) {
        if self.slots.release() {
            self.queue.hand_out(&self.slots);
        }
    }

    fn set_limit(&self, limit: u32) {
        self.slots.set_limit(limit);
        if self.slots.awaited() {
            self.queue.hand_out(&self.slots);
        }
    }

    fn leave(&self, ticket: Ticket) {
        if let Some(Called::In(_)) = self.queue.leave(ticket) {
            self.release();
        }
    }

    /// A call that does not wait.
    fn newcomer(&self) -> bool {
        let admission = match self.slots.acquire() {
            AtOnce::Admitted { .. } => return true,
            AtOnce::Full(_) => return false,
            AtOnce::Raced | AtOnce::Unusual => self.queue.acquire_unless_awaited(&self.slots),
        };
        matches!(admission, Admission::Admitted { .. })
    }

    fn has_a_slot(&self, ticket: Ticket) -> bool {
        matches!(
            self.queue.called(ticket),
            Some(Called::In(Admission::Admitted { .. }))
        )
    }
}

type Run = Box<dyn FnOnce(&Limit) + Send>;

/// Runs what is given beside each other on the limit, and waits for all of it.
fn beside<const N: usize>(limit: &Arc<Limit>, runs: [Run; N]) {
    let threads = runs.map(|run| {
        let limit = limit.clone();
        thread::spawn(move || run(&limit))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_slot_given_back_while_one_begins_to_wait_is_that_ones() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let releasing = {
            let limit = limit.clone();
            thread::spawn(move || limit.release())
        };
        let joined = limit.join();
        releasing.join().unwrap();
        match joined {
            Joined::Waits(ticket, _) => assert!(limit.has_a_slot(ticket)),
            Joined::AtOnce(Admission::Admitted { in_flight: 1 }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(limit.slots.in_flight(), 1);
        limit.release();
        assert!(limit.newcomer());
    });
}

#[test]
fn a_limit_raised_while_one_begins_to_wait_lets_it_in() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let raising = {
            let limit = limit.clone();
            thread::spawn(move || limit.set_limit(2))
        };
        let joined = limit.join();
        raising.join().unwrap();
        if let Joined::Waits(ticket, _) = joined {
            assert!(limit.has_a_slot(ticket));
        }
        assert_eq!(limit.slots.in_flight(), 2);
    });
}

#[test]
fn one_that_leaves_as_it_is_called_passes_its_slot_on() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let (leaves, next) = (limit.waits(), limit.waits());
        beside(
            &limit,
            [
                Box::new(|limit: &Limit| limit.release()),
                Box::new(move |limit: &Limit| limit.leave(leaves)),
            ],
        );
        assert!(limit.has_a_slot(next));
        assert_eq!(limit.slots.in_flight(), 1);
    });
}

#[test]
fn one_whose_time_is_up_as_it_is_called_has_the_slot_or_the_next_has_it() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let (late, next) = (limit.waits(), limit.waits());
        beside(
            &limit,
            [
                Box::new(|limit: &Limit| limit.release()),
                Box::new(move |limit: &Limit| limit.queue.expire(late)),
            ],
        );
        match limit.queue.called(late).expect("its wait is over") {
            Called::TimedOut(_) => {}
            Called::In(_) => {
                assert_eq!(limit.queue.called(next), None);
                limit.release();
            }
        }
        assert!(limit.has_a_slot(next));
        assert_eq!(limit.slots.in_flight(), 1);
    });
}

#[test]
fn a_limit_that_falls_beside_slots_given_back_holds_for_those_who_wait() {
    loom::model(|| {
        let limit = Limit::reached(2);
        let (first, second) = (limit.waits(), limit.waits());
        beside(
            &limit,
            [
                Box::new(|limit: &Limit| limit.release()),
                Box::new(|limit: &Limit| limit.set_limit(1)),
            ],
        );
        // One slot was given back: before the limit fell it went to the first, after that to nobody.
        let first_is_in = limit.has_a_slot(first);
        assert_eq!(limit.queue.called(second), None);
        assert_eq!(limit.slots.in_flight(), 1 + u32::from(first_is_in));
        limit.release();
        assert_eq!(limit.has_a_slot(first), !first_is_in);
        limit.release();
        assert!(limit.has_a_slot(second));
        assert_eq!(limit.slots.in_flight(), 1);
    });
}

#[test]
fn nobody_takes_the_slot_ahead_of_the_one_who_waits() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let waits = limit.waits();
        beside(
            &limit,
            [
                Box::new(|limit: &Limit| limit.release()),
                Box::new(|limit: &Limit| assert!(!limit.newcomer(), "barged in")),
            ],
        );
        assert!(limit.has_a_slot(waits));
    });
}

#[test]
fn when_the_last_one_has_left_slots_are_free_for_all() {
    loom::model(|| {
        let limit = Limit::reached(1);
        let waits = limit.waits();
        beside(
            &limit,
            [
                Box::new(|limit: &Limit| limit.release()),
                Box::new(move |limit: &Limit| limit.leave(waits)),
            ],
        );
        assert_eq!(limit.slots.in_flight(), 0);
        assert!(limit.newcomer());
    });
}

fn instance(clock: &ManualClock) -> Instance {
    let config = LimitConfig::new()
        .algorithm("aimd")
        .initial_limit(1)
        .max_wait(std::time::Duration::from_secs(1));
    let Ok(bounds) = config.bounds() else {
        unreachable!("the bounds are in order")
    };
    Instance::new(
        "model".into(),
        config.settle(bounds, None, None).into(),
        SharedClock::Other(std::sync::Arc::new(clock.clone())),
        &RegistryListeners::default(),
    )
}

/// More preemptions than two take hours.
fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(run);
}

#[test]
fn a_thread_that_waits_wakes_up_for_a_slot() {
    model(|| {
        let clock = ManualClock::new();
        let instance = Arc::new(instance(&clock));
        let running = instance.admit().unwrap();
        let waiting = {
            let instance = instance.clone();
            thread::spawn(move || {
                queue::wait(&*instance)
                    .expect("a slot")
                    .complete(Outcome::Success);
            })
        };
        // Whenever it is that this comes: if the thread sleeps on, loom finds that nothing can happen any more.
        instance.end(running, Some(Outcome::Success));
        waiting.join().unwrap();
        assert_eq!(instance.in_flight(), 0);
        assert_eq!(instance.snapshot().counters.succeeded, 2);
    });
}

#[test]
fn a_thread_that_waits_wakes_up_when_its_time_is_up() {
    model(|| {
        let clock = ManualClock::new();
        let instance = Arc::new(instance(&clock));
        let running = instance.admit().unwrap();
        let waiting = {
            let instance = instance.clone();
            thread::spawn(move || queue::wait(&*instance).map(drop).is_err())
        };
        clock.advance(std::time::Duration::from_secs(1));
        // If its wait began after that, it has time left and gets this slot.
        instance.end(running, None);
        let timed_out = waiting.join().unwrap();
        let counters = instance.snapshot().counters;
        assert_eq!(
            (counters.rejected, counters.wait_timed_out),
            (u64::from(timed_out), u64::from(timed_out))
        );
        assert_eq!(instance.in_flight(), 0);
    });
}
