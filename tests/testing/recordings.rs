//! Windows that were recorded lead to the same limits for the same reasons.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use resilience::Outcome;
use resilience::event::Reason;
use resilience::limit::algorithm::{Algorithm, Decision};
use resilience::limit::window::Window;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::Registry;
use resilience::testing::{Recorder, Recording, TestRegistry};
use resilience::time::ManualClock;

const MS: Duration = Duration::from_millis(1);

/// Calls one batch after the other, as many at once as the limit admits: slow and with drops now and then.
fn traffic(limit: &AdaptiveLimit, clock: &ManualClock, batches: u64) {
    for batch in 0..batches {
        let calls: Vec<_> = (0..40).map_while(|_| limit.try_acquire().ok()).collect();
        clock.advance(MS * if batch % 50 < 35 { 100 } else { 170 });
        for (number, call) in calls.into_iter().enumerate() {
            clock.advance(MS * (number as u32 % 3));
            let drops = batch % 90 > 80 && number % 2 == 0;
            call.complete(if drops {
                Outcome::Drop
            } else {
                Outcome::Success
            });
        }
    }
}

fn recorded(config: LimitConfig) -> (Recording, Vec<u32>) {
    let test = TestRegistry::new();
    let limit = test.registry().register("recorded", config).unwrap();
    let recorder = Recorder::start(&limit);
    let limits = Arc::new(Mutex::new(Vec::new()));
    let seen = limits.clone();
    let _told = limit.subscribe(move |event| {
        if let resilience::event::Event::LimitChanged { to, .. } = event {
            seen.lock().unwrap().push(*to);
        }
    });
    traffic(&limit, test.clock(), 600);
    let limits = limits.lock().unwrap().clone();
    (recorder.recording(), limits)
}

fn algorithms() -> [LimitConfig; 6] {
    let config = |name: &'static str| LimitConfig::new().algorithm(name);
    [
        config("knee").headroom(1.5),
        config("gradient2").long_window(50),
        config("aimd").latency_threshold(160 * MS).increase_by(2),
        config("vegas"),
        config("vegas").jitter(resilience::limit::algorithm::Jitter::Fixed(0.7)),
        config("gradient2")
            .preset(resilience::limit::Preset::Netflix)
            .max_limit(60),
    ]
}

#[test]
fn a_recording_replays_to_the_same_limits_and_reasons_also_when_it_was_stored() {
    for config in algorithms() {
        let (recording, changes) = recorded(config.clone());
        assert!(recording.windows() > 10, "{config:?}");
        assert!(recording.is_from_the_beginning() && !recording.is_truncated());
        let replay = recording.replay();
        replay.assert_same();
        // Those that were in force, and not just the algorithm's.
        let mut limits = replay.limits();
        limits.dedup();
        let tail = limits.len() - changes.len();
        assert!(
            tail <= 1 && changes.len() > 3,
            "{config:?}: {limits:?} {changes:?}"
        );
        assert_eq!(limits[tail..], changes, "{config:?}");

        let json = serde_json::to_string(&recording).unwrap();
        let stored: Recording = serde_json::from_str(&json).unwrap();
        assert_eq!(stored, recording);
        assert_eq!(stored.replay(), replay);
    }
}

#[test]
fn resets_and_changed_settings_are_replayed_too() {
    let settings = Arc::new(Mutex::new(vec![(
        "instances.orders.adaptiveLimit.maxLimit",
        "50",
    )]));
    let read = settings.clone();
    let clock = ManualClock::new();
    let registry = Registry::builder()
        .clock(clock.clone())
        .values("test", move || {
            Ok::<_, std::io::Error>(read.lock().unwrap().clone())
        })
        .build()
        .unwrap();
    let config = LimitConfig::new().algorithm("vegas");
    let orders = registry.register("orders", config).unwrap();
    let recorder = Recorder::start(&orders);
    traffic(&orders, &clock, 150);
    *settings.lock().unwrap() = vec![("instances.orders.adaptiveLimit.maxLimit", "9")];
    registry.reload().unwrap();
    traffic(&orders, &clock, 150);
    *settings.lock().unwrap() = vec![("instances.orders.adaptiveLimit.algorithm", "knee")];
    registry.reload().unwrap();
    traffic(&orders, &clock, 150);
    orders.reset();
    traffic(&orders, &clock, 150);
    let replay = recorder.recording().replay();
    assert!(replay.steps().len() > 20);
    replay.assert_same();
    assert_eq!(replay.limits().last(), Some(&orders.limit()));
}

/// Half as much each time.
#[derive(Debug)]
struct Halving(f64);
impl Algorithm for Halving {
    fn update(&mut self, _: &Window) -> Decision {
        self.0 /= 2.0;
        Decision::new(self.0, Reason::custom("halving"))
    }
}

#[test]
fn another_algorithm_or_tuning_shows_what_it_would_have_decided() {
    let (recording, _) = recorded(LimitConfig::new().algorithm("aimd"));
    let cautious = recording.replay_as(&LimitConfig::new().max_limit(22));
    assert_eq!(cautious.limits().iter().max(), Some(&22));
    let (number, step) = cautious.first_difference().unwrap();
    assert_eq!(step.recorded_limit as u32, 23);
    assert!(number > 0);
    let vegas = recording.replay_as(&LimitConfig::new().algorithm("vegas"));
    assert_eq!(vegas.steps().len(), recording.windows());
    let is_vegas = |reason: &Reason| matches!(reason, Reason::Queue { .. });
    assert!(
        vegas
            .steps()
            .iter()
            .any(|step| is_vegas(&step.decision.reason))
    );

    let own = recording.replay_with(|bounds| Halving(f64::from(bounds.initial())));
    assert_eq!(own.limits()[..6], [10, 5, 2, 1, 1, 1]);
}

#[test]
fn a_recording_that_begins_late_starts_at_the_limit_that_was_in_force() {
    let test = TestRegistry::new();
    let config = LimitConfig::new().algorithm("aimd");
    let limit = test.registry().register("late", config).unwrap();
    traffic(&limit, test.clock(), 60);
    let (before, recorder) = (limit.limit(), Recorder::start(&limit));
    assert_ne!(before, 20);
    traffic(&limit, test.clock(), 200);
    let recording = recorder.recording();
    assert!(!recording.is_from_the_beginning());
    // AIMD remembers nothing but the limit.
    recording.replay().assert_same();

    // A reset makes it whole, and a second recorder ends the first.
    let second = Recorder::start(&limit);
    let ended = recorder.recording();
    limit.reset();
    traffic(&limit, test.clock(), 60);
    assert_eq!(recorder.recording(), ended);
    drop(recorder);
    let whole = second.recording();
    assert!(whole.is_from_the_beginning() && whole.windows() > 5);
    whole.replay().assert_same();
}

#[test]
fn a_full_recorder_keeps_the_beginning() {
    let test = TestRegistry::new();
    let config = LimitConfig::new().algorithm("aimd");
    let limit = test.registry().register("full", config).unwrap();
    let recorder = Recorder::with_capacity(&limit, 5);
    traffic(&limit, test.clock(), 100);
    let recording = recorder.recording();
    assert_eq!((recording.windows(), recording.is_truncated()), (5, true));
    recording.replay().assert_same();
}

#[test]
#[should_panic(
    expected = "window 1 of 2 led to a limit of 22 (no overload, 1 more), recorded is 21 (no overload, 1 more)"
)]
fn a_replay_that_differs_says_from_where() {
    let json = include_str!("recording.json").replacen("\"limit\": 22.0", "\"limit\": 21.0", 1);
    serde_json::from_str::<Recording>(&json)
        .unwrap()
        .replay()
        .assert_same();
}

#[test]
fn a_recording_is_stored_under_names_that_stay() {
    let stored = include_str!("recording.json");
    let recording: Recording = serde_json::from_str(stored).unwrap();
    recording.replay().assert_same();
    assert_eq!(
        serde_json::to_string_pretty(&recording).unwrap(),
        stored.trim_end()
    );
}

#[test]
#[should_panic(expected = "has format 2, known is 1")]
fn a_recording_of_a_later_form_is_refused() {
    let json = include_str!("recording.json").replacen("\"format\": 1", "\"format\": 2", 1);
    serde_json::from_str::<Recording>(&json).unwrap().replay();
}

#[test]
#[should_panic(expected = "`maxLimit` is \"many\", expected a whole number")]
fn a_recording_with_a_value_that_cannot_be_is_refused() {
    let json =
        include_str!("recording.json").replace("\"maxLimit\": \"200\"", "\"maxLimit\": \"many\"");
    serde_json::from_str::<Recording>(&json).unwrap().replay();
}
