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

/// Calls `call` so many times a second, for ever.
macro_rules! callers {
    ($call:ident, $dependency:expr, $rate:expr) => {
        async move {
            let dependency = $dependency;
            let start = Instant::now();
            let mut calls = JoinSet::new();
            let mut clock = tokio::time::interval(TICK);
            clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
            let mut due = 0.0;
            loop {
                clock.tick().await;
                let rate: f64 = $rate(start.elapsed());
                due += rate * TICK.as_secs_f64();
                while due >= 1.0 {
                    due -= 1.0;
                    let dependency = dependency.clone();
                    // What becomes of it is for the limit to count.
                    calls.spawn(async move { $call(&dependency, start).await.is_ok() });
                }
                while let Some(ended) = calls.try_join_next() {
                    ended?;
                }
            }
        }
    };
}

const TICK: Duration = Duration::from_millis(5);

/// Makes calls for ever.
pub(crate) async fn run() -> Result<(), Box<dyn Error + Send + Sync>> {
    let slow_at_times = Dependency::new(30, |at| {
        Duration::from_millis(if second_half(at, 60) { 120 } else { 40 })
    });
    let steady = Dependency::new(40, |_| Duration::from_millis(25));
    let few_workers = Dependency::new(12, |_| Duration::from_millis(90));
    let mut running = JoinSet::<Result<(), Box<dyn Error + Send + Sync>>>::new();
    running.spawn(callers!(search, slow_at_times, |_| 450.0));
    running.spawn(callers!(orders, steady, |at: Duration| {
        350.0 + 250.0 * (at.as_secs_f64() / 12.0).sin()
    }));
    running.spawn(callers!(partner_api, few_workers, |at| {
        if second_half(at, 40) { 220.0 } else { 60.0 }
    }));
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}
