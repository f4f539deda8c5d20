//! Waits, cancellations, time-outs, panics, reloads and moves of the limit at once, on the system's clock.
//!
//! `RESILIENCE_SOAK_CALLS` says how many calls each storm makes; `ci/soak` makes many.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use resilience::event::{Event, Rejection, Topics};
use resilience::limit::{Acquire, AdaptiveLimit, LimitConfig, Permit};
use resilience::registry::Registry;
use resilience::{Error, Outcome};

use crate::storm::Numbers;

const THREADS: u64 = 4;

/// How many calls each thread makes.
fn calls() -> u64 {
    let said = std::env::var("RESILIENCE_SOAK_CALLS").ok();
    let calls: u64 = said.map_or(12_000, |said| said.parse().expect("a number of calls"));
    calls / THREADS
}

/// Over the largest limit that the reloads set.
const MOST: u32 = 6;

#[derive(Default)]
struct Seen {
    inside: AtomicU32,
    most: AtomicU32,
    admitted: AtomicU64,
    rejected: AtomicU64,
    full: AtomicU64,
    timed_out: AtomicU64,
    abandoned: AtomicU64,
}

impl Seen {
    fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn rejection(&self, error: &Error) {
        assert!(error.is_limit_exceeded(), "{error}");
        Self::add(&self.rejected);
        if error.is_queue_full() {
            Self::add(&self.full);
        }
        if error.is_wait_timed_out() {
            Self::add(&self.timed_out);
        }
    }

    /// The body of a call.
    fn run(&self, permit: Permit<'_>, number: u64) {
        Self::add(&self.admitted);
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        for _ in 0..number % 4 {
            std::thread::yield_now();
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
        match (number >> 8) % 5 {
            0 | 1 => permit.complete(Outcome::Success),
            2 => permit.complete(Outcome::Drop),
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
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until it is ready, or at most so often.
fn poll<'a>(future: &mut Pin<Box<Acquire<'a>>>, polls: u64) -> Option<Result<Permit<'a>, Error>> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    for _ in 0..polls {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return Some(result),
            Poll::Pending if polls == u64::MAX => std::thread::park(),
            Poll::Pending => std::thread::yield_now(),
        }
    }
    None
}

fn call(limit: &AdaptiveLimit, seen: &Seen, number: u64) {
    let admitted = match (number >> 16) % 8 {
        0..3 => limit.acquire(),
        3..6 => {
            let mut future = Box::pin(limit.acquire_async());
            poll(&mut future, u64::MAX).expect("polled until it is ready")
        }
        6 => {
            let mut future = Box::pin(limit.acquire_async());
            let Some(result) = poll(&mut future, 1 + (number >> 20) % 3) else {
                drop(future);
                return Seen::add(&seen.abandoned);
            };
            result
        }
        _ => limit.try_acquire(),
    };
    match admitted {
        Ok(permit) => seen.run(permit, number),
        Err(error) => seen.rejection(&error),
    }
}

/// What the reloads change.
#[derive(Clone, Copy, PartialEq)]
enum Changed {
    /// The limit, and how long and how many may wait.
    Bounds,
    /// Whether the limit is only observed, too.
    Mode,
    /// Whether it is switched off, too.
    Enabled,
}

fn keys(changed: Changed, number: u64) -> Vec<(String, String)> {
    let limit = 1 + number % u64::from(MOST);
    let observed = changed != Changed::Bounds && (number >> 16).is_multiple_of(4);
    let off = changed == Changed::Enabled && (number >> 18).is_multiple_of(4);
    let keys = [
        ("minLimit", "1".to_owned()),
        ("initialLimit", limit.to_string()),
        ("maxLimit", limit.to_string()),
        // Waits that end by a slot, and waits that end by time.
        (
            "maxWait",
            ["1ms", "2ms", "10s"][number as usize / 8 % 3].to_owned(),
        ),
        ("queueLimit", (1 + number / 32 % 5).to_string()),
        (
            "mode",
            if observed { "observe" } else { "enforce" }.to_owned(),
        ),
        ("enabled", (!off).to_string()),
    ];
    let keys = keys.map(|(name, value)| {
        let key = format!("instances.storm.adaptiveLimit.{name}");
        (key, value)
    });
    keys.into()
}

/// The rejections that a listener of the registry heard of.
#[derive(Default)]
struct Heard {
    rejected: AtomicU64,
    full: AtomicU64,
    timed_out: AtomicU64,
}

impl Heard {
    fn hear(&self, event: &Event) {
        if let Event::Rejected { reason, .. } = event {
            Seen::add(&self.rejected);
            match reason {
                Rejection::QueueFull => Seen::add(&self.full),
                Rejection::WaitTimedOut => Seen::add(&self.timed_out),
                _ => {}
            }
        }
    }
}

fn storm(changed: Changed) {
    let calls = calls();
    let settings = Arc::new(AtomicU64::new(0));
    let said = settings.clone();
    let registry = Registry::builder()
        .values("test", move || {
            Ok::<_, Error>(keys(changed, said.load(Ordering::Relaxed)))
        })
        .build()
        .unwrap();
    let config = LimitConfig::new().window(std::time::Duration::from_millis(1));
    let config = config.algorithm("aimd").min_window_samples(1);
    let limit = registry.register("storm", config).unwrap();
    let heard = Arc::new(Heard::default());
    let listening = heard.clone();
    let _subscription = registry.subscribe_to(Topics::ALL, move |event| listening.hear(event));
    let seen = Seen::default();
    std::thread::scope(|scope| {
        let callers: Vec<_> = (1..=THREADS)
            .map(|thread| {
                let (limit, seen) = (&limit, &seen);
                scope.spawn(move || {
                    let mut numbers = Numbers(thread);
                    for _ in 0..calls {
                        call(limit, seen, numbers.next());
                    }
                })
            })
            .collect();
        let mut numbers = Numbers(99);
        while callers.iter().any(|caller| !caller.is_finished()) {
            settings.store(numbers.next() >> 20, Ordering::Relaxed);
            registry.reload().unwrap();
            if numbers.next().is_multiple_of(4) {
                limit.reset();
            }
            assert!(u64::from(registry.snapshot().limits[0].queued) <= THREADS);
            std::thread::yield_now();
        }
        for caller in callers {
            caller.join().unwrap();
        }
    });
    // Whatever was set last: what is left is looked at with the limit in force.
    settings.store(u64::MAX, Ordering::Relaxed);
    registry.reload().unwrap();
    let snapshot = limit.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.queued), (0, 0));
    if changed == Changed::Bounds {
        assert!(seen.most.into_inner() <= MOST);
    }
    let counters = snapshot.counters;
    let rejections = [&heard.rejected, &heard.full, &heard.timed_out];
    assert_eq!(
        rejections.map(|heard| heard.load(Ordering::Relaxed)),
        [
            counters.rejected,
            counters.queue_full,
            counters.wait_timed_out
        ]
    );
    assert_eq!(counters.queue_full, seen.full.into_inner());
    // One that is abandoned may have had its time up before: then it counts as that.
    let abandoned = seen.abandoned.into_inner();
    let unnoticed = counters.wait_timed_out - seen.timed_out.into_inner();
    assert_eq!(counters.wait_cancelled + unnoticed, abandoned);
    assert_eq!(counters.rejected, seen.rejected.into_inner() + unnoticed);
    assert_eq!(
        counters.succeeded + counters.dropped + counters.ignored + counters.cancelled,
        counters.admitted
    );
    // Those that passed while the limit was switched off are not counted.
    let uncounted = seen.admitted.into_inner() - counters.admitted;
    assert!(uncounted == 0 || changed == Changed::Enabled);
    assert_eq!(
        counters.admitted + counters.rejected + counters.wait_cancelled + uncounted,
        THREADS * calls
    );
    // The limit is whole: as many may come as it says, and nobody is taken for one who waits.
    let whole: Vec<_> = std::iter::from_fn(|| limit.try_acquire().ok()).collect();
    assert_eq!(whole.len() as u32, limit.limit());
}

#[test]
fn whatever_happens_to_those_who_wait_all_counts_add_up_in_the_end() {
    storm(Changed::Bounds);
}

#[test]
fn all_counts_add_up_though_the_limit_is_at_times_only_observed() {
    storm(Changed::Mode);
}

#[test]
fn all_counts_add_up_though_the_limit_is_at_times_switched_off() {
    storm(Changed::Enabled);
}
