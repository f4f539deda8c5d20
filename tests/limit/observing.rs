//! A limit that is observed: nothing is rejected, and what is counted is what enforcing it would reject.

use proptest::prelude::*;
use resilience::limit::{AdaptiveLimit, LimitConfig, Mode, Permit};
use resilience::registry::Registry;
use resilience::time::ManualClock;
use resilience::{Error, Outcome};
use std::sync::{Arc, Mutex};

use crate::support::{limit, manual, millis, recorded};

fn fixed(limit: u32) -> LimitConfig {
    LimitConfig::new()
        .initial_limit(limit)
        .min_limit(limit)
        .max_limit(limit)
}

#[test]
fn calls_beyond_the_limit_pass_and_make_no_room_when_they_end() {
    let (limit, _clock) = limit(fixed(1).mode(Mode::Observe));
    let within = limit.try_acquire().unwrap();
    let beyond = [limit.try_acquire().unwrap(), limit.acquire().unwrap()];
    assert_eq!((limit.in_flight(), limit.limit()), (3, 1));
    assert_eq!(limit.snapshot().counters.would_reject, 2);
    let [first, second] = beyond;
    first.complete(Outcome::Success);
    drop(second);
    // Enforcing would have rejected those two, and this one: the first call is still in its slot.
    drop(limit.try_acquire().unwrap());
    assert_eq!(limit.snapshot().counters.would_reject, 3);
    within.complete(Outcome::Success);
    drop(limit.try_acquire().unwrap());
    let snapshot = limit.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.mode), (0, Mode::Observe));
    let counters = snapshot.counters;
    assert_eq!(
        (
            counters.would_reject,
            counters.rejected,
            counters.admitted,
            counters.succeeded,
            counters.cancelled
        ),
        (3, 0, 5, 2, 3)
    );
}

#[test]
fn nobody_waits_at_a_limit_that_is_observed() {
    let (limit, _clock) = limit(fixed(1).mode(Mode::Observe).max_wait(millis(50)));
    let _held = [limit.acquire().unwrap(), limit.acquire().unwrap()];
    let counters = limit.snapshot().counters;
    assert_eq!((counters.queued, counters.would_reject), (0, 1));
}

#[test]
fn the_algorithm_sees_all_calls_that_are_really_in_flight() {
    let (limit, clock, windows) = recorded(
        fixed(2)
            .mode(Mode::Observe)
            .min_window_samples(1)
            .window(millis(1)),
    );
    let permits: Vec<_> = (0..5).map(|_| limit.try_acquire().unwrap()).collect();
    clock.advance(millis(1));
    for permit in permits.into_iter().rev() {
        permit.complete(Outcome::Success);
    }
    // The first to end closed the window; it was the fifth in flight.
    let window = windows.all().remove(0);
    assert_eq!((window.samples(), window.max_in_flight), (1, 5));
    assert_eq!((window.in_flight, window.peak_in_flight), (4, 5));
    assert_eq!((window.limit, window.rejected), (2, 0));
}

/// What is done to a limit.
#[derive(Clone, Debug)]
enum Step {
    /// A call starts.
    Starts,
    /// That of the calls that run, however many there are, ends.
    Ends(usize, Outcome),
    /// It is cancelled.
    Cancelled(usize),
    Limit(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(vec![Outcome::Success, Outcome::Drop, Outcome::Ignored]);
    prop_oneof![
        6 => Just(Step::Starts),
        4 => (any::<usize>(), outcome).prop_map(|(which, outcome)| Step::Ends(which, outcome)),
        1 => any::<usize>().prop_map(Step::Cancelled),
        1 => (1..8_u32).prop_map(Step::Limit),
    ]
}

/// A limit whose settings the test changes.
struct Operated {
    registry: Registry,
    limit: AdaptiveLimit,
    keys: Arc<Mutex<Vec<(String, String)>>>,
}

impl Operated {
    fn new(mode: &str) -> Self {
        let keys = Arc::new(Mutex::new(Vec::new()));
        let said = keys.clone();
        let (builder, _clock): (_, ManualClock) = manual();
        let registry = builder
            .values("test", move || Ok::<_, Error>(said.lock().unwrap().clone()))
            .build()
            .unwrap();
        let limit = registry.register("tested", LimitConfig::new()).unwrap();
        let operated = Self {
            registry,
            limit,
            keys,
        };
        operated.set(mode, 3);
        operated
    }

    fn set(&self, mode: &str, limit: u32) {
        let limit = limit.to_string();
        let settings = [
            ("mode", mode),
            ("minLimit", &limit),
            ("initialLimit", &limit),
            ("maxLimit", &limit),
        ];
        *self.keys.lock().unwrap() = settings
            .map(|(name, value)| {
                let key = format!("instances.tested.adaptiveLimit.{name}");
                (key, value.to_owned())
            })
            .into();
        self.registry.reload().unwrap();
    }
}

proptest! {
    /// A trace says when calls start and when each of them ends if it runs. Enforcing, a rejected call never runs; its end
    /// comes to nothing.
    #[test]
    fn what_is_counted_is_what_enforcing_rejects_on_the_same_trace(steps in prop::collection::vec(step(), 0..200)) {
        let (enforcing, observing) = (Operated::new("enforce"), Operated::new("observe"));
        let mut running: Vec<(Option<Permit<'_>>, Permit<'_>)> = Vec::new();
        for step in steps {
            match step {
                Step::Starts => {
                    let before = observing.limit.snapshot().counters.would_reject;
                    let enforced = enforcing.limit.try_acquire().ok();
                    let observed = observing.limit.try_acquire().expect("nothing is rejected");
                    let would_reject = observing.limit.snapshot().counters.would_reject != before;
                    prop_assert_eq!(would_reject, enforced.is_none());
                    running.push((enforced, observed));
                }
                Step::Ends(which, outcome) if !running.is_empty() => {
                    let (enforced, observed) = running.swap_remove(which % running.len());
                    if let Some(enforced) = enforced {
                        enforced.complete(outcome);
                    }
                    observed.complete(outcome);
                }
                Step::Cancelled(which) if !running.is_empty() => {
                    drop(running.swap_remove(which % running.len()));
                }
                Step::Limit(limit) => {
                    enforcing.set("enforce", limit);
                    observing.set("observe", limit);
                }
                _ => {}
            }
            let all = running.len() as u32;
            prop_assert_eq!(observing.limit.in_flight(), all);
        }
        let (enforced, observed) = (
            enforcing.limit.snapshot().counters,
            observing.limit.snapshot().counters,
        );
        prop_assert_eq!(observed.would_reject, enforced.rejected);
        prop_assert_eq!(observed.admitted, enforced.admitted + enforced.rejected);
        prop_assert_eq!(observed.rejected, 0);
        drop(running);
        prop_assert_eq!((enforcing.limit.in_flight(), observing.limit.in_flight()), (0, 0));
    }

    /// Whatever the mode is when a call ends, it gives back what it took: once all have ended, the limit is whole again.
    #[test]
    fn switching_the_mode_loses_no_slot(steps in prop::collection::vec((step(), any::<Option<bool>>()), 0..100)) {
        let tested = Operated::new("enforce");
        let (mut mode, mut limit) = ("enforce", 3);
        let mut running = Vec::new();
        for (step, switch) in steps {
            if let Some(observe) = switch {
                mode = if observe { "observe" } else { "enforce" };
                tested.set(mode, limit);
            }
            match step {
                Step::Starts => running.extend(tested.limit.try_acquire().ok()),
                Step::Ends(which, outcome) if !running.is_empty() => {
                    running.swap_remove(which % running.len()).complete(outcome);
                }
                Step::Cancelled(which) if !running.is_empty() => {
                    drop(running.swap_remove(which % running.len()));
                }
                Step::Limit(to) => {
                    limit = to;
                    tested.set(mode, limit);
                }
                _ => {}
            }
            prop_assert_eq!(tested.limit.in_flight(), running.len() as u32);
        }
        running.clear();
        tested.set("enforce", limit);
        prop_assert_eq!(tested.limit.in_flight(), 0);
        let whole: Vec<_> = std::iter::from_fn(|| tested.limit.try_acquire().ok()).collect();
        prop_assert_eq!(whole.len() as u32, limit);
    }
}
