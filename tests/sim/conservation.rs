//! No call is lost, none is made up.

use std::time::Duration;

use crate::support::{gallery, names, results, scenario};

#[test]
fn every_call_offered_ends_in_one_way_or_is_still_in_flight() {
    for name in names() {
        let scenario = gallery(&name);
        // The fastest has 160,000 calls a second.
        let slow = scenario.duration().as_secs() > 500;
        let millis = if slow { 30_000 } else { 1_500 };
        let scenario = scenario.shortened(Duration::from_millis(millis));
        for result in results(&scenario, "gradient2,none") {
            let ended = result.served + result.failed + result.dropped + result.timed_out;
            assert_eq!(
                result.offered,
                ended + result.rejected + result.in_flight_at_end,
                "{name}: {result:?}"
            );
            assert!(result.falsely_rejected <= result.rejected, "{name}");
        }
    }
}

#[test]
fn every_call_ends_once_when_everything_goes_wrong() {
    let text = "duration = \"20s\"
        limit = { max_limit = 500 }
        [dependency]
        servers = { cycle = [[\"1s\", 20], [\"1s\", 5]] }
        queue = 10
        latency = { wave = { mean = \"20ms\", amplitude = \"15ms\", period = \"3s\" } }
        law = { jitter = { spread = 0.5, outliers = 0.1, factor = 9 } }
        speed = { cycle = [[\"1700ms\", 1], [\"200ms\", 0]] }
        slowdown = { beyond = { load = 12, factor = 2 } }
        network = { redrawn = { low = \"1ms\", high = \"9ms\", every = \"500ms\" } }
        network_jitter = \"2ms\"
        quota = { per_second = { ramp = [[\"0s\", 400], [\"20s\", 900]] }, burst = 20 }
        failures = [
            { share = 0.05, kind = \"hang\" },
            { share = 0.1, kind = \"error\", after = \"3ms\" },
            { share = 0.1, kind = \"drop\", from = \"5s\", until = \"9s\" },
        ]
        [[clients]]
        count = 2
        timeout = \"90ms\"
        after_timeout = \"goes_on\"
        load = { open = { per_second = { cycle = [[\"2s\", 600], [\"1s\", 5]] }, burst = 3 } }
        [[clients]]
        join = \"4s\"
        leave = \"15s\"
        timeout = \"60ms\"
        load = { closed = { users = 40, think = \"5ms\" } }
        [[clients]]
        fixed_limit = 7
        timeout = \"1s\"
        load = { open = { per_second = 300, arrivals = \"even\" } }";
    let scenario = scenario(text);
    for result in results(&scenario, "gradient2,aimd,vegas,fixed:9,none") {
        let ended = result.served + result.failed + result.dropped + result.timed_out;
        let all = ended + result.rejected + result.in_flight_at_end;
        assert_eq!(result.offered, all, "{result:?}");
        let ways = [
            result.served,
            result.failed,
            result.dropped,
            result.timed_out,
            result.rejected,
        ];
        assert!(ways.iter().all(|way| *way > 100), "{result:?}");
        assert!(
            result.mean_in_flight > 1.0 && result.p99_ms < Some(1000.0),
            "{result:?}"
        );
    }
}

#[test]
fn a_call_ends_with_its_time_out_and_not_later() {
    let text = |after| {
        format!(
            "duration = \"20s\"
            dependency = {{ servers = 2, latency = \"50ms\", law = \"exponential\" }}
            [[clients]]
            timeout = \"100ms\"
            after_timeout = \"{after}\"
            load = {{ open = {{ per_second = 100 }} }}"
        )
    };
    let [leaves, goes_on] = ["leaves", "goes_on"].map(|after| {
        let result = crate::support::result(&scenario(&text(after)), "none");
        assert!(
            result.timed_out > 0 && result.p99_ms < Some(100.5),
            "{result:?}"
        );
        result
    });
    // Work that goes on for nobody is missing elsewhere.
    assert!(
        leaves.served > goes_on.served * 2,
        "{} {}",
        leaves.served,
        goes_on.served
    );
}

#[test]
fn a_call_waits_for_a_limit_as_long_as_it_may_and_no_longer() {
    let run = |waiting: &str, load: &str| {
        let text = format!(
            "duration = \"20s\"
            limit = {{ {waiting} }}
            dependency = {{ servers = 100, latency = \"10ms\" }}
            [[clients]]
            load = {load}"
        );
        let result = crate::support::result(&scenario(&text), "fixed:2");
        let ended = result.served + result.in_flight_at_end + result.waiting_at_end;
        assert_eq!(result.offered, ended + result.rejected, "{result:?}");
        // Two at a time of 10 ms each: all slots are taken all the time, and the rest gives up or finds no place.
        assert!((3_990..=4_000).contains(&result.served), "{result:?}");
        assert!(
            result.rejected > 1_000 && result.waiting_at_end >= 3,
            "{result:?}"
        );
        assert!(result.p99_ms <= Some(40.2), "{result:?}");
    };
    run(
        "max_wait = \"30ms\", queue_limit = 1000",
        "{ open = { per_second = 400 } }",
    );
    run(
        "max_wait = \"1s\", queue_limit = 3",
        "{ closed = { users = 20, after_rejection = \"5ms\" } }",
    );
}

#[test]
fn calls_that_hang_hold_no_server() {
    let text = "duration = \"20s\"
        [dependency]
        servers = 2
        latency = \"10ms\"
        failures = [{ share = 0.5, kind = \"hang\", from = \"5s\", until = \"10s\" }]
        [[clients]]
        timeout = \"1s\"
        load = { open = { per_second = 100, arrivals = \"even\" } }";
    let result = crate::support::result(&scenario(text), "none");
    assert_eq!(
        result.served + result.timed_out + result.in_flight_at_end,
        result.offered
    );
    crate::support::near(result.timed_out as f64, 250.0, 0.2);
    assert!(result.p99_ms < Some(11.0));
}

#[test]
fn a_quota_lets_its_rate_through_and_refuses_the_rest() {
    let text = "duration = \"60s\"
        [dependency]
        latency = \"10ms\"
        quota = { per_second = 50, burst = 5 }
        [[clients]]
        load = { open = { per_second = 200 } }";
    let result = crate::support::result(&scenario(text), "none");
    crate::support::near(result.goodput, 50.0, 0.01);
    assert_eq!(
        result.dropped + result.served + result.in_flight_at_end,
        result.offered
    );
}

#[test]
fn calls_wait_for_a_slot_as_long_as_the_limit_says() {
    let text = |waiting: &str| {
        format!(
            "duration = \"20s\"
            limit = {{ min_limit = 4, initial_limit = 4, max_limit = 4{waiting} }}
            dependency = {{ servers = 4, latency = \"10ms\" }}
            [[clients]]
            load = {{ open = {{ per_second = 10, burst = 20, arrivals = \"even\" }} }}"
        )
    };
    let run = |waiting| {
        let result = crate::support::result(&scenario(&text(waiting)), "aimd");
        let ended = result.served + result.rejected + result.in_flight_at_end;
        assert_eq!(result.offered, ended, "{result:?}");
        result
    };
    let [none, some, all] = [
        "",
        ", max_wait = \"25ms\", queue_limit = 100",
        ", max_wait = \"1s\", queue_limit = 15",
    ]
    .map(run);
    // Of each twenty, four are served at once, and four more every 10 ms: twelve within 25 ms, and all within 40 ms.
    let bursts = none.offered / 20;
    assert_eq!(none.rejected, bursts * 16);
    assert_eq!(some.rejected, bursts * 8);
    // One of them finds the queue full.
    assert_eq!(all.rejected, bursts);
    // What the caller sees is the wait, too.
    assert!(none.p99_ms < Some(10.5), "{none:?}");
    assert!(
        some.p99_ms > Some(29.0) && some.p99_ms < Some(31.0),
        "{some:?}"
    );
    assert!(
        all.p99_ms > Some(48.0) && all.p99_ms < Some(52.0),
        "{all:?}"
    );
}
