//! What the tests share.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use resilience::sim::{Contender, ContenderResult, Report, Scenario, Simulation};

/// The folder of the gallery.
pub(crate) fn folder() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().join("examples/scenarios")
}

/// The names of the gallery's scenarios.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

pub(crate) fn gallery(name: &str) -> Scenario {
    Scenario::read(folder().join(format!("{name}.toml"))).unwrap()
}

/// A scenario written in the test.
pub(crate) fn scenario(text: &str) -> Scenario {
    Scenario::parse("test.toml", text).unwrap()
}

/// Runs contenders, given as on the command line, without a search for the best fixed limit.
pub(crate) fn results(scenario: &Scenario, contenders: &str) -> Vec<ContenderResult> {
    let contenders = contenders
        .split(',')
        .map(|text| Contender::parse(text).unwrap());
    let simulation = Simulation::new(scenario).contenders(contenders);
    simulation.without_search().run().unwrap().results
}

/// Runs one contender without a search for the best fixed limit.
pub(crate) fn result(scenario: &Scenario, contender: &str) -> ContenderResult {
    results(scenario, contender).remove(0)
}

/// Runs one contender, and searches.
pub(crate) fn report(scenario: &Scenario, contender: &str) -> Report {
    let contender = Contender::parse(contender).unwrap();
    Simulation::new(scenario)
        .contender(contender)
        .run()
        .unwrap()
}

/// Asserts that a number is what is expected, but for a share of it.
#[track_caller]
pub(crate) fn near(value: f64, expected: f64, share: f64) {
    assert!(
        (value / expected - 1.0).abs() <= share,
        "{value} for {expected}, off by {:.2} %",
        (value / expected - 1.0) * 100.0
    );
}

/// Does the work on each item, on all processors, and returns the results in the order of the items.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            // Relaxed: nothing but the number is shared by it.
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else {
                    return done;
                };
                done.push((index, work(item)));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let results = workers.into_iter().map(|worker| worker.join().unwrap());
        results.flatten().collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
