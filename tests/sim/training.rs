//! The training scenarios: what the constants of knee were chosen on.
//!
//! They are in the folder `training`, and beside them, in `best-fixed.txt`, the best fixed limit of each of their phases: the
//! search for it is most of the work. `ci/training` prints what is measured here, and records the limits anew.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use resilience::sim::{Contender, Report, Scenario, Simulation};

use crate::support::each;

/// What regret may be on average and at worst.
const MEAN: f64 = 0.05;
const WORST: f64 = 0.25;
/// The file of the best fixed limits.
const RECORD: &str = "best-fixed.txt";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sim/training")
}

/// A scenario's file.
struct Training {
    scenario: Scenario,
    /// What the file's text is told from another by.
    text: String,
}

impl Training {
    fn all() -> Vec<Self> {
        let files = fs::read_dir(folder()).unwrap();
        let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let file = path.file_name().unwrap().to_str().unwrap();
            Self {
                scenario: Scenario::parse(file, &text).unwrap(),
                text: format!("{:016x}", fnv(&text)),
            }
        };
        files.iter().map(read).collect()
    }

    fn name(&self) -> &str {
        self.scenario.name()
    }

    /// The line that is recorded of it.
    fn line(&self, report: &Report) -> String {
        let best = report.phases.iter().map(|phase| phase.best_fixed.unwrap());
        let best: Vec<String> = best.map(|limit| limit.to_string()).collect();
        format!("{} {} {}", self.name(), self.text, best.join(" "))
    }
}

/// The hash of Fowler, Noll and Vo, FNV-1a: it is the same everywhere.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn record() -> String {
    fs::read_to_string(folder().join(RECORD)).unwrap()
}

/// The best fixed limits that are recorded of a scenario.
fn recorded(record: &str, training: &Training) -> Vec<u32> {
    let known = format!("{} {} ", training.name(), training.text);
    let line = record.lines().find_map(|line| line.strip_prefix(&known));
    let limits = line.unwrap_or_else(|| {
        panic!(
            "tests/sim/training/{}.toml is another than the one whose best fixed limits are recorded: run `ci/training --record`",
            training.name()
        )
    });
    let limits = limits.split(' ').map(|limit| limit.parse().unwrap());
    limits.collect()
}

fn table(names: &[&str], regrets: &[f64]) -> String {
    let mut table = String::new();
    for (name, regret) in names.iter().zip(regrets) {
        let _ = writeln!(table, "{name:24} {regret:7.4}");
    }
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    let worst = regrets.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let _ = writeln!(table, "{:24} {mean:7.4}", "mean");
    let _ = writeln!(table, "{:24} {worst:7.4}", "worst");
    table
}

#[test]
fn knee_has_little_regret_in_all_of_them() {
    let record = record();
    let all = Training::all();
    assert_eq!(all.len(), 58);
    let regrets = each(&all, |training| {
        let simulation = Simulation::new(&training.scenario)
            .contender(Contender::algorithm("knee"))
            .search_among(recorded(&record, training));
        simulation.run().unwrap().results[0].regret.unwrap()
    });
    let names: Vec<&str> = all.iter().map(Training::name).collect();
    let table = table(&names, &regrets);
    // Seen with `--nocapture`, as `ci/training` runs it.
    println!("{table}");
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    assert!(mean <= MEAN, "the mean is above {MEAN}:\n{table}");
    assert!(
        regrets.iter().all(|regret| *regret <= WORST),
        "the worst is above {WORST}:\n{table}"
    );
}

/// Of those with few calls; the rest would take minutes. They tell whether simulations go another way than when it was
/// recorded. With `RECORD_BEST_FIXED` in the environment all are searched, and recorded.
#[test]
fn the_best_fixed_limits_of_some_are_found_again() {
    let records = std::env::var_os("RECORD_BEST_FIXED").is_some();
    let mut all = Training::all();
    let few = ["latency-1500ms", "latency-5s", "servers-1"];
    all.retain(|training| records || few.contains(&training.name()));
    let lines = each(&all, |training| {
        let report = Simulation::new(&training.scenario).run().unwrap();
        training.line(&report) + "\n"
    });
    if records {
        let head = "# The best fixed limit of each phase, after the scenario's name and a hash of its file's text: by `ci/training --record`.\n";
        fs::write(folder().join(RECORD), head.to_owned() + &lines.concat()).unwrap();
    }
    let record = record();
    assert!(lines.len() >= few.len());
    for line in lines {
        assert!(
            record.contains(&line),
            "`{line}` is not what is recorded: run `ci/training --record`"
        );
    }
}

#[test]
fn nothing_is_recorded_of_scenarios_that_are_no_more() {
    let record = record();
    let names: Vec<_> = Training::all();
    let names = names.iter().map(|training| training.name().to_owned());
    let of = record.lines().filter(|line| !line.starts_with('#'));
    let of = of.map(|line| line.split(' ').next().unwrap().to_owned());
    assert_eq!(of.collect::<Vec<_>>(), names.collect::<Vec<_>>());
}
