//! Reloads under load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use resilience::Outcome;
use resilience::limit::LimitConfig;

use crate::support::{Directory, manual};

#[test]
fn a_hundred_reloads_under_load_lose_nothing_and_nobody_sees_defaults() {
    let directory = Directory::new();
    let content = |max: u32| {
        format!(
            "# settings\nconfigs.backend.adaptiveLimit.maxLimit={max}\nconfigs.backend.adaptiveLimit.minLimit={max}\n"
        )
    };
    let file = directory.write("app.properties", &content(8));
    let (builder, _) = manual();
    let registry = builder.file(&file).build().unwrap();
    let orders = registry
        .register_with("orders", "backend", LimitConfig::new())
        .unwrap();
    let (told, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let told_ref: &AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    let _telling = orders.subscribe(move |_| {
        told_ref.fetch_add(1, Ordering::Relaxed);
    });
    let calls = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // A handle of its own each time, as a new call site would get it.
                    let limit = registry
                        .register_with("orders", "backend", LimitConfig::new())
                        .unwrap();
                    if let Ok(permit) = limit.try_acquire() {
                        calls.fetch_add(1, Ordering::Relaxed);
                        // Never more than the largest limit there ever was.
                        assert!(limit.in_flight() <= 12, "{}", limit.in_flight());
                        permit.complete(Outcome::Success);
                    }
                    let seen = limit.snapshot();
                    assert!([8, 12].contains(&seen.limit), "{}", seen.limit);
                    assert!([8, 12].contains(&seen.max_limit), "{}", seen.max_limit);
                }
            });
        }
        for reload in 1..=100 {
            directory.write(
                "app.properties",
                &content(if reload % 2 == 0 { 8 } else { 12 }),
            );
            registry.reload().unwrap();
            told.fetch_add(1, Ordering::Relaxed);
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(orders.in_flight(), 0);
    let seen = orders.snapshot();
    assert_eq!(seen.counters.admitted, calls.load(Ordering::Relaxed));
    assert_eq!(seen.counters.succeeded, seen.counters.admitted);
    assert_eq!(told_ref.load(Ordering::Relaxed), 100);
    assert_eq!(registry.snapshot().limits.len(), 1);
}
