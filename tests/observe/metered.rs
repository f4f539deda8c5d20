//! What reaches a recorder of the `metrics` crate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use resilience::Outcome;
use resilience::integrations::metrics::{Attached, Metrics};
use resilience::limit::LimitConfig;
use resilience::registry::Registry;

use crate::support::{calls, manual, moving, rejected, with_setting};

/// A recorder that can be read, and that may call back when it is written to.
#[derive(Clone, Default)]
struct Recorded(Arc<Inner>);

#[derive(Default)]
struct Inner {
    described: Mutex<BTreeMap<String, (&'static str, &'static str, String)>>,
    series: Mutex<BTreeMap<String, Vec<f64>>>,
    /// The name of each metric and the keys of its labels.
    keys: Mutex<BTreeSet<(String, Vec<String>)>>,
    call_back: Mutex<Option<Box<dyn Fn() + Send>>>,
}

struct Cell(Recorded, String);

impl Cell {
    fn change(&self, change: impl FnOnce(&mut Vec<f64>)) {
        change(
            self.0
                .0
                .series
                .lock()
                .unwrap()
                .entry(self.1.clone())
                .or_default(),
        );
        let call_back = self.0.0.call_back.lock().unwrap().take();
        if let Some(call_back) = call_back {
            call_back();
        }
    }
}

impl CounterFn for Cell {
    fn increment(&self, value: u64) {
        self.change(|values| {
            let sum = values.pop().unwrap_or(0.0) + value as f64;
            values.push(sum);
        });
    }
    fn absolute(&self, _: u64) {
        panic!("two registries would overwrite each other");
    }
}

impl GaugeFn for Cell {
    fn increment(&self, _: f64) {
        panic!("a gauge is set");
    }
    fn decrement(&self, _: f64) {
        panic!("a gauge is set");
    }
    fn set(&self, value: f64) {
        self.change(|values| *values = vec![value]);
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        self.change(|values| values.push(value));
    }
}

impl Recorded {
    fn describe(
        &self,
        name: &KeyName,
        kind: &'static str,
        unit: Option<Unit>,
        text: &SharedString,
    ) {
        let unit = unit.map_or("", |unit| unit.as_str());
        let described = (kind, unit, text.to_string());
        let mut all = self.0.described.lock().unwrap();
        all.insert(name.as_str().to_owned(), described);
    }

    fn cell(&self, key: &Key) -> Arc<Cell> {
        let labels =
            |show: &dyn Fn(&metrics::Label) -> String| key.labels().map(show).collect::<Vec<_>>();
        let keys = labels(&|label| label.key().to_owned());
        let mut all = self.0.keys.lock().unwrap();
        all.insert((key.name().to_owned(), keys));
        let shown = labels(&|label| format!("{}={}", label.key(), label.value()));
        Arc::new(Cell(
            self.clone(),
            format!("{}{{{}}}", key.name(), shown.join(",")),
        ))
    }

    /// The value of a series, the name without `resilience.`; the first one of a histogram. All of the tests' are whole.
    fn value(&self, series: &str) -> Option<u64> {
        let all = self.0.series.lock().unwrap();
        let values = all.get(&format!("resilience.{series}"))?;
        assert!(values[0].fract().abs() < f64::EPSILON, "{series}");
        Some(values[0] as u64)
    }

    fn values<const N: usize>(&self, series: [&str; N]) -> [u64; N] {
        series.map(|series| {
            let value = self.value(series);
            value.unwrap_or_else(|| panic!("no {series}: {:#?}", self.0.series.lock().unwrap()))
        })
    }

    fn attach(&self, registry: &Registry) -> Attached {
        Metrics::new().recorder(self.clone()).attach(registry)
    }
}

impl Recorder for Recorded {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, "counter", unit, &text);
    }
    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, "gauge", unit, &text);
    }
    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, "histogram", unit, &text);
    }
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

const ORDERS: [&str; 8] = [
    "calls.admitted{kind=adaptive_limit,id=orders}",
    "calls.rejected{kind=adaptive_limit,id=orders}",
    "calls.succeeded{kind=adaptive_limit,id=orders}",
    "calls.dropped{kind=adaptive_limit,id=orders}",
    "calls.ignored{kind=adaptive_limit,id=orders}",
    "calls.cancelled{kind=adaptive_limit,id=orders}",
    "adaptive_limit.limit{id=orders}",
    "adaptive_limit.in_flight{id=orders}",
];

#[test]
fn counters_count_from_the_attachment_on_and_gauges_are_as_of_the_update() {
    let (registry, clock) = manual();
    let orders = moving(&registry, "orders");
    orders.try_acquire().unwrap().complete(Outcome::Ignored);
    let recorded = Recorded::default();
    let metrics = recorded.attach(&registry);
    assert_eq!(recorded.values(ORDERS), [0, 0, 0, 0, 0, 0, 2, 0]);

    rejected(&orders);
    calls(&orders, &clock, 2, Outcome::Success);
    let running = orders.try_acquire().unwrap();
    // The first of the two closed a window; what was after it is not written yet.
    assert_eq!(recorded.values(ORDERS), [4, 1, 1, 0, 0, 2, 3, 1]);
    metrics.update();
    assert_eq!(recorded.values(ORDERS), [5, 1, 2, 0, 0, 2, 3, 1]);
    running.complete(Outcome::Ignored);
    metrics.update();
    metrics.update();
    assert_eq!(recorded.values(ORDERS), [5, 1, 2, 0, 1, 2, 3, 0]);

    drop(metrics);
    calls(&orders, &clock, 1, Outcome::Success);
    moving(&registry, "after");
    assert_eq!(recorded.values(ORDERS)[0], 5);
    assert_eq!(recorded.value("adaptive_limit.limit{id=after}"), None);
}

#[test]
fn moves_of_the_limit_are_counted_by_direction_and_reason_and_windows_have_a_latency() {
    let (registry, clock) = manual();
    let recorded = Recorded::default();
    let _metrics = recorded.attach(&registry);
    let late = moving(&registry, "late");
    assert_eq!(recorded.value("adaptive_limit.limit{id=late}"), Some(2));
    calls(&late, &clock, 1, Outcome::Success);
    calls(&late, &clock, 1, Outcome::Drop);
    assert_eq!(
        recorded.values([
            "adaptive_limit.limit.changes{id=late,direction=up,reason=increase}",
            "adaptive_limit.limit.changes{id=late,direction=down,reason=drops}",
            "adaptive_limit.window.latency{id=late}",
        ]),
        [1, 1, 1]
    );
}

#[test]
fn ids_beyond_the_cap_are_one_series_whose_gauges_are_sums() {
    let (registry, clock) = manual();
    let recorded = Recorded::default();
    let metrics = Metrics::new()
        .max_ids(2)
        .recorder(recorded.clone())
        .attach(&registry);
    let limits: Vec<_> = (0..1000)
        .map(|number| moving(&registry, &format!("tenant-{number}")))
        .collect();
    let _named_other = moving(&registry, "other");
    let permits = [0, 1, 2, 999].map(|number| limits[number].try_acquire().unwrap());
    calls(&limits[500], &clock, 2, Outcome::Success);
    metrics.update();
    let other = [
        "adaptive_limit.limit{id=other}",
        "adaptive_limit.in_flight{id=other}",
        "calls.admitted{kind=adaptive_limit,id=other}",
        "adaptive_limit.limit{id=tenant-1}",
        "adaptive_limit.limit.changes{id=other,direction=up,reason=increase}",
    ];
    assert_eq!(recorded.values(other), [2 * 999 + 1, 2, 4, 2, 1]);
    assert_eq!(recorded.value("adaptive_limit.limit{id=tenant-2}"), None);
    drop(permits);
    metrics.update();
    assert_eq!(recorded.values(other)[1], 0);
    // Nine counters, three gauges and a move or a latency for each of the three ids.
    let series = recorded.0.series.lock().unwrap().len();
    assert!(series <= 3 * 14, "{series}");
}

#[test]
fn label_keys_are_those_of_the_guide_on_every_series_and_so_are_types_and_units() {
    let (registry, clock, value) = with_setting("defaults.adaptiveLimit.maxLimit", "50");
    let recorded = Recorded::default();
    let metrics = Metrics::new()
        .max_ids(2)
        .recorder(recorded.clone())
        .attach(&registry);
    let gradient = LimitConfig::new()
        .algorithm("gradient2")
        .min_window_samples(1);
    let with_baseline = registry.register("with a baseline", gradient).unwrap();
    calls(&with_baseline, &clock, 1, Outcome::Success);
    for id in ["orders", "beyond"] {
        let limit = moving(&registry, id);
        rejected(&limit);
        calls(&limit, &clock, 1, Outcome::Success);
        calls(&limit, &clock, 1, Outcome::Drop);
    }
    for text in ["60", "nothing"] {
        *value.lock().unwrap() = text;
        let _ = registry.reload();
    }
    metrics.update();
    assert_eq!(
        recorded.values([
            "settings.reloads{result=in_force}",
            "settings.reloads{result=refused}"
        ]),
        [1, 1]
    );

    let keys = recorded.0.keys.lock().unwrap();
    let written: BTreeSet<[String; 4]> = keys
        .iter()
        .map(|(name, keys)| {
            let described = recorded.0.described.lock().unwrap();
            let (kind, unit, text) = &described[name];
            assert!(!text.is_empty());
            let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
            let [kind, unit] = [*kind, *unit].map(str::to_owned);
            [format!("`{name}`"), kind, unit, keys.join(", ")]
        })
        .collect();
    assert_eq!(
        written.len(),
        recorded.0.described.lock().unwrap().len(),
        "a metric has two sets of label keys, or was described and not written"
    );
    let guide = include_str!("../../docs/observability.md");
    let documented: BTreeSet<[String; 4]> = guide
        .lines()
        .filter(|line| line.starts_with("| `resilience."))
        .map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            [1, 2, 3, 4].map(|cell| cells[cell].to_owned())
        })
        .collect();
    assert_eq!(written, documented);
}

#[test]
fn a_recorder_may_call_back_into_limits_and_panic() {
    let (registry, clock) = manual();
    let recorded = Recorded::default();
    let metrics = recorded.attach(&registry);
    let orders = moving(&registry, "orders");
    let (handle, moved) = (orders.clone(), clock.clone());
    *recorded.0.call_back.lock().unwrap() = Some(Box::new(move || {
        calls(&handle, &moved, 1, Outcome::Success);
        handle.reset();
    }));
    calls(&orders, &clock, 1, Outcome::Success);
    *recorded.0.call_back.lock().unwrap() = Some(Box::new(|| panic!("a recorder's own panic")));
    calls(&orders, &clock, 1, Outcome::Success);
    metrics.update();
    assert_eq!(orders.in_flight(), 0);
    assert_eq!(
        recorded.values(["adaptive_limit.in_flight{id=orders}"]),
        [0]
    );
}

#[test]
fn two_registries_add_up_in_one_recorder() {
    let recorded = Recorded::default();
    let attached: Vec<_> = (0..2)
        .map(|_| {
            let (registry, clock) = manual();
            let metrics = recorded.attach(&registry);
            let orders = moving(&registry, "orders");
            calls(&orders, &clock, 2, Outcome::Success);
            metrics
        })
        .collect();
    attached.iter().for_each(Attached::update);
    assert_eq!(recorded.values(ORDERS)[..3], [4, 0, 4]);
}

#[test]
fn admitted_and_rejected_calls_write_nothing() {
    let (registry, _clock) = manual();
    let recorded = Recorded::default();
    let _metrics = recorded.attach(&registry);
    let orders = moving(&registry, "orders");
    *recorded.0.call_back.lock().unwrap() = Some(Box::new(|| panic!("something was written")));
    orders.try_acquire().unwrap().complete(Outcome::Ignored);
    rejected(&orders);
    assert!(recorded.0.call_back.lock().unwrap().is_some());
}

#[test]
fn limits_by_key_have_series_and_are_evicted_as_if_nobody_looked() {
    let (registry, clock) = manual();
    moving(&registry, "tenant");
    let tenants = registry.keyed("tenant", 1).unwrap();
    let recorded = Recorded::default();
    let metrics = recorded.attach(&registry);
    let series = [
        "adaptive_limit.limit{id=tenant/acme}",
        "adaptive_limit.in_flight{id=tenant/acme}",
        "calls.admitted{kind=adaptive_limit,id=tenant/acme}",
    ];
    {
        let acme = tenants.get("acme").unwrap();
        assert_eq!(recorded.values(series), [2, 0, 0]);
        let held = acme.try_acquire().unwrap();
        metrics.update();
        assert_eq!(recorded.values(series), [2, 1, 1]);
        calls(&acme, &clock, 1, Outcome::Success);
        drop(held);
        metrics.update();
        assert_eq!(recorded.values(series)[1..], [0, 2]);
    }
    assert_eq!(tenants.get("other").unwrap().id().as_str(), "tenant/other");
    metrics.update();
    assert_eq!(recorded.values(series), [0, 0, 2]);
    assert_eq!(
        recorded.values(["adaptive_limit.limit{id=tenant/other}"]),
        [2]
    );
    // Back again, it has counted nothing yet, and the series goes on.
    let acme = tenants.get("acme").unwrap();
    drop(acme.try_acquire().unwrap());
    metrics.update();
    assert_eq!(recorded.values(series), [2, 0, 3]);
    let counts = tenants.snapshot();
    assert_eq!((counts.evicted, counts.overflowed), (2, 0));
}

#[test]
fn a_limit_by_key_that_was_there_before_the_metrics_is_evicted_too() {
    let (registry, _clock) = manual();
    moving(&registry, "tenant");
    let tenants = registry.keyed("tenant", 1).unwrap();
    drop(tenants.get("acme").unwrap());
    let _metrics = Recorded::default().attach(&registry);
    assert_eq!(tenants.get("other").unwrap().id().as_str(), "tenant/other");
}
