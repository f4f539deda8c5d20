//! Calls that wait for a slot: who gets one and when, who does not, and that nothing is lost on the way.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use resilience::limit::{Acquire, AdaptiveLimit, LimitConfig, Permit};
use resilience::registry::Registry;
use resilience::time::{Alarm, Clock, ManualClock};
use resilience::{Error, Outcome};

use crate::support::{limit, millis, recorded, seconds};

pub(crate) fn waits(limit: u32) -> LimitConfig {
    LimitConfig::new()
        .initial_limit(limit)
        .min_limit(limit)
        .max_limit(limit)
        .max_wait(seconds(1))
}

/// A future that is polled by hand, and whether it was woken since.
pub(crate) struct Polled<'a> {
    future: Pin<Box<Acquire<'a>>>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<'a> Polled<'a> {
    pub(crate) fn new(limit: &'a AdaptiveLimit) -> Self {
        Self {
            future: Box::pin(limit.acquire_async()),
            woken: Arc::default(),
        }
    }

    /// Begins to wait.
    fn waiting(limit: &'a AdaptiveLimit) -> Self {
        let mut polled = Self::new(limit);
        assert!(polled.poll().is_pending(), "did not wait");
        polled
    }

    pub(crate) fn poll(&mut self) -> Poll<Result<Permit<'a>, Error>> {
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn was_woken(&self) -> bool {
        self.woken.0.swap(false, Ordering::SeqCst)
    }

    /// Is woken, and has got a slot.
    fn admitted(&mut self) -> Permit<'a> {
        assert!(self.was_woken(), "not woken");
        match self.poll() {
            Poll::Ready(admitted) => admitted.expect("a slot"),
            Poll::Pending => panic!("woken for nothing"),
        }
    }

    /// Is woken, and has got none.
    fn rejected(&mut self) -> Error {
        assert!(self.was_woken(), "not woken");
        match self.poll() {
            Poll::Ready(admitted) => admitted.expect_err("no slot"),
            Poll::Pending => panic!("woken for nothing"),
        }
    }

    fn goes_on_waiting(&mut self) -> bool {
        !self.was_woken() && self.poll().is_pending()
    }
}

fn queued(limit: &AdaptiveLimit) -> u32 {
    limit.snapshot().queued
}

/// Lets other threads run until so many wait.
fn until_queued(limit: &AdaptiveLimit, calls: u32) {
    while queued(limit) != calls {
        std::thread::yield_now();
    }
}

#[test]
fn without_max_wait_nobody_waits() {
    let (limit, _clock) = limit(waits(1).max_wait(seconds(0)).queue_limit(5));
    let _held = limit.acquire().unwrap();
    let mut polled = Polled::new(&limit);
    let Poll::Ready(Err(error)) = polled.poll() else {
        panic!("waits")
    };
    assert_eq!(error.code().as_str(), "R4C-CALL-001");
    assert!(!error.is_queue_full() && !error.is_wait_timed_out());
    assert_eq!(limit.acquire().unwrap_err().code().as_str(), "R4C-CALL-001");
    assert_eq!(limit.snapshot().counters.rejected, 2);
}

#[test]
fn slots_go_to_those_who_wait_in_the_order_in_which_they_came() {
    let (limit, _clock) = limit(waits(2));
    let held = [limit.try_acquire().unwrap(), limit.try_acquire().unwrap()];
    let mut waiting: Vec<_> = (0..5).map(|_| Polled::waiting(&limit)).collect();
    assert_eq!((queued(&limit), limit.in_flight()), (5, 2));
    let [first, second] = held;
    first.complete(Outcome::Success);
    second.complete(Outcome::Success);
    let mut order = Vec::new();
    let mut running = std::collections::VecDeque::new();
    loop {
        for (number, polled) in waiting.iter_mut().enumerate() {
            if polled.was_woken() {
                order.push(number);
                let Poll::Ready(Ok(permit)) = polled.poll() else {
                    panic!("woken for nothing")
                };
                running.push_back(permit);
            }
        }
        assert!(limit.in_flight() <= 2);
        let Some(permit) = running.pop_front() else {
            break;
        };
        permit.complete(Outcome::Success);
    }
    assert_eq!(order, [0, 1, 2, 3, 4]);
    let snapshot = limit.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.queued), (0, 0));
    assert_eq!(
        (snapshot.counters.admitted, snapshot.counters.queued),
        (7, 5)
    );
}

#[test]
fn threads_and_tasks_wait_in_one_queue() {
    let (limit, _clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let order = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let mut first = Polled::waiting(&limit);
        let thread = scope.spawn(|| {
            let permit = limit.acquire().unwrap();
            order.lock().unwrap().push("thread");
            permit.complete(Outcome::Success);
        });
        until_queued(&limit, 2);
        let mut last = Polled::waiting(&limit);
        held.complete(Outcome::Success);
        let permit = first.admitted();
        assert!(last.goes_on_waiting());
        order.lock().unwrap().push("first task");
        permit.complete(Outcome::Success);
        thread.join().unwrap();
        let permit = last.admitted();
        order.lock().unwrap().push("last task");
        permit.complete(Outcome::Success);
    });
    assert_eq!(
        order.into_inner().unwrap(),
        ["first task", "thread", "last task"]
    );
}

#[test]
fn nobody_takes_a_slot_ahead_of_those_who_wait() {
    let (limit, _clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let mut waiting = Polled::waiting(&limit);
    held.complete(Outcome::Success);
    // The slot is the waiting one's from that moment, though it has not run yet.
    assert!(limit.try_acquire().is_err());
    assert_eq!((limit.in_flight(), queued(&limit)), (1, 0));
    drop(waiting.admitted());
    drop(limit.try_acquire().unwrap());
}

#[test]
fn a_call_waits_as_long_as_it_may_and_no_longer() {
    let (limit, clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let mut first = Polled::waiting(&limit);
    clock.advance(millis(400));
    let mut second = Polled::waiting(&limit);
    clock.advance(millis(599));
    assert!(first.goes_on_waiting());
    clock.advance(millis(1));
    assert_eq!(queued(&limit), 1);
    let error = first.rejected();
    assert!(error.is_limit_exceeded() && error.is_wait_timed_out());
    assert!(!error.is_timed_out() && !error.is_queue_full());
    assert_eq!(error.code().as_str(), "R4C-CALL-005");
    assert_eq!((error.limit(), error.in_flight()), (Some(1), Some(1)));
    assert_eq!(
        error.to_string(),
        "limit of `tested` exceeded, and no slot came free within 1s: 1 in flight, limit 1"
    );
    assert!(second.goes_on_waiting());
    held.complete(Outcome::Success);
    drop(second.admitted());
    let counters = limit.snapshot().counters;
    assert_eq!(
        (counters.queued, counters.wait_timed_out, counters.rejected),
        (2, 1, 1)
    );
}

#[test]
fn one_whose_time_is_up_gets_no_slot_even_if_it_has_not_run_since() {
    let (limit, clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let (mut late, mut next) = (Polled::waiting(&limit), {
        clock.advance(millis(10));
        Polled::waiting(&limit)
    });
    clock.advance(millis(990));
    held.complete(Outcome::Success);
    assert!(late.rejected().is_wait_timed_out());
    drop(next.admitted());
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn one_that_got_a_slot_in_time_has_it_however_late_it_runs() {
    let (limit, clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let mut waiting = Polled::waiting(&limit);
    held.complete(Outcome::Success);
    clock.advance(seconds(10));
    waiting.admitted().complete(Outcome::Success);
}

#[test]
fn threads_are_woken_when_a_manual_clock_passes_the_end_of_their_wait() {
    let (limit, clock) = limit(waits(1).queue_limit(3));
    let _held = limit.try_acquire().unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| limit.acquire().map(drop)))
            .collect();
        until_queued(&limit, 3);
        clock.advance(seconds(1));
        // One that has not set its alarm yet rings it itself.
        until_queued(&limit, 0);
        for thread in threads {
            let error = thread.join().unwrap().unwrap_err();
            assert!(error.is_wait_timed_out());
        }
    });
}

#[test]
fn a_full_queue_rejects_at_once_and_says_so() {
    let (limit, _clock) = limit(waits(1).queue_limit(2));
    let held = limit.try_acquire().unwrap();
    let mut waiting = [Polled::waiting(&limit), Polled::waiting(&limit)];
    let error = limit.acquire().unwrap_err();
    assert!(error.is_limit_exceeded() && error.is_queue_full() && !error.is_wait_timed_out());
    assert_eq!(error.code().as_str(), "R4C-CALL-004");
    assert_eq!(
        error.to_string(),
        "limit of `tested` exceeded, and its queue is full: 1 in flight, limit 1, queue limit 2"
    );
    // Those who wait are not among those who got a slot and have not run yet.
    held.complete(Outcome::Success);
    let third = Polled::waiting(&limit);
    assert_eq!((queued(&limit), limit.in_flight()), (2, 1));
    drop(third);
    let counters = limit.snapshot().counters;
    assert_eq!((counters.queue_full, counters.rejected), (1, 1));
    drop(waiting[0].admitted());
}

#[test]
fn one_that_is_dropped_loses_no_slot_and_holds_up_nobody() {
    let (limit, _clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let (dropped, mut first, granted, mut last) = (
        Polled::waiting(&limit),
        Polled::waiting(&limit),
        Polled::waiting(&limit),
        Polled::waiting(&limit),
    );
    drop(dropped);
    assert_eq!(queued(&limit), 3);
    held.complete(Outcome::Success);
    first.admitted().complete(Outcome::Success);
    // Dropped with the slot in its hands, it passes it on.
    assert!(granted.was_woken());
    drop(granted);
    last.admitted().complete(Outcome::Success);
    let snapshot = limit.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.queued), (0, 0));
    let counters = snapshot.counters;
    assert_eq!(
        (
            counters.queued,
            counters.wait_cancelled,
            counters.admitted,
            counters.rejected
        ),
        (4, 2, 3, 0)
    );
}

#[test]
fn one_that_is_dropped_before_it_learns_that_its_time_was_up_counts_as_rejected() {
    let (limit, clock) = limit(waits(1));
    let _held = limit.try_acquire().unwrap();
    let waiting = Polled::waiting(&limit);
    clock.advance(seconds(1));
    drop(waiting);
    let counters = limit.snapshot().counters;
    assert_eq!(
        (
            counters.rejected,
            counters.wait_timed_out,
            counters.wait_cancelled
        ),
        (1, 1, 0)
    );
}

#[test]
fn latency_begins_when_the_wait_is_over() {
    let (limit, clock, windows) = recorded(waits(1).min_window_samples(1).window(millis(1)));
    let held = limit.try_acquire().unwrap();
    let mut waiting = Polled::waiting(&limit);
    clock.advance(millis(300));
    drop(held);
    let permit = waiting.admitted();
    clock.advance(millis(20));
    permit.complete(Outcome::Success);
    let window = windows.last();
    assert_eq!((window.samples(), window.latency_sum), (1, 20_000_000));
    assert_eq!(window.max_in_flight, 1);
}

/// A limit whose settings can be changed from outside.
fn reloaded(first: &'static str) -> (Registry, AdaptiveLimit, ManualClock, Values) {
    let clock = ManualClock::new();
    let values = Values::default();
    values.set(first);
    let said = values.clone();
    let registry = Registry::builder()
        .clock(clock.clone())
        .values("test", move || Ok::<_, Error>(said.keys()))
        .build()
        .unwrap();
    let limit = registry.register("tested", LimitConfig::new()).unwrap();
    (registry, limit, clock, values)
}

#[derive(Clone, Default)]
struct Values(Arc<std::sync::Mutex<&'static str>>);

impl Values {
    fn set(&self, values: &'static str) {
        *self.0.lock().unwrap() = values;
    }

    fn keys(&self) -> Vec<(String, String)> {
        let values = *self.0.lock().unwrap();
        let one = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            let key = format!("instances.tested.adaptiveLimit.{name}");
            (key, value.to_owned())
        };
        values.split_whitespace().map(one).collect()
    }
}

const ONE: &str = "maxWait=1s minLimit=1 initialLimit=1 maxLimit=1";

#[test]
fn a_raise_of_the_limit_calls_as_many_as_it_makes_room_for() {
    let (registry, limit, _clock, values) = reloaded(ONE);
    let held = limit.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..20).map(|_| Polled::waiting(&limit)).collect();
    values.set("maxWait=1s minLimit=15 initialLimit=15 maxLimit=15");
    registry.reload().unwrap();
    // Without one that ends: one runs, fourteen more may.
    let running: Vec<_> = waiting[..14].iter_mut().map(Polled::admitted).collect();
    assert!(waiting[14..].iter_mut().all(Polled::goes_on_waiting));
    assert_eq!((limit.in_flight(), queued(&limit)), (15, 6));
    drop((held, running));
    assert_eq!(limit.in_flight(), 6);
}

#[test]
fn a_limit_that_falls_while_calls_wait_takes_effect() {
    let (registry, limit, _clock, values) =
        reloaded("maxWait=1s minLimit=3 initialLimit=3 maxLimit=3");
    let mut held: Vec<_> = (0..3).map(|_| limit.try_acquire().unwrap()).collect();
    let mut waiting: Vec<_> = (0..4).map(|_| Polled::waiting(&limit)).collect();
    values.set(ONE);
    registry.reload().unwrap();
    held.pop();
    held.pop();
    assert!(waiting.iter_mut().all(Polled::goes_on_waiting));
    assert_eq!(limit.in_flight(), 1);
    held.pop();
    for polled in &mut waiting {
        assert_eq!(limit.in_flight(), 1);
        drop(polled.admitted());
    }
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn an_algorithms_decision_calls_those_who_wait() {
    let clock = ManualClock::new();
    let registry = Registry::builder()
        .clock(clock.clone())
        .algorithm("grows", |_| Grows(1.0))
        .build()
        .unwrap();
    let config = LimitConfig::new().algorithm("grows").initial_limit(1);
    let config = config.max_wait(seconds(60)).min_window_samples(1);
    let limit = registry.register("tested", config).unwrap();
    let held = limit.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..4).map(|_| Polled::waiting(&limit)).collect();
    clock.advance(seconds(1));
    held.complete(Outcome::Success);
    // One has the slot of the call that ended, two more those that the limit grew by.
    let running: Vec<_> = waiting[..3].iter_mut().map(Polled::admitted).collect();
    assert!(waiting[3].goes_on_waiting());
    drop(running);
}

#[derive(Debug)]
struct Grows(f64);

impl resilience::limit::algorithm::Algorithm for Grows {
    fn update(
        &mut self,
        _: &resilience::limit::window::Window,
    ) -> resilience::limit::algorithm::Decision {
        self.0 += 2.0;
        resilience::limit::algorithm::Decision::new(
            self.0,
            resilience::event::Reason::custom("grows"),
        )
    }
}

#[test]
fn a_limit_that_is_switched_off_lets_all_pass_who_wait() {
    let (registry, limit, _clock, values) = reloaded(ONE);
    let held = limit.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Polled::waiting(&limit)).collect();
    values.set("maxWait=1s minLimit=1 initialLimit=1 maxLimit=1 enabled=false");
    registry.reload().unwrap();
    let passed: Vec<_> = waiting.iter_mut().map(Polled::admitted).collect();
    assert_eq!((limit.in_flight(), queued(&limit)), (1, 0));
    values.set(ONE);
    registry.reload().unwrap();
    drop(passed);
    assert_eq!(limit.in_flight(), 1);
    drop(held);
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn settings_of_waiting_hold_for_those_who_begin_to_wait() {
    let (registry, limit, clock, values) = reloaded(ONE);
    let held = limit.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Polled::waiting(&limit)).collect();
    values.set("maxWait=100ms queueLimit=2 minLimit=1 initialLimit=1 maxLimit=1");
    registry.reload().unwrap();
    // Nobody is thrown out, nor may anybody come while as many wait as now may.
    assert_eq!(queued(&limit), 3);
    assert!(limit.acquire().unwrap_err().is_queue_full());
    held.complete(Outcome::Success);
    let first = waiting[0].admitted();
    assert!(limit.acquire().unwrap_err().is_queue_full());
    first.complete(Outcome::Success);
    let running = waiting[1].admitted();
    let mut hasty = Polled::waiting(&limit);
    clock.advance(millis(100));
    assert!(hasty.rejected().is_wait_timed_out());
    assert!(waiting[2].goes_on_waiting());
    values.set("maxWait=off minLimit=1 initialLimit=1 maxLimit=1");
    registry.reload().unwrap();
    assert_eq!(limit.acquire().unwrap_err().code().as_str(), "R4C-CALL-001");
    running.complete(Outcome::Success);
    waiting[2].admitted().complete(Outcome::Success);
    limit.try_acquire().unwrap().complete(Outcome::Success);
}

#[test]
fn a_task_that_moves_to_another_waker_is_woken_by_that() {
    let (limit, _clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let mut waiting = Polled::waiting(&limit);
    let before = std::mem::take(&mut waiting.woken);
    assert!(waiting.poll().is_pending());
    held.complete(Outcome::Success);
    assert!(!before.0.load(Ordering::SeqCst));
    drop(waiting.admitted());
}

#[test]
fn a_waker_that_panics_harms_nobody() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's own panic");
        }
    }
    let (limit, _clock) = limit(waits(1));
    let held = limit.try_acquire().unwrap();
    let mut panics = pin!(limit.acquire_async());
    let waker = Waker::from(Arc::new(Panics));
    assert!(
        panics
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    held.complete(Outcome::Success);
    assert_eq!((limit.in_flight(), queued(&limit)), (1, 0));
    let Poll::Ready(Ok(permit)) = panics.poll(&mut Context::from_waker(&waker)) else {
        panic!("no slot")
    };
    permit.complete(Outcome::Success);
}

fn panics(run: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
}

#[test]
fn a_clock_that_panics_leaves_no_place_in_the_queue() {
    #[derive(Clone, Default)]
    struct Broken(Arc<AtomicBool>);
    impl Clock for Broken {
        fn now(&self) -> u64 {
            assert!(!self.0.load(Ordering::SeqCst), "a clock's own panic");
            0
        }
        fn wake_at(&self, _: u64, _: Waker) -> Alarm {
            panic!("a clock's own panic")
        }
    }
    let clock = Broken::default();
    let registry = Registry::builder().clock(clock.clone()).build().unwrap();
    let limit = registry.register("tested", waits(1)).unwrap();
    let held = limit.try_acquire().unwrap();
    assert!(panics(|| drop(limit.acquire())));
    assert_eq!(queued(&limit), 0);
    let mut polled = Polled::new(&limit);
    assert!(panics(|| drop(polled.poll())));
    drop(polled);
    assert_eq!(queued(&limit), 0);
    clock.0.store(true, Ordering::SeqCst);
    assert!(panics(|| drop(held)));
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn on_the_systems_clock_waits_end_by_themselves() {
    let config = waits(1).max_wait(millis(20));
    let limit = Registry::new().register("tested", config).unwrap();
    let held = limit.try_acquire().unwrap();
    assert!(limit.acquire().unwrap_err().is_wait_timed_out());
    let mut waiting = Polled::waiting(&limit);
    while !waiting.was_woken() {
        std::thread::yield_now();
    }
    let Poll::Ready(Err(error)) = waiting.poll() else {
        panic!("no rejection")
    };
    assert!(error.is_wait_timed_out());
    held.complete(Outcome::Success);
}

#[test]
fn an_owned_wait_and_its_permit_go_to_another_thread() {
    let (limit, _clock) = limit(waits(1));
    let held = limit.acquire_owned().unwrap();
    let mut waiting = Box::pin(limit.acquire_async_owned());
    assert!(
        waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    std::thread::spawn(move || held.complete(Outcome::Success))
        .join()
        .unwrap();
    let permit = std::thread::spawn(move || {
        match waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(permit) => permit.unwrap(),
            Poll::Pending => panic!("no slot"),
        }
    });
    permit.join().unwrap().complete(Outcome::Success);
    assert_eq!(limit.in_flight(), 0);
}
