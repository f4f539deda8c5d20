//! The documented scenarios, and what an algorithm must reach in each.

use resilience::sim::{Contender, ContenderResult, Report, Simulation};

use crate::support::{gallery, report, result};

/// A scenario, and what its row asks for.
struct Row {
    scenario: &'static str,
    /// Whether it is compared with the best fixed limit.
    search: bool,
    must: fn(&Report, &ContenderResult) -> Result<(), String>,
    /// The algorithms that reach it. The others are known not to, see docs/algorithms.md, or do by chance.
    reached_by: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        scenario: "chart",
        search: true,
        must: |report, result| {
            share_of_best(report, result, 0..3, 0.99)?;
            check("p99 in ms", result.p99_ms.unwrap(), 0.0, 80.0)?;
            check("time-outs", result.timed_out as f64, 0.0, 30.0)?;
            for phase in &result.phases[1..] {
                check(
                    "seconds to settle",
                    phase.settled.unwrap_or(f64::INFINITY),
                    0.0,
                    1.0,
                )?;
            }
            Ok(())
        },
        reached_by: &["knee"],
    },
    Row {
        scenario: "drift",
        search: false,
        must: limit_stays,
        reached_by: &["knee"],
    },
    Row {
        scenario: "drift-timeout",
        search: false,
        must: limit_stays,
        reached_by: &["knee"],
    },
    Row {
        scenario: "idle",
        search: false,
        must: |_, result| check("limit at 30 s", limit_at(result, 30.0), 20.0, 20.0),
        reached_by: &["knee", "gradient2", "aimd", "vegas"],
    },
    Row {
        scenario: "noise",
        search: true,
        must: |report, result| share_of_best(report, result, 0..1, 0.97),
        reached_by: &["knee", "vegas"],
    },
    Row {
        scenario: "slower",
        search: true,
        must: |report, result| share_of_best(report, result, 2..3, 0.97),
        reached_by: &["knee", "aimd"],
    },
    Row {
        scenario: "incident",
        search: false,
        must: |_, result| {
            let before = limit_at(result, 100.0);
            check(
                "limit 20 s after",
                limit_at(result, 220.0),
                0.9 * before,
                f64::INFINITY,
            )
        },
        reached_by: &["knee", "aimd", "vegas"],
    },
    Row {
        scenario: "bulkhead",
        search: false,
        must: |report, result| check("drops/s", result.dropped as f64 / report.seconds, 0.0, 10.0),
        reached_by: &["knee"],
    },
];

fn check(what: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(format!("{what}: {value}, allowed from {low} to {high}"))
    }
}

/// The goodput of some phases against that of their best fixed limits.
fn share_of_best(
    report: &Report,
    result: &ContenderResult,
    phases: std::ops::Range<usize>,
    least: f64,
) -> Result<(), String> {
    let (mut own, mut best) = (0.0, 0.0);
    for phase in phases {
        let reference = &report.phases[phase];
        let seconds = reference.until - reference.from;
        own += result.phases[phase].goodput * seconds;
        best += reference.best_fixed_goodput.unwrap() * seconds;
    }
    check(
        "share of the best goodput",
        own / best,
        least,
        f64::INFINITY,
    )
}

fn limit_at(result: &ContenderResult, second: f64) -> f64 {
    let moment = result
        .timeline
        .iter()
        .rev()
        .find(|moment| moment.at <= second);
    moment.unwrap().limit as f64
}

/// The limit at the end within 10 % of that after a minute.
fn limit_stays(report: &Report, result: &ContenderResult) -> Result<(), String> {
    let early = limit_at(result, 60.0);
    check(
        "limit at the end",
        limit_at(result, report.seconds),
        0.9 * early,
        1.1 * early,
    )
}

/// Runs a row for some algorithms, and returns what each of them missed.
fn run<'a>(row: &Row, algorithms: &[&'a str]) -> Vec<(&'a str, Result<(), String>)> {
    let scenario = gallery(row.scenario);
    let contenders = algorithms.iter().copied().map(Contender::algorithm);
    let simulation = Simulation::new(&scenario).contenders(contenders);
    let simulation = if row.search {
        simulation
    } else {
        simulation.without_search()
    };
    let report = simulation.run().unwrap();
    let results = algorithms.iter().zip(&report.results);
    results
        .map(|(algorithm, result)| (*algorithm, (row.must)(&report, result)))
        .collect()
}

/// Asserts that those rows are reached by all that are said to.
fn reached(rows: impl Iterator<Item = &'static Row>) {
    let mut missed = Vec::new();
    for row in rows {
        let algorithms: Vec<&str> = row.reached_by.to_vec();
        if algorithms.is_empty() {
            continue;
        }
        for (algorithm, result) in run(row, &algorithms) {
            if let Err(text) = result {
                missed.push(format!("{} with {algorithm}: {text}", row.scenario));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

// Several tests, which run at the same time.
#[test]
fn noise_is_reached_by_those_that_are_said_to() {
    reached(ROWS.iter().filter(|row| row.scenario == "noise"));
}

#[test]
fn other_rows_with_a_best_fixed_limit_are_reached_by_those_that_are_said_to() {
    let others = |row: &&Row| row.search && row.scenario != "noise";
    reached(ROWS.iter().filter(others));
}

#[test]
fn rows_without_a_best_fixed_limit_are_reached_by_those_that_are_said_to() {
    reached(ROWS.iter().filter(|row| !row.search));
}

#[test]
fn a_limit_that_is_not_searched_for_has_no_regret() {
    let scenario = gallery("light-load");
    assert_eq!(result(&scenario, "vegas").regret, None);
    let report = report(&scenario, "vegas");
    assert!(report.results[0].regret.unwrap().abs() < 0.01, "{report}");
}
