//! Makes a number of calls of one kind, for ci/callgrind to count the instructions of.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use metrics::NoopRecorder;
use resilience::Outcome;
use resilience::event::Topics;
use resilience::integrations::metrics::Metrics;
use resilience::integrations::tracing;
use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use resilience::time::ManualClock;
use resilience_tests::calls;
use resilience_tests::ticks::Ticks;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, count] = args.as_slice() else {
        eprintln!("nothing to see here without ci/callgrind");
        return ExitCode::SUCCESS;
    };
    let Ok(count) = count.parse::<u64>() else {
        eprintln!("not a number of calls: {count}");
        return ExitCode::FAILURE;
    };
    // The time-stamp counter is not to be had under valgrind: how the clock is read would depend on the machine.
    let clock = ManualClock::new();
    let registry = Registry::builder().clock(clock.clone()).build();
    let registry = registry.expect("a valid registry");
    registry.clone().install().expect("the first one");
    // Each kind of call stands in one place, so that it is inlined alike, whoever listens.
    let _seen = kind.ends_with("-seen").then(|| seen(&registry));
    let _listening = (kind == "rejected-told").then(|| {
        registry.subscribe_to(Topics::REJECTIONS, |event| {
            black_box(event);
        })
    });
    match kind.as_str() {
        "admitted-sync" | "admitted-seen" => {
            for key in 1..=count {
                let _ = black_box(calls::admitted(black_box(key)));
            }
        }
        "tick-knee" => {
            let mut ticks = Ticks::new();
            for _ in 0..count {
                let _ = black_box(ticks.tick());
            }
        }
        "admitted-async" => {
            for key in 1..=count {
                let _ = black_box(calls::poll_admitted_async(black_box(key)));
            }
        }
        "rejected" | "rejected-told" => {
            let _slot = calls::fill();
            for key in 1..=count {
                let _ = black_box(calls::rejected(black_box(key)));
            }
        }
        "window" | "window-seen" => windows(&registry, &clock, count),
        "look-up" => {
            registry
                .register("orders", LimitConfig::new())
                .expect("valid settings");
            for _ in 0..count {
                let _ = black_box(registry.adaptive_limit(black_box("orders")));
            }
        }
        "look-up-by-key" => {
            let tenants = registry
                .register("tenant", LimitConfig::new())
                .and_then(|_| registry.keyed("tenant", 10))
                .expect("valid settings");
            for _ in 0..count {
                let _ = black_box(tenants.get(black_box("orders")));
            }
        }
        // Of each limit in it.
        "snapshot" => {
            for id in 0..100 {
                registry
                    .register(format!("limit {id}"), LimitConfig::new())
                    .and_then(|limit| limit.try_acquire_owned())
                    .expect("valid settings and a free slot")
                    .complete(Outcome::Success);
            }
            for _ in 0..count / 100 {
                black_box(registry.snapshot());
            }
        }
        kind => {
            let with = |(name, _): &&(&str, _)| kind.strip_prefix("admitted-") == Some(*name);
            let Some((_, call)) = calls::WITH_ALGORITHMS.iter().find(with) else {
                eprintln!("no such kind of call: {kind}");
                return ExitCode::FAILURE;
            };
            for key in 1..=count {
                let _ = black_box(call(black_box(key)));
            }
        }
    }
    ExitCode::SUCCESS
}

/// Attaches all integrations, to a recorder that does nothing and to no subscriber: what they cost by themselves. Setting up the
/// recorder of Prometheus takes another number of instructions each time.
fn seen(registry: &Registry) -> impl Sized + use<> {
    (
        Metrics::new().recorder(NoopRecorder).attach(registry),
        tracing::subscribe(registry),
        registry.subscribe_to(Topics::ALL - Topics::REJECTIONS, |event| {
            black_box(event);
        }),
    )
}

/// Makes calls that end a window each, which leaves the limit as it is.
fn windows(registry: &Registry, clock: &ManualClock, count: u64) {
    let config = LimitConfig::new().algorithm("aimd").min_window_samples(1);
    let limit = registry.register("orders", config).expect("valid settings");
    for _ in 0..count {
        let permit = limit.try_acquire().expect("a slot is free");
        clock.advance(Duration::from_secs(1));
        permit.complete(Outcome::Success);
    }
}
