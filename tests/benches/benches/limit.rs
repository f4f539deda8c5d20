//! What the adaptive limit costs, as a ratio to two reads of the clock. docs/benchmarks.md says how to run it.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use resilience::Outcome;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::Registry;
use resilience::time::ManualClock;
use resilience_benches::{Goal, Run};
use resilience_tests::allocations::Counting;
use resilience_tests::calls;
use resilience_tests::ticks::Ticks;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let mut run = Run::from_args();
    admitted(&mut run);
    rejected(&mut run);
    look_up(&mut run);
    for stripes in [1, 64] {
        close_window(&mut run, stripes);
    }
    decide(&mut run);
    for stripes in [1, 64] {
        snapshot(&mut run, stripes);
    }
    run.finish()
}

fn admitted(run: &mut Run) {
    let unlimited = |_| || drop(black_box(calls::unlimited(black_box(7))));
    run.call("the same function without a limit", 1, None, unlimited);
    let sync = |_| || drop(black_box(calls::admitted(black_box(7))));
    run.call("admitted, sync", 1, Some(Goal::new(1.0, 1.3)), sync);
    run.call(
        "admitted, sync, 2 threads",
        2,
        Some(Goal::new(3.0, 4.0)),
        sync,
    );
    run.call("admitted, sync, 4 threads", 4, None, sync);
    for (algorithm, call) in calls::WITH_ALGORITHMS {
        run.call(
            &format!("admitted, sync, {algorithm}"),
            1,
            Some(Goal::new(1.0, 1.3)),
            |_| || drop(black_box(call(black_box(7)))),
        );
    }
    let asynchronous = |_| || drop(black_box(calls::poll_admitted_async(black_box(7))));
    run.call(
        "admitted, async",
        1,
        Some(Goal::new(1.0, 1.3)),
        asynchronous,
    );
    run.call(
        "admitted, async, 2 threads",
        2,
        Some(Goal::new(3.0, 4.0)),
        asynchronous,
    );
    run.call("admitted, async, 4 threads", 4, None, asynchronous);
    let apart = |thread: usize| move || drop(black_box(calls::APART[thread](black_box(7))));
    run.call("admitted, 2 threads on limits of their own", 2, None, apart);
    run.call("admitted, 4 threads on limits of their own", 4, None, apart);
    let name = "admitted, sync, beyond 64 threads";
    with_threads(64, || run.call(name, 1, None, sync));
}

/// Runs `run` while `threads` other threads live that have made a call.
fn with_threads(threads: usize, run: impl FnOnce()) {
    let (called, done) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                drop(black_box(calls::admitted(black_box(7))));
                called.wait();
                done.wait();
            });
        }
        called.wait();
        run();
        done.wait();
    });
}

fn rejected(run: &mut Run) {
    let _slot = calls::fill();
    let rejected = |_| || drop(black_box(calls::rejected(black_box(7))));
    run.call("rejected", 1, Some(Goal::new(0.1, 0.1)), rejected);
    run.call("rejected, 2 threads", 2, None, rejected);
}

fn look_up(run: &mut Run) {
    let registry = Registry::new();
    for number in 0..100 {
        registry
            .register(format!("limit {number}"), LimitConfig::new())
            .expect("valid settings");
    }
    run.call("look-up by name, of 100 limits", 1, None, |_| {
        || drop(black_box(registry.adaptive_limit(black_box("limit 42"))))
    });
}

/// A limit that stays at 20, more than half of them in use, which `threads` threads have called through.
fn busy(algorithm: &'static str, clock: ManualClock, threads: usize) -> AdaptiveLimit {
    let registry = Registry::builder()
        .clock(clock)
        .build()
        .expect("a valid registry");
    let config = LimitConfig::new()
        .algorithm(algorithm)
        .min_limit(20)
        .max_limit(20)
        .window(Duration::from_millis(1))
        .min_window_samples(1);
    let limit = registry
        .register(algorithm, config)
        .expect("valid settings");
    let all_alive = Barrier::new(threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // At most 20 at once, and one at a time is easiest; the threads' stripes are theirs while they live.
                while limit.try_acquire().is_err() {
                    thread::yield_now();
                }
                all_alive.wait();
            });
        }
    });
    for _ in 0..12 {
        let permit = limit.try_acquire_owned().expect("a free slot");
        std::mem::forget(permit);
    }
    limit
}

fn close_window(run: &mut Run, stripes: usize) {
    for algorithm in ["gradient2", "aimd", "vegas"] {
        let clock = ManualClock::new();
        let limit = busy(algorithm, clock.clone(), stripes);
        let name = format!("call that closes a window, {algorithm}, {stripes} threads' samples");
        run.call(&name, 1, None, |_| {
            || {
                let permit = limit.try_acquire().expect("a free slot");
                clock.advance(Duration::from_millis(1));
                permit.complete(Outcome::Success);
            }
        });
        assert_eq!(limit.in_flight(), 12, "each call ended");
        let snapshot = limit.snapshot();
        assert!(
            snapshot.windows >= snapshot.counters.succeeded,
            "each call closed a window"
        );
    }
}

/// What knee does at the end of a window, apart from reading the sums: that costs it what it costs the others. It does not
/// close a window at each call, as they can be made to.
fn decide(run: &mut Run) {
    let name = "end of a window, knee alone";
    // 10 us where the unit is 46 ns; what it takes is far below.
    run.call(name, 1, Some(Goal::new(215.0, 215.0)), |_| {
        let mut ticks = Ticks::new();
        move || drop(black_box(ticks.tick()))
    });
    let mut ticks = Ticks::new();
    let closed = (0..1000).filter(|_| ticks.tick().is_some()).count();
    assert!(closed > 900, "only {closed} of 1000 windows closed");
}

fn snapshot(run: &mut Run, stripes: usize) {
    let limit = busy("gradient2", ManualClock::new(), stripes);
    let name = format!("snapshot, {stripes} threads' samples");
    run.call(&name, 1, None, |_| || drop(black_box(limit.snapshot())));
}
