//! When windows close and what they hold.

use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use resilience::Outcome;
use resilience::event::Reason;
use resilience::limit::LimitConfig;
use resilience::limit::algorithm::{Algorithm, Close, Decision};
use resilience::limit::window::{Window, WindowRule};
use resilience::time::Clock;

use crate::support::{calls, limit, manual, millis, recorded, seconds};

#[test]
fn a_window_closes_with_the_first_call_that_ends_after_its_time_and_holds_every_sample() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(3));
    calls(&limit, &clock, 2, millis(400), Outcome::Success);
    calls(&limit, &clock, 1, millis(200), Outcome::Drop);
    calls(&limit, &clock, 1, millis(100), Outcome::Ignored);
    assert!(windows.all().is_empty());
    calls(&limit, &clock, 4, millis(300), Outcome::Success);

    // The first of the four closed the window; the others are in the next.
    let window = &windows.all()[0];
    assert_eq!((window.opened, window.closed), (0, 1_000_000_000));
    assert_eq!((window.successes, window.drops, window.ignored), (3, 1, 1));
    assert_eq!(
        (window.latency_sum, window.drop_latency_sum),
        (2 * 400_000_000 + 300_000_000, 200_000_000)
    );
    assert_eq!(
        (window.max_in_flight, window.in_flight_sum),
        (2, 1 + 2 + 1 + 1)
    );
    // 2 calls for 400 ms, 1 for 200, 1 for 100, 4 for 300; all over in the window but for three of the last four.
    assert_eq!(
        window.in_flight_area,
        (2 * 400 + 200 + 100 + 4 * 300) * 1_000_000
    );
    assert_eq!(
        window.ended_latency_sum,
        (2 * 400 + 200 + 100 + 300) * 1_000_000
    );
    assert_eq!(
        (window.admitted, window.rejected, window.in_flight),
        (8, 0, 3)
    );
    assert_eq!(limit.snapshot().windows, 1);
}

#[test]
fn too_few_samples_extend_the_window_and_are_kept() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(5));
    for _ in 0..4 {
        calls(&limit, &clock, 1, millis(1500), Outcome::Success);
        assert!(windows.all().is_empty());
    }
    calls(&limit, &clock, 1, millis(1500), Outcome::Success);
    let window = windows.last();
    assert_eq!(
        (window.samples(), window.opened, window.closed),
        (5, 0, 7_500_000_000)
    );
}

#[test]
fn an_extended_window_is_asked_about_again_only_after_another_duration() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(2));
    calls(&limit, &clock, 1, millis(1100), Outcome::Success);
    // Extended to 2.1 s: enough samples before that do not close it.
    calls(&limit, &clock, 5, millis(900), Outcome::Success);
    assert!(windows.all().is_empty());
    calls(&limit, &clock, 1, millis(100), Outcome::Success);
    assert_eq!(windows.last().samples(), 7);
}

#[test]
fn cancelled_calls_are_counted_but_are_no_samples_and_close_no_window() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(1));
    let cancelled = limit.try_acquire().unwrap();
    clock.advance(seconds(2));
    drop(cancelled);
    assert!(windows.all().is_empty());
    calls(&limit, &clock, 1, millis(10), Outcome::Success);
    let window = windows.last();
    assert_eq!((window.samples(), window.cancelled), (1, 1));
    assert_eq!(
        (window.latency_sum, window.ended_latency_sum),
        (10_000_000, 2_010_000_000)
    );
}

#[test]
fn rejections_are_counted_and_are_no_samples() {
    let config = LimitConfig::new()
        .initial_limit(1)
        .max_limit(1)
        .min_window_samples(1);
    let (limit, clock, windows) = recorded(config);
    let held = limit.try_acquire().unwrap();
    for _ in 0..3 {
        limit.try_acquire().unwrap_err();
    }
    clock.advance(seconds(1));
    held.complete(Outcome::Success);
    assert_eq!((windows.last().rejected, windows.last().samples()), (3, 1));
}

#[test]
fn the_logarithms_of_latencies_are_summed_closely_enough() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(2));
    calls(&limit, &clock, 1, millis(10), Outcome::Success);
    calls(&limit, &clock, 1, Duration::ZERO, Outcome::Success);
    calls(&limit, &clock, 1, millis(2000), Outcome::Success);
    let window = windows.last();
    let (a, b) = (10_000_000f64.ln(), 2_000_000_000f64.ln());
    assert_eq!((window.successes, window.timed), (3, 2));
    assert!(
        (window.log_latency_sum - (a + b)).abs() < 1e-4,
        "{}",
        window.log_latency_sum
    );
    assert!(
        (window.log_latency_sq_sum - (a * a + b * b)).abs() < 1e-2,
        "{}",
        window.log_latency_sq_sum
    );
}

#[test]
fn calls_of_many_threads_add_up_over_windows() {
    const THREADS: u64 = 8;
    const CALLS: u64 = 4000;
    let config = LimitConfig::new()
        .initial_limit(100)
        .min_window_samples(1)
        .window(millis(1));
    let (limit, clock, windows) = recorded(config);
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (limit, clock, barrier) = (&limit, &clock, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for call in 0..CALLS {
                    let permit = limit.try_acquire().unwrap();
                    clock.advance(Duration::from_micros(10));
                    let outcome = if (call + thread).is_multiple_of(4) {
                        Outcome::Drop
                    } else {
                        Outcome::Success
                    };
                    permit.complete(outcome);
                }
            });
        }
    });
    // One more call closes the window that the last calls are in.
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    let all = windows.all();
    assert!(all.len() > 10, "{} windows", all.len());
    assert_eq!(
        all.iter().map(|window| window.successes).sum::<u64>(),
        THREADS * CALLS * 3 / 4 + 1
    );
    assert_eq!(
        all.iter().map(|window| window.drops).sum::<u64>(),
        THREADS * CALLS / 4
    );
    assert_eq!(
        all.iter().map(|window| window.admitted).sum::<u64>(),
        THREADS * CALLS + 1
    );
    // Windows follow each other without a gap.
    assert!(all.windows(2).all(|pair| pair[0].closed == pair[1].opened));
    // The last call took 1 s; the area is that of the latencies, whichever thread and window they fell into.
    let area: u64 = all
        .iter()
        .map(|window| window.in_flight_area)
        .fold(0, u64::wrapping_add);
    let latencies: u64 = all.iter().map(|window| window.ended_latency_sum).sum();
    assert_eq!(area, latencies);
    assert_eq!(all.last().unwrap().closed, clock.now());
}

#[test]
fn one_burst_of_drops_cuts_once_however_long_its_calls_take() {
    let config = LimitConfig::new()
        .initial_limit(100)
        .min_window_samples(1)
        .window(millis(100));
    for algorithm in ["gradient2", "aimd", "vegas"] {
        let (limit, clock) = limit(config.clone().algorithm(algorithm));
        let burst: Vec<_> = (0..20).map(|_| limit.try_acquire().unwrap()).collect();
        // They fail one after the other, each long after the window of the one before has closed.
        for permit in burst {
            clock.advance(seconds(1));
            permit.complete(Outcome::Drop);
        }
        assert_eq!(limit.limit(), 90, "{algorithm}");
        // The next call is a new round trip.
        calls(&limit, &clock, 1, seconds(1), Outcome::Drop);
        assert_eq!(limit.limit(), 81, "{algorithm}");
    }
}

#[test]
fn calls_admitted_at_the_instant_of_a_cut_cut_again_only_if_they_came_after_it() {
    let config = LimitConfig::new().initial_limit(100).min_window_samples(1);
    for algorithm in ["gradient2", "aimd", "vegas"] {
        let (limit, clock) = limit(config.clone().algorithm(algorithm));
        let first = limit.try_acquire().unwrap();
        clock.advance(seconds(1));
        let before = limit.try_acquire().unwrap();
        first.complete(Outcome::Drop);
        let after = limit.try_acquire().unwrap();
        clock.advance(seconds(1));
        before.complete(Outcome::Drop);
        assert_eq!(limit.limit(), 90, "{algorithm}");
        clock.advance(seconds(1));
        after.complete(Outcome::Drop);
        assert_eq!(limit.limit(), 81, "{algorithm}");
    }
}

#[test]
fn calls_admitted_before_a_cut_do_not_teach_the_baseline() {
    let config = LimitConfig::new()
        .initial_limit(20)
        .min_window_samples(1)
        .window(millis(100));
    let (limit, clock) = limit(config);
    calls(&limit, &clock, 10, millis(100), Outcome::Success);
    let baseline = limit.snapshot().baseline;
    let slow = limit.try_acquire().unwrap();
    calls(&limit, &clock, 1, millis(100), Outcome::Drop);
    clock.advance(seconds(50));
    slow.complete(Outcome::Success);
    assert_eq!(limit.snapshot().baseline, baseline);
    assert_eq!(limit.snapshot().counters.succeeded, 11);
}

#[test]
fn a_clock_too_coarse_to_tell_latencies_moves_no_limit() {
    for algorithm in ["gradient2", "aimd", "vegas", "knee"] {
        let config = LimitConfig::new()
            .algorithm(algorithm)
            .min_window_samples(1);
        let (limit, clock) = limit(config);
        for _ in 0..5 {
            clock.advance(seconds(1));
            calls(&limit, &clock, 10, Duration::ZERO, Outcome::Success);
        }
        let snapshot = limit.snapshot();
        assert!(snapshot.limit >= 20, "{algorithm}: {}", snapshot.limit);
        assert_eq!(snapshot.last_window.unwrap().latency, None);
    }
}

/// Lets calls end on other threads while it decides on its first window.
#[derive(Debug)]
struct Slow {
    meanwhile: Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>,
    windows: Arc<Mutex<Vec<Window>>>,
}

impl Algorithm for Slow {
    fn update(&mut self, window: &Window) -> Decision {
        self.windows.lock().unwrap().push(window.clone());
        if let Some((decides, ended)) = self.meanwhile.take() {
            decides.send(()).unwrap();
            ended.recv().unwrap();
        }
        Decision::new(f64::from(window.limit), Reason::custom("slow"))
    }
}

#[test]
fn the_peak_of_calls_that_end_while_a_window_closes_is_in_the_next() {
    let (builder, clock) = manual();
    let (decides, has_begun) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    let slow = Mutex::new(Some((decides, ended)));
    let windows = Arc::new(Mutex::new(Vec::new()));
    let noted = windows.clone();
    let registry = builder
        .algorithm("slow", move |_| Slow {
            meanwhile: slow.lock().unwrap().take(),
            windows: noted.clone(),
        })
        .build()
        .unwrap();
    let config = LimitConfig::new().algorithm("slow").min_window_samples(1);
    let limit = registry.register("tested", config).unwrap();

    let first = limit.try_acquire_owned().unwrap();
    let others: Vec<_> = (0..9).map(|_| limit.try_acquire().unwrap()).collect();
    clock.advance(seconds(1));
    std::thread::scope(|scope| {
        scope.spawn(|| first.complete(Outcome::Success));
        has_begun.recv().unwrap();
        for permit in others {
            permit.complete(Outcome::Success);
        }
        end.send(()).unwrap();
    });
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);

    let windows = windows.lock().unwrap();
    let seen: Vec<_> = windows
        .iter()
        .map(|window| (window.samples(), window.max_in_flight))
        .collect();
    assert_eq!(seen, [(1, 1), (10, 10)]);
}

#[test]
fn a_peak_ends_with_its_window() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(1));
    for in_flight in [9, 2] {
        let mut permits: Vec<_> = (0..in_flight)
            .map(|_| limit.try_acquire().unwrap())
            .collect();
        let last = permits.pop().unwrap();
        // The others are no samples, so the next window has nothing of theirs.
        drop(permits);
        clock.advance(seconds(1));
        last.complete(Outcome::Success);
    }
    let peaks: Vec<_> = windows
        .all()
        .iter()
        .map(|window| window.max_in_flight)
        .collect();
    assert_eq!(peaks, [9, 2]);
}

/// Asks for a window of 5 ms after the first, in which drops below 10 ms are fast.
#[derive(Debug)]
struct Asking(Arc<Mutex<Vec<Window>>>);

impl Algorithm for Asking {
    fn update(&mut self, window: &Window) -> Decision {
        self.0.lock().unwrap().push(window.clone());
        let mut decision = Decision::new(f64::from(window.limit) - 1.0, Reason::custom("asking"));
        decision.next_window = Some(5_000_000);
        decision.fast_drop_below = 10_000_000;
        decision
    }
}

#[test]
fn a_decision_sets_the_next_window_and_which_drops_are_fast_until_a_reset() {
    let (builder, clock) = manual();
    let windows = Arc::new(Mutex::new(Vec::new()));
    let noted = windows.clone();
    let registry = builder
        .algorithm("asking", move |_| Asking(noted.clone()))
        .build()
        .unwrap();
    let config = LimitConfig::new().algorithm("asking").min_window_samples(1);
    let limit = registry.register("tested", config).unwrap();
    let drop_after = |latency| calls(&limit, &clock, 1, latency, Outcome::Drop);
    let seen = || {
        let windows = windows.lock().unwrap();
        let last = windows.last().unwrap();
        (windows.len(), last.fast_drops, last.fast_drop_latency_sum)
    };

    drop_after(seconds(1));
    assert_eq!(seen(), (1, 0, 0));
    drop_after(millis(4));
    assert_eq!(seen(), (1, 0, 0), "the window lasts 5 ms");
    drop_after(millis(10));
    assert_eq!(seen(), (2, 1, 4_000_000));
    drop_after(millis(9));
    assert_eq!(seen(), (3, 1, 9_000_000));

    limit.reset();
    drop_after(millis(9));
    assert_eq!(seen(), (3, 1, 9_000_000), "the window lasts 1 s again");
    drop_after(millis(991));
    assert_eq!(seen(), (4, 0, 0));
}

#[test]
fn the_peak_counts_calls_that_are_no_samples_and_those_that_ran_when_the_window_began() {
    let (limit, clock, windows) = recorded(LimitConfig::new().min_window_samples(1));
    // Five run on into the second window; of them and of the ignored ones none is a sample.
    let running: Vec<_> = (0..5).map(|_| limit.try_acquire().unwrap()).collect();
    calls(&limit, &clock, 2, millis(500), Outcome::Ignored);
    calls(&limit, &clock, 1, millis(500), Outcome::Success);
    assert_eq!(
        (windows.last().max_in_flight, windows.last().peak_in_flight),
        (6, 7)
    );
    drop(running);
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    assert_eq!(
        (windows.last().max_in_flight, windows.last().peak_in_flight),
        (1, 5)
    );
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    assert_eq!(
        (windows.last().max_in_flight, windows.last().peak_in_flight),
        (1, 1)
    );
}

#[test]
fn fast_drops_are_told_apart_by_what_the_last_decision_said() {
    #[derive(Debug)]
    struct Threshold(Arc<Mutex<Vec<Window>>>);
    impl Algorithm for Threshold {
        fn update(&mut self, window: &Window) -> Decision {
            self.0.lock().unwrap().push(window.clone());
            Decision::new(20.0, Reason::custom("threshold"))
                .fast_drop_below(10_000_000)
                .next_window(500_000_000)
        }
    }
    let (builder, clock) = manual();
    let windows = Arc::new(Mutex::new(Vec::new()));
    let noted = windows.clone();
    let registry = builder
        .algorithm("threshold", move |_| Threshold(noted.clone()))
        .build()
        .unwrap();
    let config = LimitConfig::new()
        .algorithm("threshold")
        .min_window_samples(1);
    let limit = registry.register("tested", config).unwrap();
    calls(&limit, &clock, 1, millis(1), Outcome::Drop);
    calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    calls(&limit, &clock, 3, millis(9), Outcome::Drop);
    calls(&limit, &clock, 1, millis(10), Outcome::Drop);
    // The next window is as long as the decision asked for.
    calls(&limit, &clock, 1, millis(481), Outcome::Success);
    let windows = windows.lock().unwrap();
    assert_eq!((windows[0].drops, windows[0].fast_drops), (1, 0));
    assert_eq!((windows[1].drops, windows[1].fast_drops), (4, 3));
    assert_eq!(
        (
            windows[1].fast_drop_latency_sum,
            windows[1].fast_drop_in_flight_sum
        ),
        (27_000_000, 1 + 2 + 3)
    );
    assert_eq!(windows[1].duration(), 500_000_000);
}

#[test]
fn a_window_tells_how_often_it_was_begun_anew() {
    /// Begins each window anew twice.
    #[derive(Debug)]
    struct Third(Arc<Mutex<Vec<Window>>>);

    impl Algorithm for Third {
        fn close(&self, window: &Window, rule: &WindowRule) -> Close {
            let until = window.closed + rule.duration;
            let fresh = false;
            match window.restarts {
                0 | 1 => Close::Restart { until, fresh },
                _ => Close::Now,
            }
        }

        fn update(&mut self, window: &Window) -> Decision {
            self.0.lock().unwrap().push(window.clone());
            Decision::new(20.0, Reason::custom("as it was"))
        }
    }

    let (builder, clock) = manual();
    let windows = Arc::new(Mutex::new(Vec::new()));
    let noted = windows.clone();
    let builder = builder.algorithm("third", move |_| Third(noted.clone()));
    let registry = builder.build().unwrap();
    let limit = registry
        .register("tested", LimitConfig::new().algorithm("third"))
        .unwrap();
    for _ in 0..6 {
        calls(&limit, &clock, 1, seconds(1), Outcome::Success);
    }
    let windows = windows.lock().unwrap();
    let told: Vec<_> = windows
        .iter()
        .map(|window| (window.restarts, window.samples()))
        .collect();
    assert_eq!(told, [(2, 1), (2, 1)]);
}
