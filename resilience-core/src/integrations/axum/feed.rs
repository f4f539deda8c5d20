//! What the page is told, once for all who watch.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::axum::response::sse::Event;
use futures_core::Stream;
use serde::Serialize;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::limit::Snapshot;
use crate::registry::Registry;

/// A stream ends after so many updates.
const UPDATES: u32 = 30;

/// A browser whose stream has ended asks again after this.
const RETRY: Duration = Duration::from_millis(500);

/// The looks at a registry.
#[derive(Debug)]
pub(super) struct Feed {
    registry: Registry,
    every: Duration,
    max_limits: usize,
    last: Mutex<Option<Look>>,
}

/// A look at the registry.
#[derive(Clone, Debug)]
struct Look {
    at: Instant,
    json: Arc<str>,
}

/// What a look tells.
#[derive(Serialize)]
struct Update {
    /// The time to the next, in milliseconds.
    every_ms: u64,
    /// How many limits there are, with those that are not shown.
    total: usize,
    stale: Option<String>,
    limits: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    snapshot: Snapshot,
    /// The reason in words.
    because: String,
}

impl Feed {
    pub(super) fn new(registry: Registry, every: Duration, max_limits: usize) -> Self {
        Self {
            registry,
            every,
            max_limits,
            last: Mutex::new(None),
        }
    }

    /// Updates for one client, the first at once.
    pub(super) fn updates(self: &Arc<Self>) -> Updates {
        let mut clock = tokio::time::interval(self.every);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Updates {
            feed: self.clone(),
            clock,
            left: UPDATES,
        }
    }

    /// The last look, if it is of less than an interval ago, or else another one.
    fn look(&self, now: Instant) -> Arc<str> {
        // Held for the time of a look: others wait for it instead of taking another.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(look) = last.as_ref()
            && now < look.at + self.every
        {
            return look.json.clone();
        }
        let json: Arc<str> = json(&self.update()).into();
        *last = Some(Look {
            at: now,
            json: json.clone(),
        });
        json
    }

    fn update(&self) -> Update {
        let all = self.registry.snapshot();
        let total = all.limits.len();
        let shown = all
            .limits
            .into_iter()
            .take(self.max_limits)
            .map(|snapshot| {
                let because = snapshot.reason.to_string();
                Shown { snapshot, because }
            });
        Update {
            every_ms: self.every.as_millis() as u64,
            total,
            stale: all.stale,
            limits: shown.collect(),
        }
    }
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("snapshots have text for keys, and fail at nothing")
}

/// One client's updates. Each is made when the client's connection asks for it, so none wait for a slow one.
#[derive(Debug)]
pub(super) struct Updates {
    feed: Arc<Feed>,
    clock: Interval,
    left: u32,
}

impl Stream for Updates {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let now = ready!(self.clock.poll_tick(context));
        let mut event = Event::default().data(&*self.feed.look(now));
        if self.left == UPDATES {
            event = event.retry(RETRY);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(event)))
    }
}
