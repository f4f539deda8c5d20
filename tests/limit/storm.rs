//! Everything at once, on the system's clock: calls that end in every way, resets, subscriptions, snapshots.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use resilience::Outcome;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::Registry;

use crate::support::millis;

const LIMIT: u32 = 7;
const THREADS: u64 = 16;
const CALLS: u64 = 4000;

/// Numbers that look random and are the same on every run (Marsaglia, Xorshift RNGs, 2003).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[derive(Default)]
struct Seen {
    inside: AtomicU32,
    most: AtomicU32,
    ends: [AtomicU64; 4],
    rejected: AtomicU64,
}

/// One call; says in `seen` how it ended.
fn call(limit: &AdaptiveLimit, seen: &Seen, number: u64) {
    let Ok(permit) = limit.try_acquire() else {
        seen.rejected.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let inside = seen.inside.fetch_add(1, Ordering::SeqCst) + 1;
    seen.most.fetch_max(inside, Ordering::SeqCst);
    if number.is_multiple_of(3) {
        std::thread::yield_now();
    }
    seen.inside.fetch_sub(1, Ordering::SeqCst);
    let end = (number >> 8) % 5;
    seen.ends[end.min(3) as usize].fetch_add(1, Ordering::Relaxed);
    match end {
        0 => permit.complete(Outcome::Success),
        1 => permit.complete(Outcome::Drop),
        2 => permit.complete(Outcome::Ignored),
        3 => drop(permit),
        _ => {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let _permit = permit;
                std::panic::resume_unwind(Box::new("a body's own panic"));
            }));
            assert!(panicked.is_err());
        }
    }
}

#[test]
fn nothing_leaks_and_all_counts_add_up_whatever_happens_at_once() {
    for algorithm in ["gradient2", "aimd", "vegas", "knee"] {
        let config = LimitConfig::new()
            .algorithm(algorithm)
            .initial_limit(LIMIT)
            .max_limit(LIMIT)
            .window(millis(1))
            .min_window_samples(1);
        let limit = Registry::new().register("storm", config).unwrap();
        let (seen, over) = (Seen::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let callers: Vec<_> = (1..=THREADS)
                .map(|thread| {
                    let (limit, seen) = (&limit, &seen);
                    scope.spawn(move || {
                        let mut numbers = Numbers(thread);
                        for _ in 0..CALLS {
                            call(limit, seen, numbers.next());
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    limit.reset();
                    let within = limit.clone();
                    let subscription = limit.subscribe(move |_| {
                        // A listener calls through its own limit and takes part in the counting of nobody.
                        drop(within.snapshot());
                    });
                    std::thread::yield_now();
                    drop(subscription);
                }
            });
            for caller in callers {
                caller.join().unwrap();
            }
            over.store(true, Ordering::Relaxed);
        });
        assert!(seen.most.into_inner() <= LIMIT, "{algorithm}");
        assert_eq!(limit.in_flight(), 0, "{algorithm}");
        let [succeeded, dropped, ignored, cancelled] = seen.ends.map(AtomicU64::into_inner);
        let counters = limit.snapshot().counters;
        let counted = [
            counters.succeeded,
            counters.dropped,
            counters.ignored,
            counters.cancelled,
        ];
        assert_eq!(
            counted,
            [succeeded, dropped, ignored, cancelled],
            "{algorithm}"
        );
        assert_eq!(
            counters.admitted,
            counted.iter().sum::<u64>(),
            "{algorithm}"
        );
        assert_eq!(counters.rejected, seen.rejected.into_inner(), "{algorithm}");
        assert_eq!(
            counters.admitted + counters.rejected,
            THREADS * CALLS,
            "{algorithm}"
        );
    }
}
