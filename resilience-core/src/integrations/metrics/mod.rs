//! What limits do, written to the recorder of the `metrics` crate: each metric with its labels is in docs/observability.md.

mod names;
mod seen;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::metrics::{Recorder, with_recorder};

use crate::event::Subscription;
use crate::event::{Event, Topics};
use crate::registry::Registry;
use names::{CHANGES, LATENCY, RELOADS, Written, describe};
use seen::Seen;

/// How many ids have series of their own, unless told otherwise.
const IDS: usize = 200;

/// Which metrics are written, and where to. Made with [`new`](Self::new), ended with [`attach`](Self::attach).
///
/// # Examples
///
/// ```
/// use resilience::integrations::metrics::Metrics;
/// use resilience::registry::Registry;
///
/// // After the recorder is installed, before the first call.
/// let metrics = Metrics::new().attach(Registry::global());
/// // Before each scrape:
/// metrics.update();
/// ```
#[must_use = "nothing is written before it is attached"]
pub struct Metrics {
    ids: usize,
    recorder: To,
}

/// Where values go.
enum To {
    /// The recorder that is in force when the value is written: the global one, in most threads.
    Ambient,
    Own(Box<dyn Recorder + Send + Sync>),
}

impl To {
    fn recorder<R>(&self, write: impl FnOnce(&dyn Recorder) -> R) -> R {
        match self {
            Self::Ambient => with_recorder(write),
            Self::Own(recorder) => write(recorder),
        }
    }
}

impl Metrics {
    /// Returns the metrics as they come: to the global recorder, with series of their own for 200 ids.
    pub fn new() -> Self {
        Self {
            ids: IDS,
            recorder: To::Ambient,
        }
    }

    /// Sets how many ids have series of their own.
    ///
    /// Each has some 50, and a recorder keeps them for good. Ids are taken as they come; limits beyond them are counted
    /// together under the id `other`, whose gauges are sums. A limit with the id `other` is always among those.
    pub fn max_ids(mut self, ids: usize) -> Self {
        self.ids = ids;
        self
    }

    /// Writes to this recorder instead of the global one.
    pub fn recorder(mut self, recorder: impl Recorder + Send + Sync + 'static) -> Self {
        self.recorder = To::Own(Box::new(recorder));
        self
    }

    /// Writes what the limits of a registry do from now on, also those that are made later, until what it returns is
    /// dropped.
    ///
    /// Calls that ended before are not counted. Admitted and rejected calls write nothing; what they add up to is written
    /// when a window closes, when a limit moves, and by [`Attached::update`].
    pub fn attach(self, registry: &Registry) -> Attached {
        let mut seen = Seen::new(self.ids);
        registry.each_limit(|limit| seen.begin_with(limit));
        let writer = Arc::new(Writer {
            registry: registry.clone(),
            seen: Mutex::new(seen),
            recorder: self.recorder,
        });
        let told = writer.clone();
        let topics = Topics::ALL - Topics::REJECTIONS;
        let subscription = registry.subscribe_to(topics, move |event| told.hear(event));
        writer.update();
        Attached {
            writer,
            _subscription: subscription,
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("max_ids", &self.ids)
            .finish_non_exhaustive()
    }
}

/// Metrics being written, until this is dropped. Keeps the registry alive meanwhile.
///
/// What was written stays in the recorder as it was.
#[must_use = "metrics are written until this is dropped"]
pub struct Attached {
    writer: Arc<Writer>,
    _subscription: Subscription,
}

impl Attached {
    /// Brings all counters and gauges up to date.
    ///
    /// Call it before each scrape, or as often as the recorder pushes: windows close with calls only, so without it the last
    /// calls before a quiet time are missing, and gauges stay as they were at the last window. It takes a snapshot of each
    /// limit.
    pub fn update(&self) {
        self.writer.update();
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").finish_non_exhaustive()
    }
}

struct Writer {
    registry: Registry,
    seen: Mutex<Seen>,
    recorder: To,
}

impl Writer {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over values with no lock held: a recorder is foreign code.
    fn write(&self, written: impl IntoIterator<Item = Written>) {
        self.recorder.recorder(|recorder| {
            for value in written {
                value.to(recorder);
            }
        });
    }

    fn update(&self) {
        self.recorder.recorder(describe);
        let round = self.seen().begin_round();
        let mut written = Vec::new();
        self.registry.each_limit(|limit| {
            // One after the other: the windows of other threads are kept waiting for one limit at most.
            self.seen().look_at(limit, &mut written);
            self.write(written.drain(..));
        });
        self.seen().end_round(round, &mut written);
        self.write(written);
    }

    fn hear(&self, event: &Event) {
        let mut written = Vec::new();
        let id = match event {
            Event::LimitChanged {
                id,
                from,
                to,
                reason,
                ..
            } => {
                let label = self.seen().label(id);
                let direction = if to > from { "up" } else { "down" };
                let labels = [label, direction.into(), reason.name().into()];
                written.push(CHANGES.write(labels, 1.0));
                id
            }
            Event::WindowClosed { id, latency, .. } => {
                if let Some(latency) = latency {
                    let label = self.seen().label(id);
                    written.push(LATENCY.write([label], latency / 1e9));
                }
                id
            }
            Event::LimitMade { id, .. } => id,
            Event::Reloaded { .. } => {
                return self.write([RELOADS.write(["in_force".into()], 1.0)]);
            }
            Event::ReloadRefused { .. } => {
                return self.write([RELOADS.write(["refused".into()], 1.0)]);
            }
            Event::Rejected { .. } => return,
        };
        // One that is gone has nothing more to tell.
        if let Ok(limit) = self.registry.adaptive_limit(id.as_str()) {
            self.seen().look_at(&limit, &mut written);
        }
        self.write(written);
    }
}
