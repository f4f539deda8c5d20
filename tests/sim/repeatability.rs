//! The same again.

use std::time::Duration;

use resilience::sim::{Contender, Report, Simulation, algorithms};

use crate::support::{each, gallery};

fn run(name: &str, seed: Option<u64>) -> Report {
    let mut scenario = gallery(name).shortened(Duration::from_secs(10));
    if let Some(seed) = seed {
        scenario = scenario.with_seed(seed);
    }
    Simulation::new(&scenario)
        .contenders(algorithms().iter().copied().map(Contender::algorithm))
        .run()
        .unwrap()
}

fn bytes(report: &Report) -> [String; 3] {
    [
        report.to_string(),
        report.chart(),
        serde_json::to_string(report).unwrap(),
    ]
}

#[test]
fn the_same_seed_gives_the_same_report_byte_for_byte() {
    for name in ["five-servers", "ten-clients"] {
        assert_eq!(bytes(&run(name, None)), bytes(&run(name, None)), "{name}");
    }
}

#[test]
fn what_others_do_meanwhile_does_not_matter() {
    let alone = bytes(&run("ten-clients", None));
    // As many at once as there are processors, each on whatever thread comes to it.
    for other in each(&[(); 4], |()| bytes(&run("ten-clients", None))) {
        assert_eq!(alone, other);
    }
}

#[test]
fn another_seed_gives_another_report() {
    let [one, other] = [1, 2].map(|seed| run("five-servers", Some(seed)));
    assert_ne!(one.results[0].served, other.results[0].served);
    assert_eq!(one.phases[0].knee, other.phases[0].knee);
}

#[test]
fn what_is_drawn_for_a_call_does_not_depend_on_the_limit() {
    // Nobody is turned away by either, so both see the same calls.
    let scenario = gallery("light-load");
    let results = crate::support::results(&scenario, "fixed:500,none,aimd");
    assert_eq!(results[0].served, results[1].served);
    assert_eq!(results[0].mean_ms, results[2].mean_ms);
}

#[test]
fn reports_are_readable_in_each_form() {
    let report = run("five-servers", None);
    let [text, chart, json] = bytes(&report);
    assert!(
        text.contains("best fixed limit") && text.contains("gradient2"),
        "{text}"
    );
    assert!(chart.starts_with("<svg") && chart.ends_with("</svg>\n"));
    assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["results"][3]["name"], "vegas");
    assert!(
        json["results"][0]["regret"].is_number() && json["phases"][0]["best_fixed"].is_number()
    );
    assert_eq!(
        json["results"][0]["timeline"].as_array().unwrap().len(),
        180
    );
}
