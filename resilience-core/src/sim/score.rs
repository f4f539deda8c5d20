//! How good a run is, and against what.

use super::limits::Guard;
use super::random::{Random, power};
use super::record::{Phase, Record, Slice};
use super::run::{Plan, Setup, run};
use super::scenario::Scenario;
use crate::error::Error;

/// What latency counts for against goodput: twice the latency costs as much as 16 % of the goodput.
const LATENCY: f64 = 0.25;
/// What drops count for: half of the answers being drops costs as much as 7 % of the goodput.
const DROPS: f64 = 0.1;

/// Latencies of calls that nobody is in the way of, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unloaded {
    pub(super) mean: f64,
    pub(super) p50: f64,
    pub(super) p99: f64,
}

impl Unloaded {
    pub(super) fn of(scenario: &Scenario, (from, to): (u64, u64)) -> Self {
        const DRAWS: usize = 10_000;
        let dependency = &scenario.dependency;
        let mut random = Random::stream(scenario.seed, 3);
        let mut latencies: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let at = from + ((to - from) as f64 * random.unit()) as u64;
                let mean = dependency.law.mean();
                let served = dependency.service(at) / mean * dependency.law.draw(&mut random);
                let mut way = dependency.network.at(at);
                if dependency.network_jitter > 0.0 {
                    way +=
                        dependency.network_jitter * (random.exponential() + random.exponential());
                }
                served + way
            })
            .collect();
        latencies.sort_by(f64::total_cmp);
        let moments = (0..64).map(|part| from + (to - from) / 64 * part);
        Self {
            mean: moments.map(|at| dependency.unloaded(at)).sum::<f64>() / 64.0,
            p50: latencies[DRAWS / 2],
            p99: latencies[DRAWS * 99 / 100],
        }
    }
}

/// What one phase of a run was worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// Calls that came and were served, per second.
    pub(super) goodput: f64,
    /// Jain's index of the calls served by each client; 1 if there is but one.
    pub(super) fairness: f64,
    /// The goodput, less what latency, drops and unfairness cost.
    pub(super) utility: f64,
}

pub(super) fn worth(scenario: &Scenario, phase: &Phase, unloaded: &Unloaded) -> Worth {
    let goodput = phase.prompt as f64 / phase.seconds();
    let times = |share: f64, without: f64| {
        let latency = phase.latencies.quantile(share).unwrap_or(without);
        (latency / without).max(1.0)
    };
    let slower = times(0.5, unloaded.p50) * times(0.99, unloaded.p99);
    let dropped = phase.tally.dropped + phase.tally.timed_out;
    let clean = phase.tally.served as f64 / (phase.tally.served + dropped).max(1) as f64;
    let span = (phase.from, phase.to);
    let shares = phase.served_by.iter().enumerate();
    let shares: Vec<f64> = shares
        .filter(|(client, _)| scenario.measured(*client, span))
        .map(|(_, served)| *served as f64)
        .collect();
    let fairness = jain(&shares);
    Worth {
        goodput,
        fairness,
        utility: goodput * power(slower, -LATENCY / 2.0) * power(clean, DROPS) * fairness.sqrt(),
    }
}

/// Jain's index: 1 if all have the same, 1/n if one has all.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if shares.len() < 2 || squares == 0.0 {
        return 1.0;
    }
    sum * sum / (squares * shares.len() as f64)
}

/// The share of a utility that was missed. Negative if it was exceeded.
pub(super) fn regret(utility: f64, best: f64) -> f64 {
    if best > 0.0 {
        (1.0 - utility / best).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// What a phase is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    pub(super) unloaded: Unloaded,
    /// The best fixed limit of each client, what it is worth, and the pace it keeps in the second half.
    pub(super) best: Best,
    /// The calls that just keep the dependency busy, in all, and what a fixed limit of each client's part is worth.
    pub(super) knee: Option<(f64, Best)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) limit: u32,
    pub(super) goodput: f64,
    pub(super) utility: f64,
    /// Slice utility per second, see [`pace`].
    pub(super) pace: f64,
    /// The calls it is told from.
    pub(super) served: u64,
}

impl Best {
    fn none() -> Self {
        Self {
            limit: 0,
            goodput: 0.0,
            utility: -1.0,
            pace: 0.0,
            served: 0,
        }
    }
}

/// Finds the best fixed limit of each phase: all clients have it, for the whole run. Of those `among`, if there are such.
///
/// First a wide grid, then twice the neighbourhood of what was best in any phase. Goodput over a fixed limit has one peak
/// or a plateau, so that nothing better hides elsewhere.
///
/// # Errors
///
/// If a run's set-up is refused, or `heard` says to stop.
pub(super) fn search(
    scenario: &Scenario,
    setup: Setup<'_>,
    slice: u64,
    among: Option<&[u32]>,
    heard: &mut dyn FnMut(u32),
) -> Result<Vec<Reference>, Error> {
    let spans: Vec<_> = scenario.spans().collect();
    let mut found: Vec<Reference> = spans
        .iter()
        .map(|span| {
            let knee = scenario.knee(*span).map(|knee| {
                let clients = present(scenario, *span).max(1);
                let limit = (knee / clients as f64).round().clamp(1.0, 1e6) as u32;
                (
                    knee,
                    Best {
                        limit,
                        ..Best::none()
                    },
                )
            });
            Reference {
                unloaded: Unloaded::of(scenario, *span),
                best: Best::none(),
                knee,
            }
        })
        .collect();
    let (mut round, rounds) = match among {
        Some(limits) => (at_knees(&found).chain(limits.iter().copied()).collect(), 1),
        None => (grid(scenario, &found), 3),
    };
    let mut tried = Vec::new();
    for _ in 0..rounds {
        round.sort_unstable();
        round.dedup();
        round.retain(|limit| !tried.contains(limit));
        for limit in &round {
            heard(*limit);
            let guard = Guard::Fixed(*limit);
            let plan = Plan {
                scenario,
                guard: &guard,
                setup,
                duration: scenario.reference,
                slice,
                samples: 0,
            };
            let record = run(plan)?;
            for (reference, phase) in found.iter_mut().zip(&record.phases) {
                let Worth {
                    goodput, utility, ..
                } = worth(scenario, phase, &reference.unloaded);
                let slices = steady(&record, phase);
                let this = Best {
                    limit: *limit,
                    goodput,
                    utility,
                    pace: pace(slices, slice, reference.unloaded.mean),
                    served: slices.iter().map(|slice| slice.served).sum(),
                };
                if utility > reference.best.utility {
                    reference.best = this;
                }
                if let Some((_, knee)) = &mut reference.knee
                    && knee.limit == *limit
                {
                    *knee = this;
                }
            }
        }
        tried.append(&mut round);
        for reference in &found {
            let best = reference.best.limit;
            let near = [0.82, 0.9, 0.95, 1.05, 1.1, 1.22];
            round.extend(near.map(|factor| (f64::from(best) * factor).round().max(1.0) as u32));
            round.extend([best.saturating_sub(1).max(1), best + 1]);
        }
    }
    Ok(found)
}

/// How many clients whose limit adapts are there in a phase.
fn present(scenario: &Scenario, span: (u64, u64)) -> usize {
    (0..scenario.clients.len())
        .filter(|client| scenario.measured(*client, span))
        .count()
}

fn at_knees(references: &[Reference]) -> impl Iterator<Item = u32> {
    let knees = references.iter().filter_map(|reference| reference.knee);
    knees.map(|(_, knee)| knee.limit)
}

fn grid(scenario: &Scenario, references: &[Reference]) -> Vec<u32> {
    let knees = references.iter().map(|reference| match reference.knee {
        Some((_, knee)) => f64::from(knee.limit),
        // Any number of calls is served: as many as the scenario allows.
        None => f64::from(scenario.limit.max_limit.unwrap_or(200)),
    });
    let (low, high) = knees.fold((f64::INFINITY, 1.0_f64), |(low, high), knee| {
        (low.min(knee), high.max(knee))
    });
    let mut limits: Vec<u32> = at_knees(references).collect();
    let mut limit = (0.4 * low).max(1.0);
    while limit <= (4.0 * high).max(6.0) {
        limits.push(limit.round() as u32);
        limit = (limit * 1.5).max(limit + 1.0);
    }
    limits
}

/// The slices of a phase's second half.
fn steady<'r>(record: &'r Record, phase: &Phase) -> &'r [Slice] {
    let to = (phase.to / record.slice) as usize;
    let from = u64::midpoint(phase.from, phase.to).div_ceil(record.slice) as usize;
    &record.slices[from.min(to)..to]
}

/// The calls that a stretch serves per second, less what their latency costs.
fn pace(slices: &[Slice], slice: u64, unloaded: f64) -> f64 {
    let served: u64 = slices.iter().map(|slice| slice.served).sum();
    let latency: u64 = slices.iter().map(|slice| slice.latency).sum();
    if served == 0 {
        return 0.0;
    }
    let seconds = (slice * slices.len() as u64) as f64 / 1e9;
    let slower = (latency as f64 / served as f64 / unloaded).max(1.0);
    served as f64 / seconds * power(slower, -LATENCY)
}

/// When a run came to do well in a phase, in seconds from its beginning: the best fixed limit's pace in the second half,
/// less a tenth, over four slices and, less 15 %, over the four after them. `None` if it never did, or if there are
/// too few calls to tell.
pub(super) fn settled(record: &Record, phase: &Phase, reference: &Reference) -> Option<f64> {
    const SLICES: usize = 4;
    if reference.best.served < 100 {
        return None;
    }
    let from = phase.from.div_ceil(record.slice) as usize;
    let to = (phase.to / record.slice) as usize;
    let goal = reference.best.pace;
    let pace = |from: usize| {
        let slices = &record.slices[from..from + SLICES];
        pace(slices, record.slice, reference.unloaded.mean)
    };
    let last = (to + 1).checked_sub(2 * SLICES)?;
    let first =
        (from..last).find(|at| pace(*at) >= 0.9 * goal && pace(at + SLICES) >= 0.85 * goal)?;
    Some((first as u64 * record.slice - phase.from) as f64 / 1e9)
}

/// How long a slice is: long enough for some tens of calls and for calls to end in it, and no shorter than a thousandth of
/// the run.
pub(super) fn slice(scenario: &Scenario) -> u64 {
    let dependency = &scenario.dependency;
    let mut longest = scenario.duration as f64 / 1000.0;
    for span in scenario.spans() {
        let middle = u64::midpoint(span.0, span.1);
        let latency = dependency.unloaded(middle);
        longest = longest.max(2.5 * latency);
        if let Some(knee) = scenario.knee(span) {
            longest = longest.max(30.0 * latency / knee);
        }
    }
    (longest.min(scenario.duration as f64 / 40.0) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_a_share_for_a_hog() {
        assert!((jain(&[5.0, 5.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9.0, 0.0, 0.0]) - 1.0 / 3.0).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
    }
}
