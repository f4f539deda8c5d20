//! What was written last, and so what there is to write next.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use ::metrics::SharedString;

use super::names::{
    ADMITTED, BASELINE, CANCELLED, DROPPED, IGNORED, IN_FLIGHT, LIMIT, Metric, QUEUE_FULL, QUEUED,
    REJECTED, SUCCEEDED, WAIT_TIMED_OUT, WOULD_REJECT, Written,
};
use crate::id::Id;
use crate::limit::queue::Queue;
use crate::limit::{AdaptiveLimit, Counters, Snapshot};

/// The value of the label `id` for all ids that are beyond the cap.
pub(super) const OTHER: &str = "other";

/// The kind of policy that the calls went through.
const KIND: &str = "adaptive_limit";

const NS_PER_SECOND: f64 = 1e9;

/// What a registry's series say.
pub(super) struct Seen {
    limits: HashMap<Id, Last>,
    labels: Labels,
    /// Those of all limits beyond the cap together.
    others: Levels,
    /// How often it was begun to look at all limits.
    round: u64,
}

/// The ids that have series of their own. They keep them: a recorder forgets none.
struct Labels {
    cap: usize,
    named: HashSet<Id>,
}

/// What was written last of one limit.
struct Last {
    /// Which limit of that id it was, told by its queue. A pointer to the instance itself, also a weak one, would keep it
    /// from being evicted.
    queue: Weak<Queue>,
    counters: Counters,
    levels: Levels,
    own_label: bool,
    /// Whether it has its series.
    written: bool,
    /// The round in which it was looked at last.
    round: u64,
}

#[derive(Clone, Copy, Default)]
struct Levels {
    limit: u64,
    in_flight: u64,
    queued: u64,
}

impl Labels {
    /// Whether the id has series of its own; it gets them if there is room.
    fn has(&mut self, id: &Id) -> bool {
        if id.as_str() == OTHER {
            return false;
        }
        if self.named.contains(id) {
            return true;
        }
        let room = self.named.len() < self.cap;
        if room {
            self.named.insert(id.clone());
        }
        room
    }
}

impl Seen {
    pub(super) fn new(cap: usize) -> Self {
        Self {
            limits: HashMap::new(),
            labels: Labels {
                cap,
                named: HashSet::new(),
            },
            others: Levels::default(),
            round: 0,
        }
    }

    /// The label of an id.
    pub(super) fn label(&mut self, id: &Id) -> SharedString {
        if self.labels.has(id) {
            id.as_str().to_owned().into()
        } else {
            OTHER.into()
        }
    }

    /// Leaves out of the counters what was before.
    pub(super) fn begin_with(&mut self, limit: &AdaptiveLimit) {
        let own_label = self.labels.has(limit.id());
        let last = Last {
            counters: limit.snapshot().counters,
            ..Last::nothing(limit, own_label)
        };
        self.limits.insert(limit.id().clone(), last);
    }

    /// What is new of a limit.
    pub(super) fn look_at(&mut self, limit: &AdaptiveLimit, written: &mut Vec<Written>) {
        // Taken by one thread after the other, so that counters only grow from one to the next.
        let snapshot = limit.snapshot();
        let own_label = self.labels.has(&snapshot.id);
        let last = self.limits.entry(snapshot.id.clone());
        let last = last.or_insert_with(|| Last::nothing(limit, own_label));
        if last.queue.as_ptr() != Arc::as_ptr(limit.instance().queue()) {
            // Another one of that id: what it counts began with it.
            last.queue = Arc::downgrade(limit.instance().queue());
            last.counters = Counters::default();
        }
        let label = || -> SharedString {
            if own_label {
                snapshot.id.as_str().to_owned().into()
            } else {
                OTHER.into()
            }
        };
        for (metric, count) in counts(&snapshot.counters, &last.counters) {
            // A series is there from the start on: else its first step would be seen by no one.
            if count > 0 || !last.written {
                written.push(metric.write([KIND.into(), label()], count as f64));
            }
        }
        last.counters = snapshot.counters;
        last.written = true;
        let levels = Levels::of(&snapshot);
        let shown = if own_label {
            levels
        } else {
            self.others = self.others.less(last.levels).and(levels);
            self.others
        };
        last.levels = levels;
        last.round = self.round;
        shown.write(&label, written);
        if let Some(baseline) = snapshot.baseline.filter(|_| own_label) {
            written.push(BASELINE.write([label()], baseline / NS_PER_SECOND));
        }
    }

    /// Begins to look at all limits. To be called before they are listed: one that is made meanwhile is of this round.
    pub(super) fn begin_round(&mut self) -> u64 {
        self.round += 1;
        self.round
    }

    /// Forgets the limits that were not there to be looked at; their gauges go to 0.
    pub(super) fn end_round(&mut self, round: u64, written: &mut Vec<Written>) {
        let (others, mut others_left) = (&mut self.others, false);
        self.limits.retain(|id, last| {
            let stays = last.round >= round;
            if !stays && last.own_label {
                let label = || id.as_str().to_owned().into();
                Levels::default().write(&label, written);
            } else if !stays {
                *others = others.less(last.levels);
                others_left = true;
            }
            stays
        });
        if others_left {
            self.others.write(&|| OTHER.into(), written);
        }
    }
}

impl Last {
    fn nothing(limit: &AdaptiveLimit, own_label: bool) -> Self {
        Self {
            queue: Arc::downgrade(limit.instance().queue()),
            counters: Counters::default(),
            levels: Levels::default(),
            own_label,
            written: false,
            round: 0,
        }
    }
}

impl Levels {
    fn of(snapshot: &Snapshot) -> Self {
        Self {
            limit: snapshot.limit.into(),
            in_flight: snapshot.in_flight.into(),
            queued: snapshot.queued.into(),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            limit: self.limit + other.limit,
            in_flight: self.in_flight + other.in_flight,
            queued: self.queued + other.queued,
        }
    }

    fn less(self, part: Self) -> Self {
        Self {
            limit: self.limit - part.limit,
            in_flight: self.in_flight - part.in_flight,
            queued: self.queued - part.queued,
        }
    }

    fn write(self, label: &dyn Fn() -> SharedString, written: &mut Vec<Written>) {
        written.push(LIMIT.write([label()], self.limit as f64));
        written.push(IN_FLIGHT.write([label()], self.in_flight as f64));
        written.push(QUEUED.write([label()], self.queued as f64));
    }
}

/// What each counter of calls has grown by.
fn counts(now: &Counters, before: &Counters) -> [(&'static Metric, u64); 9] {
    [
        (&ADMITTED, now.admitted, before.admitted),
        (&REJECTED, now.rejected, before.rejected),
        (&QUEUE_FULL, now.queue_full, before.queue_full),
        (&WAIT_TIMED_OUT, now.wait_timed_out, before.wait_timed_out),
        (&WOULD_REJECT, now.would_reject, before.would_reject),
        (&SUCCEEDED, now.succeeded, before.succeeded),
        (&DROPPED, now.dropped, before.dropped),
        (&IGNORED, now.ignored, before.ignored),
        (&CANCELLED, now.cancelled, before.cancelled),
    ]
    .map(|(metric, now, before)| (metric, now.saturating_sub(before)))
}
