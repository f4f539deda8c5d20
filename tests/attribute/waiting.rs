//! `max_wait`, `queue_limit` and `mode`: the same fn, with calls that wait or are only watched.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use resilience::adaptive_limit;
use resilience::registry::Registry;
use resilience::time::ManualClock;

use crate::support::{Fail, counters, fill, pause, poll_once};

#[adaptive_limit(
    name = "patient",
    initial_limit = 2,
    max_limit = 2,
    max_wait = "50ms",
    queue_limit = 1
)]
fn sync(id: u32) -> Result<u32, Fail> {
    Ok(id)
}

#[adaptive_limit(
    name = "patient",
    initial_limit = 2,
    max_limit = 2,
    max_wait = "50ms",
    queue_limit = 1
)]
async fn asynchronous(id: u32) -> Result<u32, Fail> {
    pause().await;
    Ok(id)
}

fn limited_by(error: &Fail) -> &resilience::Error {
    match error {
        Fail::Limited(error) => error,
        other => panic!("{other}"),
    }
}

fn manual(test: impl FnOnce(&Registry, &ManualClock)) {
    let clock = ManualClock::new();
    let registry = Registry::builder().clock(clock.clone()).build().unwrap();
    registry.scope(|| test(&registry, &clock));
}

#[test]
fn an_async_call_waits_for_a_slot_and_then_runs() {
    manual(|registry, _| {
        sync(1).unwrap();
        let mut slots = fill(registry, "patient");
        let mut waiting = pin!(asynchronous(7));
        assert!(poll_once(waiting.as_mut()).is_pending());
        let mut rejected = pin!(asynchronous(8));
        let Poll::Ready(Err(error)) = poll_once(rejected.as_mut()) else {
            panic!("the queue was not full");
        };
        assert!(limited_by(&error).is_queue_full());
        slots.pop();
        // It has its slot and is at its own `await` now.
        assert!(poll_once(waiting.as_mut()).is_pending());
        assert!(matches!(poll_once(waiting), Poll::Ready(Ok(7))));
        assert_eq!(counters(registry, "patient").succeeded, 2);
    });
}

#[test]
fn an_async_call_that_waited_in_vain_is_rejected_and_never_runs() {
    manual(|registry, clock| {
        sync(1).unwrap();
        let _slots = fill(registry, "patient");
        let mut waiting = pin!(asynchronous(7));
        assert!(poll_once(waiting.as_mut()).is_pending());
        clock.advance(Duration::from_millis(50));
        let Poll::Ready(Err(error)) = poll_once(waiting) else {
            panic!("went on waiting");
        };
        assert!(limited_by(&error).is_wait_timed_out());
    });
}

#[test]
fn a_call_that_is_dropped_while_it_waits_leaves_nothing_behind() {
    manual(|registry, _| {
        sync(1).unwrap();
        let slots = fill(registry, "patient");
        {
            let mut waiting = pin!(asynchronous(7));
            assert!(poll_once(waiting.as_mut()).is_pending());
        }
        let limit = registry.adaptive_limit("patient").unwrap();
        assert_eq!((limit.snapshot().queued, limit.in_flight()), (0, 2));
        drop(slots);
        assert_eq!(limit.in_flight(), 0);
        assert_eq!(limit.snapshot().counters.wait_cancelled, 1);
    });
}

#[test]
fn a_sync_call_waits_on_its_thread() {
    manual(|registry, _| {
        sync(1).unwrap();
        let mut slots = fill(registry, "patient");
        let limit = registry.adaptive_limit("patient").unwrap();
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| registry.scope(|| sync(7)));
            while limit.snapshot().queued == 0 {
                std::thread::yield_now();
            }
            slots.pop();
            assert_eq!(waiting.join().unwrap().unwrap(), 7);
        });
    });
}

#[adaptive_limit(name = "watched", max_limit = 1, mode = "observe")]
async fn watched() -> Result<(), Fail> {
    pause().await;
    Ok(())
}

#[adaptive_limit(name = "watched", max_limit = 1, mode = observe)]
fn watched_sync() -> Result<(), Fail> {
    Ok(())
}

#[test]
fn an_observed_limit_rejects_nothing_and_counts_what_it_would() {
    manual(|registry, _| {
        let mut running = pin!(watched());
        assert!(poll_once(running.as_mut()).is_pending());
        watched_sync().unwrap();
        watched_sync().unwrap();
        assert!(matches!(poll_once(running), Poll::Ready(Ok(()))));
        watched_sync().unwrap();
        let counters = counters(registry, "watched");
        assert_eq!(
            (
                counters.would_reject,
                counters.rejected,
                counters.admitted,
                counters.succeeded
            ),
            (2, 0, 4, 4)
        );
    });
}
