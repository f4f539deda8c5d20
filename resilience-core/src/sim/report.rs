//! What a simulation has shown.

use std::fmt::{self, Write};

use super::record::Record;
use super::scenario::Scenario;
use super::score::{Reference, Unloaded, regret, settled, worth};

/// What a simulation has shown: a result for each contender, and what they are compared with.
///
/// Its [`Display`](fmt::Display) is a table. It is `serde::Serialize`, and [`chart`](Self::chart) draws it.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// What it is about.
    pub about: String,
    /// The seed of all that was random.
    pub seed: u64,
    /// How long it lasted, in virtual seconds.
    pub seconds: f64,
    /// The stretches between the moments at which something changed.
    pub phases: Vec<PhaseReference>,
    /// What each contender made of it.
    pub results: Vec<ContenderResult>,
    /// The knee as a line for the chart.
    #[serde(skip)]
    pub(super) knee: Vec<(f64, Option<f64>)>,
}

/// What the contenders are compared with in one phase.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct PhaseReference {
    /// When it begins, in seconds.
    pub from: f64,
    /// When it ends, in seconds.
    pub until: f64,
    /// The mean latency of calls without any load, in milliseconds.
    pub unloaded_ms: f64,
    /// The calls at once, of all clients, that just keep the dependency busy; `None` if no number does.
    pub knee: Option<f64>,
    /// The best fixed limit of each client, if it was searched for.
    pub best_fixed: Option<u32>,
    /// The calls served per second with it.
    pub best_fixed_goodput: Option<f64>,
}

/// What one contender made of a scenario. Shares are of the calls offered; 1 is all.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ContenderResult {
    /// The contender.
    pub name: String,
    /// The utility missed, against the best fixed limit of each phase: 0 is as good, 1 is useless, below 0 is better. `None`
    /// if that was not searched for.
    pub regret: Option<f64>,
    /// The same against a fixed limit at the knee.
    pub regret_to_knee: Option<f64>,
    /// The calls served per second.
    pub goodput: f64,
    /// The mean latency of the calls that were served, in milliseconds.
    pub mean_ms: Option<f64>,
    /// Half of them took no longer, in milliseconds.
    pub p50_ms: Option<f64>,
    /// 99 of 100 took no longer, in milliseconds.
    pub p99_ms: Option<f64>,
    /// The calls that clients wanted to make.
    pub offered: u64,
    /// Those that were served.
    pub served: u64,
    /// Those that the limit rejected.
    pub rejected: u64,
    /// Those of them that the dependency would have served at once.
    pub falsely_rejected: u64,
    /// Those that ended with an overload signal from the dependency.
    pub dropped: u64,
    /// Those that ended with the caller's time-out.
    pub timed_out: u64,
    /// Those that failed in a way that says nothing about load.
    pub failed: u64,
    /// Those in flight at the end.
    pub in_flight_at_end: u64,
    /// Those that wait in front of a limit at the end.
    pub waiting_at_end: u64,
    /// The calls in flight on average.
    pub mean_in_flight: f64,
    /// How much the limit varies in the second half of a phase: its deviation as a share of its mean, on average.
    pub oscillation: f64,
    /// Jain's index of the calls served by each client, in the second half of the phase in which it was worst.
    pub fairness: f64,
    /// The single phases.
    pub phases: Vec<PhaseResult>,
    /// The limit and the calls in flight at 180 moments, as the chart shows them.
    pub timeline: Vec<Moment>,
}

/// The state at one moment.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Moment {
    /// When, in seconds.
    pub at: f64,
    /// The sum of the limits of all clients that adapt and have joined; 0 without a limit.
    pub limit: u64,
    /// The calls in flight, of all clients.
    pub in_flight: u64,
}

/// What one contender made of one phase.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct PhaseResult {
    /// As for the whole run.
    pub regret: Option<f64>,
    /// The calls that came and were served in it, per second.
    pub goodput: f64,
    /// The mean latency of the calls that were served, in milliseconds.
    pub mean_ms: Option<f64>,
    /// 99 of 100 took no longer, in milliseconds.
    pub p99_ms: Option<f64>,
    /// The calls that ended with an overload signal or a time-out.
    pub drops: u64,
    /// The sum of the limits of all clients that adapt, on average in the second half.
    pub limit: f64,
    /// The seconds it took to do nearly as well as the best fixed limit; `None` if it never did, or nobody can tell.
    pub settled: Option<f64>,
    /// Jain's index of the calls served by the clients that adapt and were there in all of the second half.
    pub fairness: f64,
    /// The calls of each client that came in the second half of the phase and were served in it.
    pub served_by: Vec<u64>,
}

impl Report {
    pub(super) fn new(scenario: &Scenario, references: Option<&[Reference]>) -> Self {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let phases: Vec<PhaseReference> = scenario
            .spans()
            .enumerate()
            .map(|(number, span)| {
                let best = references.map(|references| references[number].best);
                PhaseReference {
                    from: seconds(span.0),
                    until: seconds(span.1),
                    unloaded_ms: Unloaded::of(scenario, span).mean / 1e6,
                    knee: scenario.knee(span),
                    best_fixed: best.map(|best| best.limit),
                    best_fixed_goodput: best.map(|best| best.goodput),
                }
            })
            .collect();
        Self {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            seed: scenario.seed,
            seconds: seconds(scenario.duration),
            phases,
            results: Vec::new(),
            knee: knee_over_time(scenario),
        }
    }

    pub(super) fn add(
        &mut self,
        name: String,
        scenario: &Scenario,
        record: Record,
        references: Option<&[Reference]>,
    ) {
        let tally = record.tally();
        let latencies = record.latencies();
        let millis = |nanos: Option<f64>| nanos.map(|nanos| nanos / 1e6);
        let total = record.duration as f64 / 1e9;
        let mut phases = Vec::new();
        let mut sums = [Some(0.0), Some(0.0)];
        let (mut oscillation, mut fairness) = (0.0, 1.0_f64);
        for (number, phase) in record.phases.iter().enumerate() {
            let unloaded;
            let reference = references.map(|references| &references[number]);
            let worth = if let Some(reference) = reference {
                worth(scenario, phase, &reference.unloaded)
            } else {
                unloaded = Unloaded::of(scenario, (phase.from, phase.to));
                worth(scenario, phase, &unloaded)
            };
            let share = phase.seconds() / total;
            let against = |best: Option<f64>| best.map(|best| regret(worth.utility, best));
            let missed = against(reference.map(|reference| reference.best.utility));
            let to_knee = against(
                reference
                    .and_then(|reference| reference.knee)
                    .map(|(_, knee)| knee.utility),
            );
            for (sum, missed) in sums.iter_mut().zip([missed, to_knee]) {
                *sum = sum.zip(missed).map(|(sum, missed)| sum + share * missed);
            }
            let (limit, deviation) = phase.limit();
            oscillation += share * deviation;
            fairness = fairness.min(worth.fairness);
            phases.push(PhaseResult {
                regret: missed,
                goodput: worth.goodput,
                mean_ms: millis(phase.latencies.mean()),
                p99_ms: millis(phase.latencies.quantile(0.99)),
                drops: phase.tally.dropped + phase.tally.timed_out,
                limit,
                settled: reference.and_then(|reference| settled(&record, phase, reference)),
                fairness: worth.fairness,
                served_by: phase.served_by.clone(),
            });
        }
        self.results.push(ContenderResult {
            name,
            regret: sums[0],
            regret_to_knee: sums[1],
            goodput: tally.served as f64 / total,
            mean_ms: millis(latencies.mean()),
            p50_ms: millis(latencies.quantile(0.5)),
            p99_ms: millis(latencies.quantile(0.99)),
            offered: tally.offered,
            served: tally.served,
            rejected: tally.rejected,
            falsely_rejected: tally.falsely,
            dropped: tally.dropped,
            timed_out: tally.timed_out,
            failed: tally.failed,
            in_flight_at_end: record.in_flight_at_end,
            waiting_at_end: record.waiting_at_end,
            mean_in_flight: record.mean_in_flight(),
            oscillation,
            fairness,
            phases,
            timeline: record.samples,
        });
    }
}

/// The knee as a line for the chart: `(seconds, calls)` wherever it may change.
fn knee_over_time(scenario: &Scenario) -> Vec<(f64, Option<f64>)> {
    const POINTS: u64 = 120;
    let constant = scenario.phases.len() == 1;
    let mut at: Vec<u64> = scenario.phases.clone();
    at.extend((0..POINTS).map(|point| scenario.duration / POINTS * point));
    at.sort_unstable();
    at.dedup();
    let mut line: Vec<(f64, Option<f64>)> = Vec::new();
    for (number, from) in at.iter().enumerate() {
        let to = at.get(number + 1).copied().unwrap_or(scenario.duration);
        let knee = scenario.knee((*from, to.max(from + 1)));
        if line.last().is_none_or(|(_, last)| *last != knee) || (constant && number == 0) {
            line.push((*from as f64 / 1e9, knee));
        }
    }
    line
}

impl ContenderResult {
    /// Returns a count as a share of the calls offered.
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.offered.max(1) as f64
    }

    /// Returns the cells of its row in a table, under [`Report::HEADS`].
    pub fn cells(&self) -> [String; Report::HEADS.len()] {
        let settled: Vec<String> = self
            .phases
            .iter()
            .map(|phase| optional(phase.settled, seconds))
            .collect();
        [
            self.name.clone(),
            optional(self.regret, |regret| format!("{:.3}", zero(regret, 3))),
            optional(self.regret_to_knee, |regret| {
                format!("{:.3}", zero(regret, 3))
            }),
            number(self.goodput),
            optional(self.mean_ms, millis),
            optional(self.p50_ms, millis),
            optional(self.p99_ms, millis),
            percent(self.share(self.rejected)),
            percent(self.share(self.falsely_rejected)),
            percent(self.share(self.dropped)),
            percent(self.share(self.timed_out)),
            settled.join(", "),
            format!("{:.2}", self.oscillation),
            format!("{:.2}", self.fairness),
        ]
    }
}

impl Report {
    /// The heads of the columns that [`ContenderResult::cells`] fills.
    pub const HEADS: [&str; 14] = [
        "limit",
        "regret",
        "to knee",
        "goodput/s",
        "mean",
        "p50",
        "p99",
        "rejected",
        "falsely",
        "drops",
        "time-outs",
        "settled after",
        "swing",
        "fairness",
    ];
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scenario)?;
        if !self.about.is_empty() {
            write!(f, ": {}", self.about)?;
        }
        writeln!(f)?;
        writeln!(f, "{} s, seed {}", number(self.seconds), self.seed)?;
        for phase in &self.phases {
            let best = phase.best_fixed.zip(phase.best_fixed_goodput);
            let best = best.map_or(String::new(), |(limit, goodput)| {
                format!(", best fixed limit {limit}: {}/s", number(goodput))
            });
            writeln!(
                f,
                "  from {} s: {} without load, knee {}{best}",
                number(phase.from),
                millis(phase.unloaded_ms),
                optional(phase.knee, number),
            )?;
        }
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|result| result.cells().to_vec())
            .collect();
        writeln!(f)?;
        f.write_str(&columns(&Self::HEADS.map(str::to_owned), &rows))?;
        if self.phases.len() > 1 {
            let heads = self
                .phases
                .iter()
                .map(|phase| format!("{}-{} s", number(phase.from), number(phase.until)));
            let heads: Vec<String> = ["limit in phase".to_owned()]
                .into_iter()
                .chain(heads)
                .collect();
            let rows: Vec<Vec<String>> = self.results.iter().map(limits).collect();
            writeln!(f)?;
            f.write_str(&columns(&heads, &rows))?;
        }
        Ok(())
    }
}

fn limits(result: &ContenderResult) -> Vec<String> {
    let limits = result.phases.iter().map(|phase| number(phase.limit));
    [result.name.clone()].into_iter().chain(limits).collect()
}

/// Aligns cells in columns, the first to the left.
fn columns(heads: &[String], rows: &[Vec<String>]) -> String {
    let all = || std::iter::once(heads).chain(rows.iter().map(Vec::as_slice));
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| {
            let widths = all().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in all() {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a string cannot fail.
            let _ = if column == 0 {
                write!(text, "{cell:<width$}")
            } else {
                write!(text, "  {cell:>width$}")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

/// No negative zeros.
fn zero(value: f64, digits: i32) -> f64 {
    if value.abs() < 0.5 * 10_f64.powi(-digits) {
        0.0
    } else {
        value
    }
}

/// A number with as many digits as one reads: at least three that count, or all before the point.
pub(super) fn number(value: f64) -> String {
    let text = match value.abs() {
        value_ if value_ >= 100.0 => format!("{value:.0}"),
        value_ if value_ >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn millis(millis: f64) -> String {
    format!("{} ms", number(millis))
}

fn seconds(seconds: f64) -> String {
    format!("{} s", number(seconds))
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 99.95 || percent == 0.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}
