//! Who gets a slot, and that it comes back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use resilience::Outcome;
use resilience::limit::LimitConfig;

use crate::support::{limit, millis, seconds};

fn fixed(limit: u32) -> LimitConfig {
    LimitConfig::new()
        .initial_limit(limit)
        .min_limit(limit)
        .max_limit(limit)
}

#[test]
fn sixty_four_threads_on_a_limit_of_ten_never_have_more_than_ten_inside() {
    let (limit, _clock) = limit(fixed(10));
    let (barrier, inside, most, admitted) = (
        Barrier::new(64),
        AtomicU32::new(0),
        AtomicU32::new(0),
        AtomicU32::new(0),
    );
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..2000 {
                    match limit.try_acquire() {
                        Ok(permit) => {
                            let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(now, Ordering::SeqCst);
                            admitted.fetch_add(1, Ordering::SeqCst);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            permit.complete(Outcome::Success);
                        }
                        Err(error) => assert!(error.is_limit_exceeded()),
                    }
                }
            });
        }
    });
    assert!(most.into_inner() <= 10);
    assert_eq!(limit.in_flight(), 0);
    let counters = limit.snapshot().counters;
    assert_eq!(counters.admitted, u64::from(admitted.into_inner()));
    assert_eq!(counters.admitted + counters.rejected, 64 * 2000);
    assert_eq!(counters.succeeded, counters.admitted);
}

#[test]
fn as_many_threads_as_the_limit_allows_are_never_rejected() {
    let (limit, _clock) = limit(fixed(10));
    let barrier = Barrier::new(10);
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..5000 {
                    limit
                        .try_acquire()
                        .expect("a slot was free")
                        .complete(Outcome::Success);
                }
            });
        }
    });
    assert_eq!(limit.snapshot().counters.rejected, 0);
}

#[test]
fn a_rejection_names_the_limit_and_the_calls_in_flight() {
    let (limit, _clock) = limit(fixed(2));
    let _held = [limit.try_acquire().unwrap(), limit.try_acquire().unwrap()];
    let error = limit.try_acquire().unwrap_err();
    assert!(error.is_limit_exceeded() && !error.is_settings() && !error.is_timed_out());
    assert_eq!(error.id().unwrap().as_str(), "tested");
    assert_eq!((error.limit(), error.in_flight()), (Some(2), Some(2)));
    assert_eq!(
        error.to_string(),
        "limit of `tested` exceeded: 2 in flight, limit 2"
    );
    assert_eq!(error.code().as_str(), "R4C-CALL-001");
}

#[test]
fn a_permit_that_is_dropped_gives_its_slot_back_and_is_no_sample() {
    let (limit, clock) = limit(fixed(1).min_window_samples(1));
    drop(limit.try_acquire().unwrap());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _permit = limit.try_acquire().unwrap();
        panic!("a body's own panic");
    }));
    assert!(panicked.is_err());
    clock.advance(seconds(2));
    drop(limit.try_acquire().unwrap());
    assert_eq!(limit.in_flight(), 0);
    let snapshot = limit.snapshot();
    assert_eq!(
        (snapshot.counters.admitted, snapshot.counters.cancelled),
        (3, 3)
    );
    assert_eq!(
        (
            snapshot.counters.succeeded,
            snapshot.counters.dropped,
            snapshot.counters.ignored
        ),
        (0, 0, 0)
    );
    assert_eq!(snapshot.windows, 0);
}

#[test]
fn an_owned_permit_may_end_on_another_thread() {
    let (limit, clock) = limit(fixed(3));
    let permit = limit.try_acquire_owned().unwrap();
    clock.advance(millis(5));
    std::thread::spawn(move || permit.complete(Outcome::Success))
        .join()
        .unwrap();
    assert_eq!(
        (limit.in_flight(), limit.snapshot().counters.succeeded),
        (0, 1)
    );
}

#[test]
fn a_limit_that_is_switched_off_lets_everything_pass_and_measures_nothing() {
    let (limit, clock) = limit(fixed(1).min_window_samples(1).enabled(false));
    let permits: Vec<_> = (0..50).map(|_| limit.try_acquire().unwrap()).collect();
    clock.advance(seconds(2));
    for permit in permits {
        permit.complete(Outcome::Success);
    }
    let snapshot = limit.snapshot();
    assert!(!snapshot.enabled);
    assert_eq!(
        (
            snapshot.in_flight,
            snapshot.windows,
            snapshot.counters.admitted
        ),
        (0, 0, 0)
    );
}
