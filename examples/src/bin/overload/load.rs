//! The callers: so many calls per second whatever becomes of them, and a record of what does.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use resilience::event::Reason;
use resilience::limit::AdaptiveLimit;
use resilience::registry::Registry;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use crate::client::{CallError, Dependency, Guard};
use crate::plan::{Plan, RATE, TICK};
use crate::stats::{Ended, Tally};

/// A caller that was held up starts at most so much of the load at once; what is beyond is not started at all. Else a
/// busy machine would turn an even load into bursts.
const CATCH_UP: Duration = Duration::from_millis(20);

/// One of the limits that are compared: its calls, and what they came to.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) guard: Guard,
    pub(crate) limit: AdaptiveLimit,
    dependency: Dependency,
    /// Since the last reading.
    tally: Mutex<Tally>,
}

/// What a limit was at one moment, and what its calls came to since the moment before.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// Since the start.
    pub(crate) at: Duration,
    /// Since the reading before.
    pub(crate) spans: Duration,
    pub(crate) phase: usize,
    pub(crate) limit: u32,
    pub(crate) in_flight: u32,
    pub(crate) reason: Reason,
    pub(crate) tally: Tally,
}

impl Lane {
    /// Returns a lane whose dependency was called once: that opens the first connection, shows that there is someone to
    /// call, and makes the limit, which an attribute does on the first call.
    pub(crate) async fn open(guard: Guard, dependency: Dependency) -> Result<Self, CallError> {
        guard.call(&dependency).await?;
        Ok(Self {
            guard,
            limit: Registry::global().adaptive_limit(guard.id())?,
            dependency,
            tally: Mutex::default(),
        })
    }

    /// Takes a reading. Calls that end later are part of the next one.
    pub(crate) fn read(&self, plan: &Plan, at: Duration, last: Option<&Reading>) -> Reading {
        let snapshot = self.limit.snapshot();
        let before = last.map_or(Duration::ZERO, |last| last.at);
        Reading {
            at,
            spans: at.saturating_sub(before),
            // A reading at the end of a phase tells of that phase.
            phase: plan.phase_at(before),
            limit: snapshot.limit,
            in_flight: snapshot.in_flight,
            reason: snapshot.reason,
            tally: std::mem::take(&mut *self.tally()),
        }
    }

    async fn call(&self) {
        let began = Instant::now();
        let ended = match self.guard.call(&self.dependency).await {
            Ok(()) => Ended::Well {
                after: began.elapsed(),
            },
            Err(CallError::Rejected(_)) => Ended::Rejected,
            Err(CallError::TimedOut(_)) => Ended::TimedOut,
            Err(_) => Ended::Failed,
        };
        self.tally().add(ended);
    }

    fn tally(&self) -> std::sync::MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls through `lane` from `start` on, and a little longer than the plan lasts, so that the last reading is taken under
/// the same load as the others.
pub(crate) async fn run(lane: Arc<Lane>, plan: Plan, start: Instant) -> Result<(), JoinError> {
    let mut calls = JoinSet::new();
    let mut clock = tokio::time::interval_at(start, Duration::from_millis(1));
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let end = plan.total() + TICK * 2;
    let mut due = 0.0;
    let mut last = Duration::ZERO;
    loop {
        clock.tick().await;
        let now = start.elapsed();
        due += f64::from(RATE)
            * now
                .min(end)
                .saturating_sub(last)
                .min(CATCH_UP)
                .as_secs_f64();
        while due >= 1.0 {
            due -= 1.0;
            let lane = lane.clone();
            calls.spawn(async move { lane.call().await });
        }
        if now >= end {
            break;
        }
        last = now;
        while let Some(ended) = calls.try_join_next() {
            ended?;
        }
    }
    while let Some(ended) = calls.join_next().await {
        ended?;
    }
    Ok(())
}
