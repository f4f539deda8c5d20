//! What clients get that share a dependency, each with a limit of its own.

use resilience::sim::{Contender, ContenderResult, Scenario, Simulation};

use crate::support::{each, scenario};

/// What Jain's index is to be in steady state.
const FAIR: f64 = 0.95;

/// How many clients share how many servers, and the algorithms that are fair to them. The others are known not to be: knee
/// lets some of many clients have half as much again as others.
const CROWDS: &[(u32, u32, &[&str])] = &[
    (2, 40, &["knee", "aimd", "vegas", "gradient2"]),
    (20, 100, &["aimd", "vegas", "gradient2"]),
];

/// Clients that together offer twice what the servers can take. The steady state is the second half.
fn crowd(clients: u32, servers: u32) -> Scenario {
    let each = 2.0 * f64::from(servers) / 0.02 / f64::from(clients);
    scenario(&format!(
        "duration = \"40s\"
        limit = {{ max_limit = 1000 }}
        dependency = {{ servers = {servers}, latency = \"20ms\", law = \"exponential\" }}
        [[clients]]
        count = {clients}
        load = {{ open = {{ per_second = {each} }} }}"
    ))
}

fn with_seeds(
    scenario: &Scenario,
    algorithm: &str,
    seeds: std::ops::RangeInclusive<u64>,
) -> Vec<ContenderResult> {
    let seeds: Vec<u64> = seeds.collect();
    each(&seeds, |seed| {
        let scenario = scenario.clone().with_seed(*seed);
        let simulation = Simulation::new(&scenario).contender(Contender::algorithm(algorithm));
        simulation.without_search().run().unwrap().results.remove(0)
    })
}

#[test]
fn clients_that_are_there_get_the_same() {
    for (clients, servers, algorithms) in CROWDS {
        for algorithm in *algorithms {
            let results = with_seeds(&crowd(*clients, *servers), algorithm, 1..=5);
            let fairness: Vec<f64> = results.iter().map(|result| result.fairness).collect();
            assert!(
                fairness.iter().all(|fairness| *fairness >= FAIR),
                "{clients} clients with {algorithm}: {fairness:.3?}"
            );
        }
    }
}

/// `clients` that share forty servers, and another one that comes at 20 s, a thousand base latencies after them.
fn joined(clients: u32) -> Scenario {
    let each = 2.0 * 40.0 / 0.02 / f64::from(clients + 1);
    scenario(&format!(
        "duration = \"23s\"
        phases = [\"20s\", \"21s\"]
        limit = {{ max_limit = 1000 }}
        dependency = {{ servers = 40, latency = \"20ms\", law = \"exponential\" }}
        [[clients]]
        count = {clients}
        load = {{ open = {{ per_second = {each} }} }}
        [[clients]]
        join = \"20s\"
        load = {{ open = {{ per_second = {each} }} }}"
    ))
}

/// The calls that the one who came last was served, as a part of its fair share: from 100 to 150 base latencies after it came,
/// with so many seeds, in order.
fn shares_of_the_last(clients: u32, algorithm: &str) -> Vec<f64> {
    let share = |result: ContenderResult| {
        // The second half of the last phase.
        let served = &result.phases.last().unwrap().served_by;
        let all: u64 = served.iter().sum();
        served[clients as usize] as f64 * served.len() as f64 / all as f64
    };
    let results = with_seeds(&joined(clients), algorithm, 1..=10);
    let mut shares: Vec<f64> = results.into_iter().map(share).collect();
    shares.sort_by(f64::total_cmp);
    shares
}

/// For so many clients that were there before: within what the last one's part of its fair share is, for half of the seeds and
/// for all. Nearer to 1 is better; within a tenth of it, as one would like, no algorithm is with all of these.
const JOINED: &[(u32, [f64; 2], [f64; 2])] = &[
    (1, [0.65, 1.1], [0.35, 1.5]),
    (2, [0.55, 1.3], [0.3, 1.8]),
    (9, [0.6, 2.1], [0.5, 2.4]),
];

#[test]
fn one_who_joins_gets_a_share_soon() {
    for (clients, half, all) in JOINED {
        let shares = shares_of_the_last(*clients, "knee");
        let within = |[low, high]: &[f64; 2], share: f64| (*low..=*high).contains(&share);
        let middle = f64::midpoint(shares[4], shares[5]);
        assert!(
            within(half, middle) && shares.iter().all(|share| within(all, *share)),
            "after {clients}: {shares:.2?}"
        );
    }
}
