//! Foreign code that panics, blocks or calls back.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use resilience::event::Subscription;
use resilience::event::{Event, Reason};
use resilience::limit::LimitConfig;
use resilience::limit::algorithm::{Algorithm, Close, Decision};
use resilience::limit::window::{Window, WindowRule};
use resilience::registry::Registry;
use resilience::time::Clock;
use resilience::{Outcome, limit::AdaptiveLimit};

use crate::support::{calls, limit, manual, millis, seconds};

/// Moves the limit at every window.
fn moving() -> LimitConfig {
    LimitConfig::new()
        .algorithm("aimd")
        .min_window_samples(1)
        .initial_limit(2)
}

#[test]
fn a_listener_that_panics_leaks_nothing_and_keeps_no_one_from_the_news() {
    let (limit, clock) = limit(moving());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let _panicking = limit.subscribe(|_| panic!("a listener's own panic"));
    let noted = heard.clone();
    let _listening = limit.subscribe(move |event| noted.lock().unwrap().push(event.clone()));
    for _ in 0..3 {
        calls(&limit, &clock, 2, seconds(1), Outcome::Success);
    }
    assert_eq!(
        (limit.in_flight(), limit.limit(), limit.snapshot().windows),
        (0, 5, 3)
    );
    let heard = heard.lock().unwrap();
    let moves: Vec<_> = heard
        .iter()
        .map(|event| match event {
            Event::LimitChanged {
                from, to, decision, ..
            } => (*from, *to, *decision),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(moves, [(2, 3, 1), (3, 4, 2), (4, 5, 3)]);
}

#[test]
fn a_listener_may_call_back_into_the_limit() {
    let (limit, clock) = limit(moving());
    let handle = limit.clone();
    let seen = Arc::new(Mutex::new(None));
    let noted = seen.clone();
    let _subscription = limit.subscribe(move |_| {
        // The call that moved the limit has given its slot back.
        let in_flight = handle.in_flight();
        let permit = handle.try_acquire().unwrap();
        permit.complete(Outcome::Success);
        // Resetting below tells the listener once more, from within itself.
        noted
            .lock()
            .unwrap()
            .get_or_insert((in_flight, handle.snapshot().limit));
        let _ = handle.subscribe(|_| {});
        handle.reset();
    });
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    assert_eq!(*seen.lock().unwrap(), Some((0, 3)));
    assert_eq!((limit.limit(), limit.in_flight()), (2, 0));
}

#[test]
fn a_listener_that_blocks_holds_up_no_other_call_and_no_later_window() {
    let (limit, clock) = limit(moving());
    let (entered, has_entered) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(Some(released));
    let _subscription = limit.subscribe(move |_| {
        // Blocks the first time only, and holds no lock of its own meanwhile.
        let first = released.lock().unwrap().take();
        if let Some(released) = first {
            entered.send(()).unwrap();
            let _ = released.recv();
        }
    });
    std::thread::scope(|scope| {
        let (slow_limit, slow_clock) = (limit.clone(), clock.clone());
        scope.spawn(move || calls(&slow_limit, &slow_clock, 1, seconds(1), Outcome::Success));
        has_entered.recv().unwrap();
        assert_eq!((limit.limit(), limit.in_flight()), (3, 0));
        calls(&limit, &clock, 2, millis(10), Outcome::Success);
        calls(&limit, &clock, 1, seconds(1), Outcome::Success);
        assert_eq!((limit.limit(), limit.snapshot().windows), (4, 2));
        drop(release);
    });
    assert_eq!(limit.in_flight(), 0);
}

#[test]
fn a_subscription_ends_when_it_is_dropped() {
    let (limit, clock) = limit(moving());
    let heard = Arc::new(Mutex::new(0));
    let noted = heard.clone();
    let subscription = limit.subscribe(move |_| *noted.lock().unwrap() += 1);
    calls(&limit, &clock, 2, seconds(1), Outcome::Success);
    drop(subscription);
    calls(&limit, &clock, 2, seconds(1), Outcome::Success);
    assert_eq!((*heard.lock().unwrap(), limit.limit()), (1, 4));
}

/// Fails in every way that an algorithm can, one window after the other.
#[derive(Debug, Default)]
struct Failing {
    windows: u32,
}

impl Algorithm for Failing {
    fn close(&self, _: &Window, _: &WindowRule) -> Close {
        assert!(
            self.windows != 4,
            "an algorithm's own panic, before the window closed"
        );
        Close::Now
    }

    fn update(&mut self, _: &Window) -> Decision {
        self.windows += 1;
        let limit = match self.windows {
            1 => panic!("an algorithm's own panic"),
            2 => f64::NAN,
            3 => f64::INFINITY,
            4 => -1e300,
            _ => 7.9,
        };
        Decision::new(limit, Reason::custom("failing"))
    }

    fn baseline(&self) -> Option<f64> {
        assert!(self.windows > 2, "an algorithm's own panic");
        Some(f64::from(self.windows))
    }
}

#[test]
fn an_algorithm_that_fails_keeps_the_limit_leaks_nothing_and_is_asked_again() {
    let (builder, clock) = manual();
    let registry = builder
        .algorithm("failing", |_| Failing::default())
        .build()
        .unwrap();
    let config = LimitConfig::new()
        .algorithm("failing")
        .min_window_samples(1)
        .min_limit(3);
    let limit: AdaptiveLimit = registry.register("tested", config).unwrap();
    let mut after = Vec::new();
    for _ in 0..5 {
        calls(&limit, &clock, 2, seconds(1), Outcome::Success);
        assert_eq!(limit.in_flight(), 0);
        let snapshot = limit.snapshot();
        after.push((snapshot.limit, snapshot.reason == Reason::Failed));
    }
    assert_eq!(
        after,
        [(20, true), (20, true), (20, true), (3, false), (7, false)]
    );
    assert_eq!(limit.snapshot().windows, 5);
}

#[test]
fn a_restarted_window_begins_anew() {
    /// Throws away the window that began with the instance.
    #[derive(Debug, Default)]
    struct Restarting {
        seen: Arc<Mutex<Vec<(u64, u64, u64)>>>,
    }
    impl Algorithm for Restarting {
        fn close(&self, window: &Window, _: &WindowRule) -> Close {
            if window.opened > 0 {
                return Close::Now;
            }
            Close::Restart {
                until: window.closed + 1,
                fresh: true,
            }
        }
        fn update(&mut self, window: &Window) -> Decision {
            self.seen
                .lock()
                .unwrap()
                .push((window.opened, window.samples(), window.stale));
            Decision::new(5.0, Reason::custom("restarting"))
        }
    }
    let (builder, clock) = manual();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let registry = builder
        .algorithm("restarting", move |_| Restarting {
            seen: noted.clone(),
        })
        .build()
        .unwrap();
    let limit = registry
        .register("tested", LimitConfig::new().algorithm("restarting"))
        .unwrap();
    calls(&limit, &clock, 3, seconds(1), Outcome::Success);
    // The first of the three ended the window that was thrown away; the other two ended in the next one and are no
    // samples of it, since they were admitted before it began.
    calls(&limit, &clock, 1, millis(1), Outcome::Success);
    assert_eq!(*seen.lock().unwrap(), [(1_000_000_000, 1, 2)]);
}

/// Stands still, and panics when it is told to.
#[derive(Clone, Default)]
struct BrokenClock(Arc<AtomicBool>);

impl Clock for BrokenClock {
    fn now(&self) -> u64 {
        assert!(!self.0.load(Ordering::Relaxed), "a clock's own panic");
        0
    }
}

#[test]
fn a_clock_that_panics_leaks_no_slot() {
    let clock = BrokenClock::default();
    let registry = Registry::builder().clock(clock.clone()).build().unwrap();
    let limit = registry.register("tested", LimitConfig::new()).unwrap();
    let permits = [(); 2].map(|()| limit.try_acquire().unwrap());
    clock.0.store(true, Ordering::Relaxed);
    let panics = |run: &dyn Fn()| catch_unwind(AssertUnwindSafe(run)).is_err();

    assert!(panics(&|| drop(limit.try_acquire())));
    assert_eq!(limit.in_flight(), 2, "at its start");

    let [completed, dropped] = permits.map(|permit| Cell::new(Some(permit)));
    assert!(panics(&|| completed
        .take()
        .unwrap()
        .complete(Outcome::Success)));
    assert_eq!(limit.in_flight(), 1, "at its end");
    assert!(panics(&|| drop(dropped.take())));
    assert_eq!(limit.in_flight(), 0, "when it was cancelled");
}

/// Panics when it is dropped, unless that would abort.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a bomb's own panic");
    }
}

#[test]
fn what_a_listener_panics_with_or_holds_may_panic_too() {
    let (limit, clock) = limit(moving());
    let _panicking = limit.subscribe(|_| std::panic::panic_any(Bomb));
    calls(&limit, &clock, 2, seconds(1), Outcome::Success);

    // A listener that ends its own subscription is dropped when it has been called.
    let bomb = Bomb;
    let own: Arc<Mutex<Option<Subscription>>> = Arc::default();
    let ends = own.clone();
    *own.lock().unwrap() = Some(limit.subscribe(move |_| {
        let _held = &bomb;
        drop(ends.lock().unwrap().take());
    }));
    calls(&limit, &clock, 2, seconds(1), Outcome::Success);
    assert_eq!((limit.limit(), limit.in_flight()), (4, 0));
    assert!(own.lock().unwrap().is_none());
}

#[test]
fn what_an_algorithm_panics_with_may_panic_too() {
    #[derive(Debug)]
    struct Exploding;
    impl Algorithm for Exploding {
        fn close(&self, _: &Window, _: &WindowRule) -> Close {
            std::panic::panic_any(Bomb)
        }
        fn update(&mut self, _: &Window) -> Decision {
            std::panic::panic_any(Bomb)
        }
        fn baseline(&self) -> Option<f64> {
            std::panic::panic_any(Bomb)
        }
    }
    let (builder, clock) = manual();
    let registry = builder
        .algorithm("exploding", |_| Exploding)
        .build()
        .unwrap();
    let config = LimitConfig::new().algorithm("exploding");
    let limit = registry.register("tested", config).unwrap();
    for _ in 0..3 {
        calls(&limit, &clock, 2, seconds(1), Outcome::Success);
    }
    assert_eq!(limit.snapshot().windows, 3);
}
