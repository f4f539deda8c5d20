//! Forgetting what was learned.

use std::sync::{Arc, Mutex};

use resilience::Outcome;
use resilience::event::{Event, Reason};
use resilience::limit::LimitConfig;

use crate::support::{calls, limit, seconds};

/// Windows of one sample, which `knee` would not judge by.
fn one_sample() -> LimitConfig {
    LimitConfig::new()
        .algorithm("gradient2")
        .min_window_samples(1)
}

#[test]
fn reset_goes_back_to_the_initial_limit_and_forgets_the_baseline_but_not_the_counters() {
    let (limit, clock) = limit(one_sample());
    for _ in 0..4 {
        calls(&limit, &clock, 20, seconds(1), Outcome::Success);
    }
    let learned = limit.snapshot();
    assert!(learned.limit > 20 && learned.baseline.is_some());

    let events = Arc::new(Mutex::new(Vec::new()));
    let noted = events.clone();
    let _subscription = limit.subscribe(move |event| noted.lock().unwrap().push(event.clone()));
    limit.reset();

    let fresh = limit.snapshot();
    assert_eq!(
        (
            fresh.limit,
            fresh.windows,
            fresh.baseline,
            fresh.last_window
        ),
        (20, 0, None, None)
    );
    assert_eq!(
        (fresh.reason, fresh.counters),
        (Reason::Initial, learned.counters)
    );
    assert!(matches!(
        events.lock().unwrap()[..],
        [Event::LimitChanged { from, to: 20, reason: Reason::Initial, .. }] if from == learned.limit
    ));
}

#[test]
fn calls_in_flight_over_a_reset_give_their_slots_back_and_teach_nothing() {
    let (limit, clock) = limit(one_sample());
    let before = limit.try_acquire().unwrap();
    clock.advance(seconds(1));
    limit.reset();
    assert_eq!(limit.in_flight(), 1);
    clock.advance(seconds(9));
    before.complete(Outcome::Success);
    assert_eq!((limit.in_flight(), limit.snapshot().windows), (0, 0));
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    assert_eq!(limit.snapshot().last_window.unwrap().latency, Some(1e9));
}

#[test]
fn calls_admitted_at_the_instant_of_a_reset_teach_nothing_if_they_came_before_it() {
    let (limit, clock) = limit(one_sample());
    let before = limit.try_acquire().unwrap();
    limit.reset();
    let after = limit.try_acquire().unwrap();
    clock.advance(seconds(9));
    before.complete(Outcome::Success);
    assert_eq!(limit.snapshot().windows, 0);
    clock.advance(seconds(1));
    after.complete(Outcome::Success);
    assert_eq!(limit.snapshot().last_window.unwrap().samples, 1);
}
