//! Three dependencies and their callers, all of them played by this program.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use resilience::adaptive_limit;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// The longest that a caller waits for an answer.
const TIMEOUT: Duration = Duration::from_millis(800);

/// A dependency is busy with as many requests as it has workers; others wait for one.
struct Dependency {
    workers: Semaphore,
    /// How long a worker takes for a request, so long after the start.
    takes: fn(Duration) -> Duration,
}

#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("no answer in time")]
    TimedOut(#[from] tokio::time::error::Elapsed),
    #[error("rejected")]
    Rejected(#[from] resilience::Error),
}

impl Dependency {
    fn new(workers: usize, takes: fn(Duration) -> Duration) -> Arc<Self> {
        Arc::new(Self {
            workers: Semaphore::new(workers),
            takes,
        })
    }

    async fn answer(&self, start: Instant) -> Result<(), CallError> {
        let work = async {
            let _worker = self.workers.acquire().await.expect("it is never closed");
            tokio::time::sleep((self.takes)(start.elapsed())).await;
        };
        Ok(tokio::time::timeout(TIMEOUT, work).await?)
    }
}

/// Whether a time is in the second half of a period.
fn second_half(at: Duration, period: u64) -> bool {
    at.as_secs() % period >= period / 2
}

#[adaptive_limit(name = "search")]
async fn search(dependency: &Dependency, start: Instant) -> Result<(), CallError> {
    dependency.answer(start).await
}

#[adaptive_limit(name = "orders")]
async fn orders(dependency: &Dependency, start: Instant) -> Result<(), CallError> {
    dependency.answer(start).await
}

#[adaptive_limit(name = "partner api", max_limit = 60, algorithm = "aimd")]
async fn partner_api(dependency: &Dependency, start: Instant) -> Result<(), CallError> {
    dependency.answer(start).await
}

const TICK: Duration = Duration::from_millis(5);

/// Begins `rate` calls a second, so long after the start, for ever.
async fn callers<C>(
    start: Instant,
    rate: impl Fn(Duration) -> f64,
    call: impl Fn() -> C,
) -> Result<(), Failure>
where
    C: Future<Output = Result<(), CallError>> + Send + 'static,
{
    let mut calls = JoinSet::new();
    let mut clock = tokio::time::interval(TICK);
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut due = 0.0;
    loop {
        clock.tick().await;
        due += rate(start.elapsed()) * TICK.as_secs_f64();
        while due >= 1.0 {
            due -= 1.0;
            calls.spawn(call());
        }
        while let Some(ended) = calls.try_join_next() {
            // What became of the call is for its limit to count.
            let _ = ended?;
        }
    }
}

type Failure = Box<dyn Error + Send + Sync>;

/// Makes calls for ever.
pub(crate) async fn run() -> Result<(), Failure> {
    let start = Instant::now();
    let slow_at_times = Dependency::new(30, |at| {
        Duration::from_millis(if second_half(at, 60) { 120 } else { 40 })
    });
    let steady = Dependency::new(40, |_| Duration::from_millis(25));
    let few_workers = Dependency::new(12, |_| Duration::from_millis(90));
    let mut running = JoinSet::new();
    running.spawn(callers(
        start,
        |_| 450.0,
        move || {
            let dependency = slow_at_times.clone();
            async move { search(&dependency, start).await }
        },
    ));
    running.spawn(callers(
        start,
        |at| 350.0 + 250.0 * (at.as_secs_f64() / 12.0).sin(),
        move || {
            let dependency = steady.clone();
            async move { orders(&dependency, start).await }
        },
    ));
    running.spawn(callers(
        start,
        |at| if second_half(at, 40) { 220.0 } else { 60.0 },
        move || {
            let dependency = few_workers.clone();
            async move { partner_api(&dependency, start).await }
        },
    ));
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}
