//! What runs are judged by.

use resilience::sim::{Contender, Report, Simulation};

use crate::support::{near, scenario};

fn judged(text: &str, contenders: &[&str]) -> Report {
    let contenders = contenders
        .iter()
        .map(|text| Contender::parse(text).unwrap());
    let scenario = scenario(text);
    Simulation::new(&scenario)
        .contenders(contenders)
        .run()
        .unwrap()
}

const STEADY: &str = "duration = \"20s\"
    dependency = { servers = 8, latency = \"20ms\", law = \"exponential\" }
    clients = [{ load = { open = { per_second = 800 } } }]";

#[test]
fn the_best_fixed_limit_is_near_the_knee_and_has_no_regret() {
    let report = judged(STEADY, &[]);
    let best = report.phases[0].best_fixed.unwrap();
    assert!((8..=13).contains(&best), "{report}");
    assert_eq!(report.phases[0].knee, Some(8.0));

    let report = judged(
        STEADY,
        &[&format!("fixed:{best}"), "fixed:2", "fixed:8", "fixed:80"],
    );
    let [itself, narrow, knee, wide] = &report.results[..] else {
        unreachable!()
    };
    assert_eq!(itself.regret, Some(0.0));
    assert!(itself.phases[0].settled < Some(0.5), "{report}");
    assert_eq!(knee.regret_to_knee, Some(0.0));
    // A quarter of the goodput, which the shorter latency does not make up for; ten times the latency.
    near(narrow.regret.unwrap(), 0.75, 0.1);
    near(wide.regret.unwrap(), 1.0 - 0.1_f64.powf(0.25), 0.3);
    assert!(narrow.phases[0].settled.is_none() && wide.phases[0].settled.is_none());
}

#[test]
fn what_a_phase_leaves_to_the_next_is_no_merit_of_either() {
    let text = "duration = \"30s\"
        dependency = { servers = 10, latency = \"20ms\" }
        clients = [{ load = { open = { per_second = { steps = [[\"0s\", 1500], [\"10s\", 5]] } } } }]";
    let report = judged(text, &["none"]);
    let [busy, quiet] = &report.results[0].phases[..] else {
        unreachable!()
    };
    // Ten thousand calls wait when the quiet begins, and are served in it.
    assert!(busy.goodput < 501.0 && quiet.goodput < 7.0, "{report}");
    assert!(report.phases[1].best_fixed.unwrap() < 100, "{report}");
    assert!(
        busy.regret > Some(0.6) && quiet.regret > Some(0.2),
        "{report}"
    );
}

#[test]
fn a_step_is_settled_when_the_limit_is_where_it_should_be() {
    let text = "duration = \"40s\"
        limit = { initial_limit = 10, max_limit = 100, window = \"500ms\" }
        dependency = { servers = { steps = [[\"0s\", 10], [\"20s\", 30]] }, latency = \"20ms\" }
        clients = [{ load = { open = { per_second = 2000 } } }]";
    let report = judged(text, &["vegas", "aimd:increase_by=2;window=1s", "fixed:10"]);
    let settled = |contender: usize| report.results[contender].phases[1].settled;
    // From 13 on, by six a window.
    assert!(
        settled(0).is_some_and(|after| (0.4..2.5).contains(&after)),
        "{report}"
    );
    assert!(settled(2).is_none(), "{report}");
    near(report.results[2].oscillation + 1.0, 1.0, 1e-9);
    assert!(report.results[1].oscillation > 0.05, "{report}");
}

#[test]
fn fairness_is_that_of_the_clients_that_adapt() {
    let text = "duration = \"20s\"
        dependency = { servers = 20, latency = \"20ms\" }
        clients = [
            { load = { open = { per_second = 300 } } },
            { load = { open = { per_second = 100 } } },
            { fixed_limit = 3, load = { open = { per_second = 100 } } },
        ]";
    let report = judged(text, &["none"]);
    // (3 + 1)² / (2 × (9 + 1)), whatever the third does.
    near(report.results[0].fairness, 0.8, 0.03);
}
