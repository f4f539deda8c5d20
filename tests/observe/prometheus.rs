//! What Prometheus gets of the metrics, and the dashboard that asks it for them.

use std::collections::{BTreeMap, BTreeSet};

use metrics_exporter_prometheus::PrometheusBuilder;
use resilience::Outcome;
use resilience::integrations::metrics::Metrics;
use resilience::limit::LimitConfig;
use serde_json::Value;

use crate::support::{builder, calls, moving, rejected};

/// A scrape after something of everything has happened to a limit `orders`.
fn scrape() -> String {
    let (builder, clock) = builder();
    let mut values = ["10", "20", "nothing"].iter();
    let values = std::sync::Mutex::new(move || (*values.next().unwrap()).to_owned());
    let registry = builder
        .values("a test's own", move || {
            let value = values.lock().unwrap()();
            let key = "defaults.adaptiveLimit.maxLimit".to_owned();
            Ok::<_, &str>(vec![(key, value)])
        })
        .build()
        .unwrap();
    let recorder = PrometheusBuilder::new().build_recorder();
    let prometheus = recorder.handle();
    let metrics = Metrics::new().recorder(recorder).attach(&registry);
    let orders = moving(&registry, "orders");
    rejected(&orders);
    calls(&orders, &clock, 1, Outcome::Success);
    let with_baseline = LimitConfig::new()
        .algorithm("gradient2")
        .min_window_samples(1);
    let other = registry
        .register("with \"a\" baseline", with_baseline)
        .unwrap();
    calls(&other, &clock, 1, Outcome::Success);
    registry.reload().unwrap();
    registry.reload().unwrap_err();
    metrics.update();
    prometheus.render()
}

/// The names of all series, with their types.
fn types(scrape: &str) -> BTreeMap<String, String> {
    let lines = scrape.lines();
    let types = lines.filter_map(|line| line.strip_prefix("# TYPE "));
    types
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
        .collect()
}

#[test]
fn a_scrape_has_every_metric_of_the_guide_under_the_name_that_prometheus_gives_it() {
    let scrape = scrape();
    let guide = include_str!("../../docs/observability.md");
    let documented: BTreeMap<String, String> = guide
        .lines()
        .filter(|line| line.starts_with("| `resilience."))
        .map(|line| {
            let cells: Vec<_> = line
                .split('|')
                .map(|cell| cell.trim().trim_matches('`'))
                .collect();
            // Without buckets of the program's own.
            let kind = cells[2].replace("histogram", "summary");
            (cells[1].replace('.', "_"), kind)
        })
        .collect();
    assert_eq!(types(&scrape), documented);
    for line in [
        "resilience_calls_rejected{kind=\"adaptive_limit\",id=\"orders\"} 1",
        "resilience_calls_cancelled{kind=\"adaptive_limit\",id=\"orders\"} 2",
        "resilience_adaptive_limit_limit{id=\"orders\"} 3",
        "resilience_adaptive_limit_limit_changes{id=\"orders\",direction=\"up\",reason=\"increase\"} 1",
        "resilience_adaptive_limit_window_latency_sum{id=\"orders\"} 1",
        "resilience_adaptive_limit_window_latency_count{id=\"orders\"} 1",
        "resilience_adaptive_limit_baseline{id=\"with \\\"a\\\" baseline\"} 1",
        "resilience_settings_reloads{result=\"refused\"} 1",
    ] {
        assert!(
            scrape.lines().any(|told| told == line),
            "no {line} in\n{scrape}"
        );
    }
}

fn dashboard() -> Value {
    serde_json::from_str(include_str!("../../docs/grafana-dashboard.json")).unwrap()
}

/// All texts in which the dashboard asks for something.
fn queries(dashboard: &Value) -> Vec<&str> {
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    targets
        .map(|target| target["expr"].as_str().unwrap())
        .chain(
            variables
                .iter()
                .filter_map(|variable| variable["query"]["query"].as_str()),
        )
        .collect()
}

/// The names of our metrics in a query.
fn names(query: &str) -> impl Iterator<Item = &str> {
    query
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("resilience_"))
}

#[test]
fn the_dashboard_asks_for_what_there_is_and_for_all_of_it() {
    let there = types(&scrape());
    let dashboard = dashboard();
    let mut asked = BTreeSet::new();
    for query in queries(&dashboard) {
        let before = asked.len();
        for name in names(query) {
            let whole = ["_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            let whole = whole
                .filter(|whole| there.contains_key(*whole))
                .unwrap_or(name);
            assert!(there.contains_key(whole), "{query}: there is no {name}");
            let adds_up = query.contains(&format!("rate({name}{{"))
                || query.contains(&format!("increase({name}{{"));
            assert_eq!(adds_up, there[whole] != "gauge", "{query}");
            asked.insert(whole.to_owned());
        }
        assert!(asked.len() >= before && names(query).count() > 0, "{query}");
    }
    assert_eq!(asked, there.into_keys().collect());
}

#[test]
fn the_labels_that_the_dashboard_asks_for_are_those_of_the_metrics() {
    let scrape = scrape();
    for query in queries(&dashboard()) {
        for name in names(query) {
            let series = scrape
                .lines()
                .find(|line| line.starts_with(&format!("{name}{{")));
            let series = series.unwrap_or_else(|| panic!("no series of {name}"));
            let matchers = query.split(&format!("{name}{{")).nth(1);
            let matchers = matchers
                .and_then(|rest| rest.split('}').next())
                .unwrap_or("");
            for matcher in matchers.split(',').filter(|matcher| !matcher.is_empty()) {
                let label = matcher.split(['=', '~']).next().unwrap();
                assert!(
                    series.contains(&format!("{label}=")),
                    "{query}: no label {label}"
                );
            }
        }
    }
}

#[test]
fn the_dashboard_has_what_grafana_asks_of_one() {
    let dashboard = dashboard();
    for field in [
        "title",
        "uid",
        "schemaVersion",
        "version",
        "timezone",
        "time",
        "panels",
    ] {
        assert!(!dashboard[field].is_null(), "no {field}");
    }
    assert!(dashboard["id"].is_null(), "an id belongs to one Grafana");
    let uid = dashboard["uid"].as_str().unwrap();
    assert!(uid.len() <= 40 && uid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    let (mut ids, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(
            ids.insert(panel["id"].as_u64().unwrap()),
            "two panels of one id"
        );
        for field in ["type", "title", "description"] {
            assert!(!panel[field].as_str().unwrap().is_empty(), "{panel}");
        }
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|at| panel["gridPos"][at].as_u64().unwrap());
        assert!(w > 0 && h > 0 && x + w <= 24, "{panel}");
        for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(place), "two panels in one place: {panel}");
        }
        let mut references = BTreeSet::new();
        for target in panel["targets"].as_array().unwrap() {
            assert_eq!(target["datasource"]["uid"], "${datasource}");
            assert!(
                references.insert(target["refId"].as_str().unwrap()),
                "{target}"
            );
        }
    }
    // What queries refer to is a variable of the dashboard's or of Grafana's.
    let variables: BTreeSet<_> = dashboard["templating"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|variable| variable["name"].as_str().unwrap())
        .collect();
    assert_eq!(variables, BTreeSet::from(["datasource", "id"]));
    for query in queries(&dashboard) {
        for used in query.split('$').skip(1) {
            let end = used.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = &used[..end.unwrap_or(used.len())];
            assert!(
                variables.contains(name) || ["__rate_interval", "__range"].contains(&name),
                "{query}"
            );
        }
    }
}
