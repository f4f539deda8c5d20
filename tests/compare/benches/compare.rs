//! The same call under each crate's limit: admitted, ready at once, counted as a success. docs/benchmarks.md has more.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use resilience_benches::Run;
use resilience_tests::allocations::Counting;
use resilience_tests::calls;
use throttle_net::AdaptiveLimiter;
use tokio::sync::Semaphore;
use tower::{Layer, Service, service_fn};
use tower_acc::ConcurrencyLimitLayer;
use tower_resilience_adaptive::AdaptiveLimiterLayer;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What each limit starts at and, where that can be set, stays at; at most two calls are in flight.
const LIMIT: u32 = 100;

fn main() -> ExitCode {
    let mut run = Run::from_args();
    for threads in [1, 2] {
        ours(&mut run, threads);
        tokio_semaphore(&mut run, threads);
        throttle_net(&mut run, threads);
        tower_acc(&mut run, threads);
        tower_resilience(&mut run, threads);
    }
    run.finish()
}

fn name(what: &str, threads: usize) -> String {
    match threads {
        1 => what.to_owned(),
        _ => format!("{what}, {threads} threads"),
    }
}

fn ours(run: &mut Run, threads: usize) {
    run.call(&name("resilience, sync", threads), threads, None, |_| {
        || drop(black_box(calls::admitted(black_box(7))))
    });
    run.call(&name("resilience, async", threads), threads, None, |_| {
        || drop(black_box(calls::poll_admitted_async(black_box(7))))
    });
}

/// A fixed limit, with the latency taken but nothing made of it: the least that any adaptive limit built on this costs.
fn tokio_semaphore(run: &mut Run, threads: usize) {
    #[expect(clippy::disallowed_methods, reason = "part of what is measured")]
    fn call(semaphore: &Semaphore, key: u64) -> (u64, Duration) {
        let permit = semaphore.try_acquire().expect("a free permit");
        let started = Instant::now();
        let output = black_box(key);
        let latency = started.elapsed();
        drop(permit);
        (output, latency)
    }
    let semaphore = Semaphore::new(LIMIT as usize);
    let name = name("tokio Semaphore and two `Instant::now()`", threads);
    run.call(&name, threads, None, |_| {
        || {
            black_box(call(&semaphore, black_box(7)));
        }
    });
}

fn throttle_net(run: &mut Run, threads: usize) {
    let limiter = AdaptiveLimiter::builder()
        .floor(LIMIT)
        .initial(LIMIT)
        .ceiling(LIMIT)
        .build(throttle_net::Vegas::default());
    run.call(&name("throttle-net, Vegas", threads), threads, None, |_| {
        || {
            let permit = limiter.try_acquire().expect("a free permit");
            black_box(black_box(7));
            permit.success();
        }
    });
}

fn inner(key: u64) -> Ready<Result<u64, Infallible>> {
    ready(Ok(key))
}

/// One call through a service, as an executor would make it: ready, called, polled once.
fn through<S: Service<u64, Response = u64>>(service: &mut S) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(
        matches!(service.poll_ready(&mut context), Poll::Ready(Ok(()))),
        "a free permit"
    );
    let response = pin!(service.call(black_box(7)));
    let output = response.poll(&mut context);
    assert!(
        matches!(black_box(output), Poll::Ready(Ok(_))),
        "ready at once"
    );
}

fn tower_acc(run: &mut Run, threads: usize) {
    let algorithm = tower_acc::Gradient2::builder()
        .initial_limit(LIMIT as usize)
        .min_limit(LIMIT as usize)
        .max_limit(LIMIT as usize)
        .build();
    let service = ConcurrencyLimitLayer::new(algorithm).layer(service_fn(inner));
    run.call(
        &name("tower-acc, Gradient2", threads),
        threads,
        None,
        |_| {
            let mut service = service.clone();
            move || through(&mut service)
        },
    );
}

fn tower_resilience(run: &mut Run, threads: usize) {
    let algorithm = tower_resilience_adaptive::Aimd::builder()
        .initial_limit(LIMIT as usize)
        .min_limit(LIMIT as usize)
        .max_limit(LIMIT as usize)
        .latency_threshold(Duration::from_secs(1))
        .build()
        .expect("valid settings");
    let service = AdaptiveLimiterLayer::new(algorithm).layer(service_fn(inner));
    let name = name("tower-resilience-adaptive, AIMD", threads);
    run.call(&name, threads, None, |_| {
        let mut service = service.clone();
        move || through(&mut service)
    });
}
