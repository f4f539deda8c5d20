//! Runs that are long enough to be held against what queueing theory knows.

use crate::support::{near, result, scenario};

/// The share of calls that a system without a queue loses: Erlang's B formula, by its recursion.
fn erlang_b(servers: u32, load: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, servers| {
        load * blocked / (f64::from(servers) + load * blocked)
    })
}

/// The calls in an M/M/c system: those served, and those who wait by Erlang's C formula.
fn mean_calls(servers: u32, load: f64) -> f64 {
    let busy = load / f64::from(servers);
    let blocked = erlang_b(servers, load);
    let waits = blocked / (1.0 - busy * (1.0 - blocked));
    load + waits * busy / (1.0 - busy)
}

fn open(servers: u32, per_second: f64, dependency: &str, seconds: u32) -> String {
    format!(
        "duration = \"{seconds}s\"
        [dependency]
        servers = {servers}
        latency = \"10ms\"
        law = \"exponential\"
        {dependency}
        [[clients]]
        load = {{ open = {{ per_second = {per_second} }} }}"
    )
}

#[test]
fn a_single_server_holds_as_many_calls_as_theory_says() {
    let result = result(&scenario(&open(1, 70.0, "", 4000)), "none");
    near(result.mean_in_flight, mean_calls(1, 0.7), 0.03);
    near(result.mean_ms.unwrap(), 10.0 / 0.3, 0.03);
    // The latency is exponential too.
    near(
        result.p50_ms.unwrap(),
        10.0 / 0.3 * std::f64::consts::LN_2,
        0.03,
    );
    near(result.p99_ms.unwrap(), 10.0 / 0.3 * 100.0_f64.ln(), 0.05);
}

#[test]
fn several_servers_hold_as_many_calls_as_theory_says() {
    let result = result(&scenario(&open(4, 320.0, "", 1000)), "none");
    near(result.mean_in_flight, mean_calls(4, 3.2), 0.03);
}

#[test]
fn sharing_holds_as_many_calls_as_a_queue_and_is_fair_to_short_ones() {
    let text = open(1, 70.0, "discipline = \"sharing\"", 4000);
    let result = result(&scenario(&text), "none");
    near(result.mean_in_flight, mean_calls(1, 0.7), 0.03);
    // Half of the calls are shorter than 7 ms and pass the long ones: with a queue the median is 23 ms.
    assert!(result.p50_ms.unwrap() < 20.0, "{:?}", result.p50_ms);
}

#[test]
fn sharing_does_not_care_about_the_law() {
    let text = open(2, 140.0, "discipline = \"sharing\"", 2000);
    let constant = text.replace(
        "law = \"exponential\"",
        "law = { bimodal = { share = 0.1, factor = 5 } }",
    );
    let [exponential, bimodal] = [text, constant].map(|text| result(&scenario(&text), "none"));
    near(bimodal.mean_in_flight, exponential.mean_in_flight, 0.04);
}

#[test]
fn without_a_queue_as_many_calls_are_refused_as_theory_says() {
    let result = result(
        &scenario(&open(5, 600.0, "queue = 0\nrefusal = \"0s\"", 300)),
        "none",
    );
    near(
        result.dropped as f64 / result.offered as f64,
        erlang_b(5, 6.0),
        0.02,
    );
}

#[test]
fn a_fixed_limit_is_a_bulkhead() {
    let text = open(5, 600.0, "", 300);
    let result = result(&scenario(&text), "fixed:5");
    // The same number of calls is turned away, here by the limit.
    near(
        result.rejected as f64 / result.offered as f64,
        erlang_b(5, 6.0),
        0.02,
    );
    assert_eq!((result.dropped, result.falsely_rejected), (0, 0));
    near(result.mean_ms.unwrap(), 10.0, 0.01);
    assert!(
        result
            .timeline
            .iter()
            .all(|moment| moment.limit == 5 && moment.in_flight <= 5)
    );

    // One call more than there are servers waits; one less turns calls away that would have been served.
    let (wide, narrow) = (
        crate::support::result(&scenario(&text), "fixed:6"),
        crate::support::result(&scenario(&text), "fixed:4"),
    );
    assert!(wide.mean_ms > result.mean_ms && wide.falsely_rejected == 0);
    assert_eq!(narrow.falsely_rejected, narrow.rejected);
}

/// The share of calls that find `places` taken, of which `servers` serve: M/M/c/K.
fn blocked(servers: u32, places: u32, load: f64) -> f64 {
    let (mut weight, mut all) = (1.0, 1.0);
    for calls in 1..=places {
        weight *= load / f64::from(calls.min(servers));
        all += weight;
    }
    weight / all
}

#[test]
fn a_queue_in_front_of_a_limit_holds_as_many_calls_as_theory_says() {
    let queue = "limit = { queue_limit = 7, max_wait = \"60s\" }";
    let text = format!("{queue}\n{}", open(50, 600.0, "", 300));
    let result = result(&scenario(&text), "fixed:5");
    let rejected = result.rejected as f64 / result.offered as f64;
    near(rejected, blocked(5, 12, 6.0), 0.03);
    // The limit is what calls wait for: the dependency has room for more.
    assert_eq!(result.falsely_rejected, result.rejected);
    let mean = result.mean_ms.unwrap();
    assert!(mean > 15.0, "{mean} ms: the wait is a part of the latency");
    assert!(result.mean_in_flight < 5.0);
}

#[test]
fn a_mixture_has_the_mean_of_its_kinds() {
    let law = "law = { mixture = [{ share = 0.6, factor = 1, law = \"exponential\" }, { share = 0.2, factor = 5 }] }";
    let text =
        open(2, 70.0, "discipline = \"sharing\"", 2000).replace("law = \"exponential\"", law);
    let result = result(&scenario(&text), "none");
    // Sharing knows nothing of a law but its mean, twice that of one kind.
    near(result.mean_in_flight, mean_calls(2, 1.4), 0.04);
}

#[test]
fn littles_law_holds_under_any_limit_and_load() {
    for name in ["noise", "thinking-users", "distant", "shared-step"] {
        let scenario = crate::support::gallery(name).shortened(std::time::Duration::from_secs(20));
        for result in crate::support::results(&scenario, "vegas,fixed:25") {
            let ended = (result.served + result.timed_out) as f64;
            assert!(
                result.timed_out < result.served / 1000,
                "{name}: those have other latencies"
            );
            let rate = ended / scenario.duration().as_secs_f64();
            near(
                result.mean_in_flight,
                rate * result.mean_ms.unwrap() / 1e3,
                0.01,
            );
        }
    }
}

#[test]
fn a_steady_load_comes_at_its_rate() {
    let steps = "{ steps = [[\"0s\", 100], [\"10s\", 0], [\"20s\", 400]] }";
    let text = open(1000, 0.0, "", 30).replace(
        "per_second = 0",
        &format!("per_second = {steps}, arrivals = \"even\""),
    );
    let result = result(&scenario(&text), "none");
    assert!(
        (4998..=5000).contains(&result.offered),
        "{}",
        result.offered
    );
}
