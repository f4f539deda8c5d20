//! Dependencies that keep to a script.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::testing::{Assertions, Dependency, Script, TestRegistry};
use resilience::time::Clock;
use resilience::{Error, adaptive_limit};

const MS: Duration = Duration::from_millis(1);

/// What a script says, as latencies in milliseconds and answers.
fn first(script: Script<u32>, count: usize) -> Vec<(u64, u32)> {
    let test = TestRegistry::new();
    let dependency = test.dependency(script);
    let call = |_| {
        let before = test.clock().now();
        let answer = dependency.call_advancing();
        ((test.clock().now() - before) / 1_000_000, answer)
    };
    (0..count).map(call).collect()
}

#[test]
fn scripts_are_put_together() {
    let script = Script::of([(MS, 1), (2 * MS, 2)])
        .then(Script::times(2, 3 * MS, 3))
        .then(Script::always(4 * MS, 4));
    assert_eq!(
        first(script, 6),
        [(1, 1), (2, 2), (3, 3), (3, 3), (4, 4), (4, 4)]
    );
    let script = Script::repeating([(MS, 1), (2 * MS, 2)]);
    assert_eq!(first(script, 3), [(1, 1), (2, 2), (1, 1)]);
    let script = Script::by_number(|number| (number as u32 * MS, 10 * number as u32));
    assert_eq!(first(script, 3), [(1, 10), (2, 20), (3, 30)]);
}

#[test]
fn a_call_beyond_the_script_says_so_and_leaves_the_others_alone() {
    let test = TestRegistry::new();
    let dependency = test.dependency(Script::times(1, MS, 7));
    let calls = test.calls();
    let call = calls.start(dependency.call());
    let beyond = catch_unwind(AssertUnwindSafe(|| dependency.call_advancing()));
    let said = *beyond.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(
        said,
        "the script of the dependency is over, and this is call 2"
    );
    assert_eq!(dependency.pending(), 1);
    calls.advance(MS);
    assert_eq!(call.output(), 7);
}

#[adaptive_limit(name = "sync", initial_limit = 2)]
fn sync(dependency: &Dependency<u32>) -> Result<u32, Error> {
    Ok(dependency.call_blocking())
}

#[test]
fn sync_calls_block_until_another_thread_advances_the_clock() {
    let test = TestRegistry::with(|registry| {
        registry.defaults(LimitConfig::new().algorithm("aimd").min_window_samples(1))
    });
    let dependency = test.dependency(Script::always(Duration::from_secs(1), 7));
    std::thread::scope(|scope| {
        let call = || scope.spawn(|| test.scope(|| sync(&dependency)));
        let two = [call(), call()];
        dependency.wait_until_pending(2);
        let limit = test.limit("sync");
        limit.assert_in_flight(2);
        assert!(
            test.scope(|| sync(&dependency))
                .unwrap_err()
                .is_limit_exceeded()
        );
        test.advance(Duration::from_millis(999));
        assert_eq!(dependency.pending(), 2);
        test.advance(MS);
        for call in two {
            assert_eq!(call.join().unwrap().unwrap(), 7);
        }
        dependency.wait_until_pending(0);
        limit
            .assert_in_flight(0)
            .assert_latency(Duration::from_secs(1))
            .assert_rejected(1);
    });
}

/// Whoever sees a call begun may move the clock, and it ends a latency after the moment at which it was seen.
#[test]
fn a_call_has_its_end_before_others_see_it_begun() {
    const CALLS: u64 = 2_000;
    let test = TestRegistry::new();
    let dependency = test.dependency(Script::always(MS, 7));
    std::thread::scope(|scope| {
        let calls =
            scope.spawn(|| (0..CALLS).for_each(|_| assert_eq!(dependency.call_blocking(), 7)));
        let missed = (1..=CALLS).find(|&number| {
            while dependency.begun() < number {
                std::thread::yield_now();
            }
            test.advance(MS);
            // It is over, or wants to be woken later than that.
            loop {
                let now = test.clock().now();
                let late = test.clock().next_wake().is_some_and(|wake| wake > now);
                if dependency.begun() > number || calls.is_finished() {
                    break false;
                }
                if late {
                    break true;
                }
                std::thread::yield_now();
            }
        });
        // So that a call that ends too late fails the test, and does not hang it.
        while !calls.is_finished() {
            test.advance(MS);
        }
        assert_eq!(missed, None);
    });
}

#[test]
fn under_a_runtime_a_pending_call_is_woken_by_the_clock() {
    let test = TestRegistry::new();
    let dependency = test.dependency(Script::always(Duration::from_secs(1), 7));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let call = || {
            let dependency = dependency.clone();
            tokio::spawn(async move { dependency.call().await })
        };
        let calls = [call(), call(), call()];
        while dependency.pending() < 3 {
            tokio::task::yield_now().await;
        }
        test.advance(Duration::from_secs(1));
        for call in calls {
            assert_eq!(call.await.unwrap(), 7);
        }
    });
}
