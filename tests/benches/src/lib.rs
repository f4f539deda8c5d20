//! Benchmarks by criterion that measure calls against the cost of reading the clock twice.
//!
//! Nanoseconds say as much about the machine and its neighbours as about the code, and criterion measures one benchmark
//! to its end before the next. So what it is given to measure is a ratio: each batch of calls runs between two batches
//! of the reference, on the same threads, and whatever slows the machine down for longer than a batch slows both.

mod measurement;
mod rounds;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use criterion::Criterion;
use resilience_tests::allocations;

use measurement::Ratio;
use rounds::{Round, Team, median};

/// What a ratio is meant to be, and what it must not exceed. A call with a goal must also allocate nothing.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    ratio: f64,
    bound: f64,
}

impl Goal {
    /// Returns the goal of a ratio of at most `ratio`, missed when it is above `bound`.
    pub const fn new(ratio: f64, bound: f64) -> Self {
        Self { ratio, bound }
    }
}

/// A run of benchmarks: each is measured when it is given, and [`finish`](Self::finish) shows the table of all.
#[expect(missing_debug_implementations, reason = "criterion has none")]
pub struct Run {
    criterion: Criterion<Ratio>,
    /// In Markdown.
    rows: Vec<String>,
    exceeded: Vec<String>,
}

impl Run {
    /// Starts a run as the command line asks for it.
    pub fn from_args() -> Self {
        let criterion = Criterion::default()
            .with_measurement(Ratio)
            .without_plots()
            .sample_size(30)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_millis(1500))
            .nresamples(10_000)
            .noise_threshold(0.05)
            .configure_from_args();
        Self {
            criterion,
            rows: Vec::new(),
            exceeded: Vec::new(),
        }
    }

    /// Measures a call on `threads` threads at once; `make` makes each thread's call.
    pub fn call<C: FnMut()>(
        &mut self,
        name: &str,
        threads: usize,
        goal: Option<Goal>,
        make: impl Fn(usize) -> C + Sync,
    ) {
        let team = Team::new(threads);
        let mut rounds = Vec::new();
        thread::scope(|scope| {
            let workers = team.start(scope, &make);
            self.criterion.bench_function(name, |bencher| {
                // What criterion takes for an iteration is a round. The median: few rounds are disturbed, but those much.
                bencher.iter_custom(|iterations| {
                    let sample = team.run(&workers, iterations);
                    let ratio = median(sample.iter().map(Round::ratio));
                    rounds.extend(sample);
                    iterations as f64 * ratio
                });
            });
        });
        if rounds.is_empty() {
            return; // Filtered out.
        }
        let ns = median(rounds.iter().map(|round| round.ns));
        let ratio = median(rounds.iter().map(Round::ratio));
        let allocations = allocations_per_call(&mut make(0));
        let mut wanted = String::new();
        if let Some(Goal { ratio: goal, bound }) = goal {
            wanted = format!("≤ {goal} (bound {bound})");
            if ratio > bound || allocations > 0.0 {
                self.exceeded.push(format!(
                    "{name}: {ratio:.4} with {allocations} allocations exceeds {bound}"
                ));
            }
        }
        self.rows.push(format!(
            "| {name:57} | {ns:6.1} | {ratio:5.2} | {allocations:11} | {wanted:17} |"
        ));
    }

    /// Shows the table and, if `BENCH_BOUNDS=hold` is in the environment, fails if a bound was exceeded.
    pub fn finish(self) -> ExitCode {
        if !self.rows.is_empty() {
            println!(
                "| {:57} |     ns | ratio | allocations | {:17} |",
                "call", "goal"
            );
            println!("|{:-<59}|-------:|------:|------------:|{:-<19}|", "", "");
            println!("{}", self.rows.join("\n"));
        }
        if self.exceeded.is_empty() || std::env::var("BENCH_BOUNDS").as_deref() != Ok("hold") {
            return ExitCode::SUCCESS;
        }
        eprintln!("{}", self.exceeded.join("\n"));
        ExitCode::FAILURE
    }
}

fn allocations_per_call(call: &mut impl FnMut()) -> f64 {
    const CALLS: u32 = 100;
    (0..CALLS).for_each(|_| call());
    let counted = allocations::count(|| (0..CALLS).for_each(|_| call()));
    counted as f64 / f64::from(CALLS)
}
