//! Windows of real runs, given to an algorithm that knows nothing, lead to the same decisions.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Close, Decision, Gradient2, Gradient2Settings, Jitter,
    Knee, KneeSettings, Vegas, VegasSettings,
};
use resilience::limit::window::{Window, WindowRule};
use resilience::registry::Registry;
use resilience::sim::{Contender, Scenario, Simulation};

use crate::support::gallery;

type Make = fn(Bounds) -> Box<dyn Algorithm>;

const ALGORITHMS: [(&str, Make); 4] = [
    ("knee", |bounds| {
        Box::new(Knee::new(bounds, KneeSettings::default()))
    }),
    ("gradient2", |bounds| {
        Box::new(Gradient2::new(bounds, Gradient2Settings::default()))
    }),
    ("aimd", |bounds| {
        Box::new(Aimd::new(bounds, AimdSettings::default()))
    }),
    ("vegas", |bounds| {
        let mut settings = VegasSettings::default();
        settings.jitter = Jitter::Seeded(7);
        Box::new(Vegas::new(bounds, settings))
    }),
];

/// What one limit's algorithm was told and what it said.
#[derive(Debug)]
struct Recording {
    bounds: Bounds,
    decisions: Vec<(Window, Decision)>,
    /// How often a window went on, and how often it was begun anew.
    extended: usize,
    restarted: usize,
}

/// An algorithm of which a record is kept.
#[derive(Debug)]
struct Recorded {
    algorithm: Box<dyn Algorithm>,
    recording: Arc<Mutex<Recording>>,
}

impl Algorithm for Recorded {
    fn window_rule(&self) -> WindowRule {
        self.algorithm.window_rule()
    }

    fn close(&self, window: &Window, rule: &WindowRule) -> Close {
        let close = self.algorithm.close(window, rule);
        let mut recording = self.recording.lock().unwrap();
        match close {
            Close::Extend { .. } => recording.extended += 1,
            Close::Restart { .. } => recording.restarted += 1,
            _ => {}
        }
        close
    }

    fn update(&mut self, window: &Window) -> Decision {
        let decision = self.algorithm.update(window);
        let mut recording = self.recording.lock().unwrap();
        recording.decisions.push((window.clone(), decision.clone()));
        decision
    }

    fn baseline(&self) -> Option<f64> {
        self.algorithm.baseline()
    }
}

/// Runs a scenario and returns a recording for each client's limit.
fn record(scenario: &Scenario, make: Make) -> Vec<Recording> {
    let recordings = Arc::new(Mutex::new(Vec::new()));
    let builder = || {
        let recordings = recordings.clone();
        Registry::builder().algorithm("recorded", move |bounds| {
            let recording = Arc::new(Mutex::new(Recording {
                bounds,
                decisions: Vec::new(),
                extended: 0,
                restarted: 0,
            }));
            recordings.lock().unwrap().push(recording.clone());
            Recorded {
                algorithm: make(bounds),
                recording,
            }
        })
    };
    Simulation::new(scenario)
        .registry(builder)
        .contender(Contender::algorithm("recorded"))
        .without_search()
        .run()
        .unwrap();
    let recordings = std::mem::take(&mut *recordings.lock().unwrap());
    let alone = |recording: Arc<Mutex<Recording>>| {
        Arc::try_unwrap(recording).unwrap().into_inner().unwrap()
    };
    let recordings = recordings.into_iter().map(alone);
    // The simulator makes a limit that no client has, to see whether the settings are sound.
    recordings
        .filter(|recording: &Recording| !recording.decisions.is_empty())
        .collect()
}

/// Clients that come one after the other, a queue that refuses, drops at random, and time-outs on top of a step.
const RUNS: [(&str, usize); 4] = [
    ("newcomers", 6),
    ("short-queue", 1),
    ("background-drops", 1),
    ("timeout-step", 1),
];

fn recordings(make: Make) -> Vec<Recording> {
    let mut all = Vec::new();
    for (name, clients) in RUNS {
        let scenario = gallery(name);
        let duration = if clients > 1 { 110 } else { 40 };
        let scenario = scenario.shortened(Duration::from_secs(duration));
        let recordings = record(&scenario, make);
        assert_eq!(recordings.len(), clients, "{name}");
        all.extend(recordings);
    }
    all
}

#[test]
fn recorded_windows_lead_to_the_same_limits_and_reasons() {
    for (name, make) in ALGORITHMS {
        for recording in recordings(make) {
            let mut fresh = make(recording.bounds);
            let mut in_force = recording.bounds.initial();
            assert!(recording.decisions.len() > 8, "{name}");
            for (window, decision) in &recording.decisions {
                // It was the limit's own, and not just the algorithm's.
                assert_eq!(window.limit, in_force, "{name}");
                let again = fresh.update(window);
                assert_eq!(again, *decision, "{name}");
                assert_eq!(again.limit.to_bits(), decision.limit.to_bits(), "{name}");
                in_force = recording.bounds.clamp(decision.limit) as u32;
            }
        }
    }
}

#[test]
fn a_window_that_went_on_or_was_begun_anew_is_all_that_is_needed() {
    let (_, knee) = ALGORITHMS[0];
    let recordings = recordings(knee);
    let sum = |of: fn(&Recording) -> usize| recordings.iter().map(of).sum::<usize>();
    // What the test before replays has both.
    assert!(sum(|recording| recording.extended) > 50);
    assert!(sum(|recording| recording.restarted) > 50);
    let told = |recording: &Recording| {
        let restarts = recording
            .decisions
            .iter()
            .map(|(window, _)| window.restarts);
        restarts.sum::<u32>() as usize
    };
    for recording in &recordings {
        // All of them but those after the last decision.
        assert!(told(recording) <= recording.restarted);
    }
    assert!(sum(|recording| recording.restarted) < recordings.iter().map(told).sum::<usize>() + 50);
}

#[test]
fn windows_that_were_stored_lead_to_the_same_reasons() {
    for (name, make) in ALGORITHMS {
        let scenario = gallery("short-queue").shortened(Duration::from_secs(20));
        for recording in record(&scenario, make) {
            let mut fresh = make(recording.bounds);
            for (window, decision) in &recording.decisions {
                let text = serde_json::to_string(window).unwrap();
                let stored: Window = serde_json::from_str(&text).unwrap();
                assert_eq!(stored, *window, "{name}");
                assert_eq!(fresh.update(&stored), *decision, "{name}");
            }
        }
    }
}

#[test]
fn a_window_is_stored_under_names_that_stay() {
    let mut window = Window::default();
    window.opened = 1;
    window.log_latency_sum = 0.1 + 0.2;
    let stored = serde_json::to_value(&window).unwrap();
    let names: Vec<&str> = stored
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let expected = "admitted cancelled closed drop_latency_sum drops ended_latency_sum fast_drop_in_flight_sum \
        fast_drop_latency_sum fast_drops ignored in_flight in_flight_area in_flight_sum latency_sum limit log_latency_sq_sum \
        log_latency_sum max_in_flight opened peak_in_flight rejected restarts stale successes timed";
    assert_eq!(names.join(" "), expected);
    // One that was stored before there were the others.
    let old = serde_json::from_str::<Window>(
        "{ \"opened\": 1, \"log_latency_sum\": 0.30000000000000004 }",
    );
    assert_eq!(old.unwrap(), window);
}
