//! Calls that run beside each other on the test's thread.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::testing::{Assertions, Dependency, Script, TestRegistry, assert_rejected, sleep};
use resilience::time::Clock;
use resilience::{Error, adaptive_limit};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

#[adaptive_limit(name = "search", initial_limit = 2)]
async fn search(index: &Dependency<u32>) -> Result<u32, Error> {
    Ok(index.call().await)
}

fn eager() -> TestRegistry {
    TestRegistry::with(|registry| {
        registry.defaults(LimitConfig::new().algorithm("aimd").min_window_samples(1))
    })
}

#[test]
fn two_pending_calls_hold_the_limit_and_end_with_one_window_of_their_latency() {
    let test = eager();
    let index = test.dependency(Script::always(SECOND, 7));
    let calls = test.calls();
    let two = [calls.start(search(&index)), calls.start(search(&index))];
    let limit = test.limit("search");
    limit.assert_limit(2).assert_in_flight(2);
    let error = calls.start(search(&index)).output();
    assert_eq!(assert_rejected(&error).in_flight(), Some(2));
    assert_eq!(index.begun(), 2);

    calls.advance(SECOND);
    for call in two {
        assert_eq!(call.output().unwrap(), 7);
    }
    limit
        .assert_in_flight(0)
        .assert_windows(1)
        .assert_latency(SECOND)
        .assert_rejected(1);
}

#[test]
fn a_long_step_of_the_clock_makes_no_call_longer() {
    let test = eager();
    let index = test.dependency(Script::by_number(|number| (number as u32 * 100 * MS, 0)));
    let calls = test.calls();
    let order = Rc::new(RefCell::new(Vec::new()));
    for number in [1, 2, 3] {
        let (order, index, clock) = (order.clone(), index.clone(), test.clock().clone());
        calls.start(async move {
            index.call().await;
            order.borrow_mut().push((number, clock.now() / 1_000_000));
            // What follows is on time, too.
            sleep(&clock, 250 * MS).await;
            order.borrow_mut().push((number, clock.now() / 1_000_000));
        });
    }
    calls.advance(60 * SECOND);
    let expected = [(1, 100), (2, 200), (3, 300), (1, 350), (2, 450), (3, 550)];
    assert_eq!(*order.borrow(), expected);
    assert_eq!(test.clock().now(), 60_000_000_000);
}

#[test]
fn a_cancelled_call_gives_its_slot_back_and_is_no_longer_pending() {
    let test = eager();
    let index = test.dependency(Script::always(SECOND, 7));
    let calls = test.calls();
    let call = calls.start(search(&index));
    call.cancel();
    assert_eq!((index.begun(), index.pending()), (1, 0));
    let limit = test.limit("search");
    limit.assert_in_flight(0);
    calls.advance(SECOND);
    assert_eq!(limit.snapshot().counters.cancelled, 1);
    assert_eq!(test.clock().next_wake(), None);
}

#[test]
fn calls_may_start_calls_and_wake_each_other() {
    let test = TestRegistry::new();
    let calls = Rc::new(test.calls());
    let (told, waits) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(None)));
    let (inner, tell, wait) = (calls.clone(), told.clone(), waits.clone());
    let outer = calls.start(async move {
        inner.start(async move {
            poll_fn(|context| {
                let waker = context.waker().clone();
                match wait.replace(Some(waker)) {
                    None => Poll::Pending,
                    Some(_) => Poll::Ready(()),
                }
            })
            .await;
            tell.set(7);
        });
    });
    assert!(!outer.is_pending() && told.get() == 0);
    calls.start(async move { waits.borrow().as_ref().map(Waker::wake_by_ref) });
    assert_eq!(told.get(), 7);
}

#[test]
fn what_never_comes_to_an_end_is_told() {
    let test = TestRegistry::new();
    let calls = test.calls();
    let waits = calls.start(pending::<()>());
    calls.advance(SECOND);
    let message = |result: std::thread::Result<()>| {
        let payload = result.unwrap_err();
        payload.downcast_ref::<&str>().map_or_else(
            || payload.downcast_ref::<String>().unwrap().clone(),
            |text| (*text).to_owned(),
        )
    };
    let said = message(catch_unwind(AssertUnwindSafe(|| waits.output())));
    assert!(said.contains("has not ended"), "{said}");
    let said = message(catch_unwind(AssertUnwindSafe(|| {
        let spins = poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        drop(calls.start(spins));
    })));
    assert!(said.contains("again and again"), "{said}");
}

#[test]
fn the_same_calls_take_the_same_course_on_every_run() {
    let course = || {
        let test = TestRegistry::with(|registry| {
            registry.defaults(LimitConfig::new().algorithm("vegas").min_window_samples(1))
        });
        let index = test.dependency(Script::by_number(|number| {
            (Duration::from_millis(50 + number * 37 % 400), number as u32)
        }));
        let calls = test.calls();
        let mut limits = Vec::new();
        for _ in 0..600 {
            calls.start(search(&index));
            calls.advance(20 * MS);
            limits.push(test.limit("search").limit());
        }
        (limits, test.registry().snapshot())
    };
    let (limits, snapshot) = course();
    assert!(snapshot.limits[0].windows > 8);
    assert_eq!((limits, snapshot), course());
}
