//! The metrics: what each is called, counts in and is labelled with, and the writing of one value.

use ::metrics::{Key, Label, Level, Metadata, Recorder, SharedString, Unit};

/// A metric. All its series have the same label keys.
#[derive(Debug)]
pub(super) struct Metric {
    name: &'static str,
    kind: Kind,
    unit: Unit,
    labels: &'static [&'static str],
    text: &'static str,
}

#[derive(Debug)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

const OF_CALLS: &[&str] = &["kind", "id"];
const OF_LIMIT: &[&str] = &["id"];

const fn of_calls(name: &'static str, text: &'static str) -> Metric {
    Metric {
        name,
        kind: Kind::Counter,
        unit: Unit::Count,
        labels: OF_CALLS,
        text,
    }
}

const fn gauge(name: &'static str, unit: Unit, text: &'static str) -> Metric {
    Metric {
        name,
        kind: Kind::Gauge,
        unit,
        labels: OF_LIMIT,
        text,
    }
}

pub(super) static ADMITTED: Metric =
    of_calls("resilience.calls.admitted", "Calls that were let through");
pub(super) static REJECTED: Metric = of_calls(
    "resilience.calls.rejected",
    "Calls that were rejected and did not run",
);
pub(super) static QUEUE_FULL: Metric = of_calls(
    "resilience.calls.queue_full",
    "Of the rejected calls, those that found too many waiting",
);
pub(super) static WAIT_TIMED_OUT: Metric = of_calls(
    "resilience.calls.wait_timed_out",
    "Of the rejected calls, those that waited as long as they may",
);
pub(super) static WOULD_REJECT: Metric = of_calls(
    "resilience.calls.would_reject",
    "Calls that were let through since the limit is only observed",
);
pub(super) static SUCCEEDED: Metric =
    of_calls("resilience.calls.succeeded", "Calls that ended well");
pub(super) static DROPPED: Metric = of_calls(
    "resilience.calls.dropped",
    "Calls that ended with an overload signal",
);
pub(super) static IGNORED: Metric = of_calls(
    "resilience.calls.ignored",
    "Calls that failed in a way that says nothing about load",
);
pub(super) static CANCELLED: Metric = of_calls(
    "resilience.calls.cancelled",
    "Calls that were cancelled or panicked",
);
pub(super) static LIMIT: Metric = gauge(
    "resilience.adaptive_limit.limit",
    Unit::Count,
    "The limit, in calls",
);
pub(super) static IN_FLIGHT: Metric = gauge(
    "resilience.adaptive_limit.in_flight",
    Unit::Count,
    "The calls in flight",
);
pub(super) static QUEUED: Metric = gauge(
    "resilience.adaptive_limit.queued",
    Unit::Count,
    "The calls that wait for a slot",
);
pub(super) static BASELINE: Metric = gauge(
    "resilience.adaptive_limit.baseline",
    Unit::Seconds,
    "The latency that the algorithm takes as normal, in seconds",
);
pub(super) static CHANGES: Metric = Metric {
    name: "resilience.adaptive_limit.limit.changes",
    kind: Kind::Counter,
    unit: Unit::Count,
    labels: &["id", "direction", "reason"],
    text: "Moves of the limit, up or down",
};
pub(super) static LATENCY: Metric = Metric {
    name: "resilience.adaptive_limit.window.latency",
    kind: Kind::Histogram,
    unit: Unit::Seconds,
    labels: OF_LIMIT,
    text: "Mean latency of the successful calls of a window, in seconds, once for each window that closed",
};
pub(super) static RELOADS: Metric = Metric {
    name: "resilience.settings.reloads",
    kind: Kind::Counter,
    unit: Unit::Count,
    labels: &["result"],
    text: "Changes of the settings from outside of the code, in force or refused",
};

static ALL: [&Metric; 16] = [
    &ADMITTED,
    &REJECTED,
    &QUEUE_FULL,
    &WAIT_TIMED_OUT,
    &WOULD_REJECT,
    &SUCCEEDED,
    &DROPPED,
    &IGNORED,
    &CANCELLED,
    &LIMIT,
    &IN_FLIGHT,
    &QUEUED,
    &BASELINE,
    &CHANGES,
    &LATENCY,
    &RELOADS,
];

/// Tells a recorder what the metrics are.
pub(super) fn describe(recorder: &dyn Recorder) {
    for metric in ALL {
        let (name, unit, text) = (metric.name.into(), Some(metric.unit), metric.text.into());
        match metric.kind {
            Kind::Counter => recorder.describe_counter(name, unit, text),
            Kind::Gauge => recorder.describe_gauge(name, unit, text),
            Kind::Histogram => recorder.describe_histogram(name, unit, text),
        }
    }
}

/// A value for one series of a metric: what is added to a counter, set in a gauge, or seen by a histogram.
#[derive(Debug)]
pub(super) struct Written {
    metric: &'static Metric,
    labels: Vec<Label>,
    value: f64,
}

impl Metric {
    /// A value for the series with these labels, in the order of the label keys.
    pub(super) fn write<const N: usize>(
        &'static self,
        labels: [SharedString; N],
        value: f64,
    ) -> Written {
        debug_assert_eq!(N, self.labels.len(), "{}", self.name);
        let labels = self.labels.iter().zip(labels);
        Written {
            metric: self,
            labels: labels.map(|(key, value)| Label::new(*key, value)).collect(),
            value,
        }
    }
}

impl Written {
    pub(super) fn to(self, recorder: &dyn Recorder) {
        let Self {
            metric,
            labels,
            value,
        } = self;
        let key = Key::from_parts(metric.name, labels);
        let metadata = Metadata::new("resilience", Level::INFO, Some(module_path!()));
        match metric.kind {
            // Counts of calls since the last time: far below 2^53.
            Kind::Counter => recorder
                .register_counter(&key, &metadata)
                .increment(value as u64),
            Kind::Gauge => recorder.register_gauge(&key, &metadata).set(value),
            Kind::Histogram => recorder.register_histogram(&key, &metadata).record(value),
        }
    }
}
