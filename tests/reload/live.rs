//! What each setting does to a limit that lives, row by row as the table in docs/configuration.md says it.

use std::time::Duration;

use resilience::event::{Event, Reason};
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::Registry;
use resilience::time::ManualClock;
use resilience::{Error, Outcome};
use std::sync::{Arc, Mutex};

use crate::support::{Directory, manual};

/// A limit whose settings a test changes while it lives.
struct Live {
    directory: Directory,
    registry: Registry,
    limit: AdaptiveLimit,
    clock: ManualClock,
}

impl Live {
    fn new(settings: &[(&str, &str)]) -> Self {
        let directory = Directory::new();
        let file = directory.write("app.properties", &content(settings));
        let (builder, clock) = manual();
        let registry = builder.file(file).build().unwrap();
        let limit = registry.register("orders", LimitConfig::new()).unwrap();
        Self {
            directory,
            registry,
            limit,
            clock,
        }
    }

    fn change(&self, settings: &[(&str, &str)]) {
        self.directory.write("app.properties", &content(settings));
        self.registry.reload().unwrap();
    }

    /// Makes calls at once that all take `millis` and end like this, and so close the window if its time is up.
    fn calls(&self, count: u32, millis: u64, outcome: Outcome) {
        let permits: Vec<_> = (0..count)
            .map(|_| self.limit.try_acquire().unwrap())
            .collect();
        self.clock.advance(Duration::from_millis(millis));
        // The last admitted, which saw all the others in flight, first: it may be the one that closes the window.
        for permit in permits.into_iter().rev() {
            permit.complete(outcome);
        }
    }
}

/// One sample is enough for a window, unless a test says otherwise.
fn content(settings: &[(&str, &str)]) -> String {
    let samples = [("minWindowSamples", "1")];
    let said = settings
        .iter()
        .any(|(property, _)| *property == samples[0].0);
    let lines = settings
        .iter()
        .chain(samples.iter().filter(|_| !said))
        .map(|(property, value)| format!("instances.orders.adaptiveLimit.{property}={value}\n"));
    format!("# settings\n{}", lines.collect::<String>())
}

#[test]
fn bounds_clamp_the_limit_at_once_and_calls_above_it_finish() {
    let live = Live::new(&[]);
    let events = Arc::new(Mutex::new(Vec::new()));
    let noted = events.clone();
    let _noting = live
        .limit
        .subscribe(move |event| noted.lock().unwrap().push(event.clone()));
    let permits: Vec<_> = (0..20).map(|_| live.limit.try_acquire().unwrap()).collect();
    live.change(&[("maxLimit", "5")]);
    assert_eq!((live.limit.limit(), live.limit.in_flight()), (5, 20));
    assert!(live.limit.try_acquire().is_err());
    drop(permits);
    assert_eq!(live.limit.in_flight(), 0);
    live.change(&[("minLimit", "9"), ("maxLimit", "10")]);
    assert_eq!(live.limit.limit(), 9);
    let events = events.lock().unwrap();
    let moves: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::LimitChanged {
                from, to, reason, ..
            } => (*from, *to, reason.clone()),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(moves, [(20, 5, Reason::Bounds), (5, 9, Reason::Bounds)]);
}

#[test]
fn a_wider_bound_moves_nothing_and_what_was_learned_stays() {
    let live = Live::new(&[("algorithm", "gradient2"), ("maxLimit", "20")]);
    live.calls(20, 1000, Outcome::Success);
    let before = live.limit.snapshot();
    assert!(before.baseline.is_some());
    live.change(&[("algorithm", "gradient2"), ("maxLimit", "200")]);
    let after = live.limit.snapshot();
    assert_eq!(
        (after.limit, after.baseline, after.windows),
        (20, before.baseline, 1)
    );
    assert_eq!(after.counters, before.counters);
    // And it grows from there.
    for _ in 0..5 {
        live.calls(20, 1000, Outcome::Success);
    }
    assert!(live.limit.limit() > 20, "{}", live.limit.limit());
}

#[test]
fn the_initial_limit_is_for_what_begins_anew() {
    let live = Live::new(&[]);
    live.change(&[("initialLimit", "50")]);
    assert_eq!(
        (live.limit.limit(), live.limit.snapshot().initial_limit),
        (20, 50)
    );
    live.limit.reset();
    assert_eq!(live.limit.limit(), 50);
}

#[test]
fn a_window_is_as_long_as_it_is_now_said_from_when_it_opened() {
    let live = Live::new(&[("algorithm", "aimd"), ("window", "1h")]);
    live.calls(20, 500, Outcome::Success);
    assert_eq!(live.limit.snapshot().windows, 0);
    live.change(&[("algorithm", "aimd"), ("window", "100ms")]);
    live.calls(1, 1, Outcome::Success);
    assert_eq!(
        live.limit.snapshot().windows,
        1,
        "501 ms have passed since it opened"
    );
    live.change(&[("algorithm", "aimd"), ("window", "1h")]);
    live.calls(20, 500, Outcome::Success);
    assert_eq!(live.limit.snapshot().windows, 1);
}

#[test]
fn a_window_needs_as_many_samples_as_it_is_now_said() {
    let live = Live::new(&[("algorithm", "aimd"), ("minWindowSamples", "100")]);
    live.calls(15, 1500, Outcome::Success);
    assert_eq!(live.limit.snapshot().windows, 0);
    live.change(&[("algorithm", "aimd"), ("minWindowSamples", "3")]);
    live.calls(1, 1500, Outcome::Success);
    assert_eq!(live.limit.snapshot().windows, 1);
}

#[test]
fn a_limit_is_switched_off_and_on_and_every_call_gives_back_what_it_took() {
    let live = Live::new(&[("maxLimit", "20")]);
    let before: Vec<_> = (0..20).map(|_| live.limit.try_acquire().unwrap()).collect();
    live.change(&[("maxLimit", "20"), ("enabled", "off")]);
    let while_off: Vec<_> = (0..30).map(|_| live.limit.try_acquire().unwrap()).collect();
    assert_eq!(live.limit.in_flight(), 20);
    let admitted = live.limit.snapshot().counters.admitted;
    live.change(&[("maxLimit", "20"), ("enabled", "on")]);
    assert!(
        live.limit.try_acquire().is_err(),
        "those from before still hold theirs"
    );
    for permit in while_off {
        permit.complete(Outcome::Success);
    }
    assert_eq!(live.limit.in_flight(), 20);
    for permit in before {
        permit.complete(Outcome::Success);
    }
    assert_eq!(live.limit.in_flight(), 0);
    let seen = live.limit.snapshot();
    assert_eq!(
        (seen.counters.admitted, seen.counters.succeeded),
        (admitted, 20)
    );
}

#[test]
fn another_algorithm_goes_on_at_the_limit_in_force() {
    let live = Live::new(&[("algorithm", "aimd")]);
    live.calls(20, 1000, Outcome::Drop);
    assert_eq!(live.limit.limit(), 18);
    let held = live.limit.try_acquire().unwrap();
    live.change(&[("algorithm", "gradient2")]);
    let seen = live.limit.snapshot();
    assert_eq!(
        (seen.algorithm.as_ref(), seen.limit, seen.in_flight),
        ("gradient2", 18, 1)
    );
    assert_eq!(seen.baseline, None);
    drop(held);
    live.calls(18, 1000, Outcome::Success);
    assert!(live.limit.snapshot().exact_limit > 18.0);
}

#[test]
fn tuning_holds_from_the_next_window_and_keeps_what_was_learned() {
    let live = Live::new(&[("algorithm", "aimd")]);
    live.calls(20, 1000, Outcome::Success);
    assert_eq!(live.limit.limit(), 21);
    live.change(&[("algorithm", "aimd"), ("increaseBy", "10")]);
    assert_eq!(live.limit.limit(), 21);
    live.calls(21, 1000, Outcome::Success);
    assert_eq!(live.limit.limit(), 31);
    live.change(&[("algorithm", "aimd"), ("backoffRatio", "0.5")]);
    live.calls(31, 1000, Outcome::Drop);
    assert_eq!(live.limit.limit(), 15);
    live.change(&[("algorithm", "aimd"), ("latencyThreshold", "100ms")]);
    live.calls(15, 1000, Outcome::Success);
    assert!(live.limit.limit() < 15);

    let live = Live::new(&[("algorithm", "aimd"), ("increaseBy", "10")]);
    live.change(&[
        ("algorithm", "aimd"),
        ("increaseBy", "10"),
        ("growthBound", "inFlight(1.2)"),
    ]);
    live.calls(20, 1000, Outcome::Success);
    assert_eq!(live.limit.limit(), 25, "1.2 times 20 and one more");
}

#[test]
fn calls_in_flight_at_a_change_count_no_more_once_it_is_said_so() {
    let aimd = [("algorithm", "aimd")];
    let once = [("algorithm", "aimd"), ("oncePerRtt", "on")];
    for (settings, after) in [(&aimd[..], 22), (&once, 21)] {
        let live = Live::new(&aimd);
        live.change(settings);
        let earlier: Vec<_> = (0..15).map(|_| live.limit.try_acquire().unwrap()).collect();
        live.calls(1, 1000, Outcome::Success);
        assert_eq!(live.limit.limit(), 21);
        live.clock.advance(Duration::from_secs(1));
        for permit in earlier.into_iter().rev() {
            permit.complete(Outcome::Success);
        }
        assert_eq!(live.limit.limit(), after);
    }
}

#[test]
fn nothing_changed_and_nothing_happens() -> Result<(), Error> {
    let live = Live::new(&[("maxLimit", "100")]);
    live.calls(20, 1000, Outcome::Success);
    let before = live.limit.snapshot();
    live.change(&[("maxLimit", "0100")]);
    live.registry.reload()?;
    assert_eq!(live.limit.snapshot(), before);
    Ok(())
}

#[test]
fn an_algorithm_of_ones_own_takes_other_bounds_or_is_made_anew() {
    use resilience::limit::algorithm::{Algorithm, Bounds, Decision};
    use resilience::limit::window::Window;

    #[derive(Debug)]
    struct Grows {
        limit: f64,
        takes_bounds: bool,
    }
    impl Algorithm for Grows {
        fn update(&mut self, _: &Window) -> Decision {
            self.limit += 1.0;
            Decision::new(self.limit, Reason::custom("grows"))
        }
        fn set_bounds(&mut self, bounds: Bounds) -> bool {
            self.limit = bounds.clamp(self.limit);
            self.takes_bounds
        }
        fn baseline(&self) -> Option<f64> {
            // How it began.
            Some(1.0)
        }
    }

    for takes_bounds in [true, false] {
        let directory = Directory::new();
        let file = directory.write(
            "app.properties",
            "instances.orders.adaptiveLimit.maxLimit=100\n",
        );
        let made = Arc::new(Mutex::new(Vec::new()));
        let noted = made.clone();
        let (builder, clock) = manual();
        let registry = builder
            .file(&file)
            .algorithm("grows", move |bounds| {
                noted.lock().unwrap().push(bounds.initial());
                Grows {
                    limit: f64::from(bounds.initial()),
                    takes_bounds,
                }
            })
            .build()
            .unwrap();
        let config = LimitConfig::new().algorithm("grows").min_window_samples(1);
        let limit = registry.register("orders", config).unwrap();
        let call = || {
            let permit = limit.try_acquire().unwrap();
            clock.advance(Duration::from_secs(1));
            permit.complete(Outcome::Success);
        };
        call();
        assert_eq!(limit.limit(), 21);
        directory.write(
            "app.properties",
            "instances.orders.adaptiveLimit.maxLimit=22\n",
        );
        registry.reload().unwrap();
        call();
        call();
        assert_eq!(limit.limit(), 22);
        let expected: &[u32] = if takes_bounds { &[20] } else { &[20, 21] };
        assert_eq!(*made.lock().unwrap(), expected);
    }
}

#[test]
fn a_switch_ends_the_wait_that_an_algorithm_asked_for() -> Result<(), Error> {
    use resilience::limit::algorithm::{Algorithm, Decision};
    use resilience::limit::window::Window;

    #[derive(Debug)]
    struct Waits;
    impl Algorithm for Waits {
        fn update(&mut self, _: &Window) -> Decision {
            Decision::new(10.0, Reason::custom("waits")).next_window(3_600_000_000_000)
        }
    }
    let directory = Directory::new();
    let write = |name: &str| {
        directory.write(
            "app.properties",
            &format!("instances.orders.adaptiveLimit.algorithm={name}\n"),
        )
    };
    let file = write("waits");
    let (builder, clock) = manual();
    let registry = builder.file(&file).algorithm("waits", |_| Waits).build()?;
    let orders = registry.register("orders", LimitConfig::new().min_window_samples(1))?;
    let call = || {
        let permit = orders.try_acquire().unwrap();
        clock.advance(Duration::from_secs(2));
        permit.complete(Outcome::Success);
    };
    call();
    assert_eq!(orders.snapshot().windows, 1);
    write("aimd");
    registry.reload()?;
    call();
    assert_eq!(orders.snapshot().windows, 2);
    Ok(())
}
