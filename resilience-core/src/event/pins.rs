//! What events and reasons look like to serde: names that others build on, written out by hand.

use serde_json::to_string;

use super::{Event, Reason, Rejection};

/// Fails to compile when a reason is added that is not pinned below.
fn kind(reason: &Reason) -> &'static str {
    match reason {
        Reason::Initial => "initial",
        Reason::Gradient { .. } => "gradient",
        Reason::Increase { .. } => "increase",
        Reason::Queue { .. } => "queue",
        Reason::Probe { .. } => "probe",
        Reason::Drops { .. } => "drops",
        Reason::TooSlow { .. } => "too_slow",
        Reason::AppLimited { .. } => "app_limited",
        Reason::GrowthBound { .. } => "growth_bound",
        Reason::Knee { .. } => "knee",
        Reason::Slower { .. } => "slower",
        Reason::Faster { .. } => "faster",
        Reason::SlowerDependency { .. } => "slower_dependency",
        Reason::BackgroundDrops { .. } => "background_drops",
        Reason::Ceiling { .. } => "ceiling",
        Reason::Drain { .. } => "drain",
        Reason::NoBaseline { .. } => "no_baseline",
        Reason::Yield { .. } => "yield",
        Reason::Unused { .. } => "unused",
        Reason::NoLatency => "no_latency",
        Reason::Bounds => "bounds",
        Reason::Failed => "failed",
        Reason::Custom(_) => "custom",
    }
}

/// How many kinds [`kind`] knows.
const KINDS: usize = 23;

fn reasons_of_any() -> Vec<(Reason, &'static str)> {
    vec![
        (Reason::Initial, r#"{"kind":"initial"}"#),
        (
            Reason::Gradient {
                gradient: 0.75,
                latency: 2e6,
                baseline: 1.5e6,
            },
            r#"{"kind":"gradient","gradient":0.75,"latency":2000000.0,"baseline":1500000.0}"#,
        ),
        (
            Reason::Increase { by: 1.0 },
            r#"{"kind":"increase","by":1.0}"#,
        ),
        (
            Reason::Queue {
                queue: 4.5,
                alpha: 3.0,
                beta: 6.0,
            },
            r#"{"kind":"queue","queue":4.5,"alpha":3.0,"beta":6.0}"#,
        ),
        (
            Reason::Probe { baseline: 1e6 },
            r#"{"kind":"probe","baseline":1000000.0}"#,
        ),
        (
            Reason::Drops {
                drops: 3,
                samples: 40,
            },
            r#"{"kind":"drops","drops":3,"samples":40}"#,
        ),
        (
            Reason::TooSlow {
                latency: 3e6,
                threshold: 2e6,
            },
            r#"{"kind":"too_slow","latency":3000000.0,"threshold":2000000.0}"#,
        ),
        (
            Reason::AppLimited { max_in_flight: 2 },
            r#"{"kind":"app_limited","max_in_flight":2}"#,
        ),
        (
            Reason::GrowthBound { bound: 24.5 },
            r#"{"kind":"growth_bound","bound":24.5}"#,
        ),
        (Reason::NoLatency, r#"{"kind":"no_latency"}"#),
        (Reason::Bounds, r#"{"kind":"bounds"}"#),
        (Reason::Failed, r#"{"kind":"failed"}"#),
        (
            Reason::custom("one more"),
            r#"{"kind":"custom","text":"one more"}"#,
        ),
    ]
}

fn reasons_of_knee() -> Vec<(Reason, &'static str)> {
    vec![
        (
            Reason::Knee {
                knee: 30.0,
                low: 25.0,
                high: 36.5,
                base: 1e6,
                latency: 1.25e6,
            },
            r#"{"kind":"knee","knee":30.0,"low":25.0,"high":36.5,"base":1000000.0,"latency":1250000.0}"#,
        ),
        (
            Reason::Slower {
                latency: 2e6,
                expected: 1e6,
            },
            r#"{"kind":"slower","latency":2000000.0,"expected":1000000.0}"#,
        ),
        (
            Reason::Faster {
                latency: 1e6,
                expected: 2e6,
            },
            r#"{"kind":"faster","latency":1000000.0,"expected":2000000.0}"#,
        ),
        (
            Reason::SlowerDependency {
                elasticity: 0.125,
                base: 1e6,
            },
            r#"{"kind":"slower_dependency","elasticity":0.125,"base":1000000.0}"#,
        ),
        (
            Reason::BackgroundDrops { share: 0.25 },
            r#"{"kind":"background_drops","share":0.25}"#,
        ),
        (
            Reason::Ceiling { ceiling: 12.0 },
            r#"{"kind":"ceiling","ceiling":12.0}"#,
        ),
        (
            Reason::Drain {
                knee: 30.0,
                base: 1e6,
            },
            r#"{"kind":"drain","knee":30.0,"base":1000000.0}"#,
        ),
        (
            Reason::NoBaseline { latency: 1e6 },
            r#"{"kind":"no_baseline","latency":1000000.0}"#,
        ),
        (
            Reason::Yield {
                latency: 2e6,
                base: 1e6,
            },
            r#"{"kind":"yield","latency":2000000.0,"base":1000000.0}"#,
        ),
        (
            Reason::Unused { peak: 2.5 },
            r#"{"kind":"unused","peak":2.5}"#,
        ),
    ]
}

#[test]
fn each_reason_has_its_names_and_is_read_again() {
    let mut reasons = reasons_of_any();
    reasons.extend(reasons_of_knee());
    let mut kinds: Vec<_> = reasons.iter().map(|(reason, _)| kind(reason)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), KINDS);
    for (reason, json) in reasons {
        assert_eq!(to_string(&reason).unwrap(), json);
        assert!(json.starts_with(&format!(r#"{{"kind":"{}""#, kind(&reason))));
        assert_eq!(serde_json::from_str::<Reason>(json).unwrap(), reason);
    }
}

#[test]
fn each_event_has_its_names() {
    let events = [
        (
            Event::LimitChanged {
                id: "orders".into(),
                from: 20,
                to: 18,
                reason: Reason::Drops {
                    drops: 3,
                    samples: 40,
                },
                decision: 7,
            },
            r#"{"event":"limit_changed","id":"orders","from":20,"to":18,"reason":{"kind":"drops","drops":3,"samples":40},"decision":7}"#,
        ),
        (
            Event::WindowClosed {
                id: "orders".into(),
                decision: 7,
                duration: 1_000_000_000,
                samples: 40,
                drops: 3,
                latency: Some(2.5e6),
                max_in_flight: 18,
                limit: 18,
                reason: Reason::NoLatency,
            },
            r#"{"event":"window_closed","id":"orders","decision":7,"duration":1000000000,"samples":40,"drops":3,"latency":2500000.0,"max_in_flight":18,"limit":18,"reason":{"kind":"no_latency"}}"#,
        ),
        (
            Event::Rejected {
                id: "orders".into(),
                limit: 18,
                in_flight: 18,
                reason: Rejection::LimitExceeded,
            },
            r#"{"event":"rejected","id":"orders","limit":18,"in_flight":18,"reason":"limit_exceeded"}"#,
        ),
        (
            Event::Rejected {
                id: "orders".into(),
                limit: 18,
                in_flight: 18,
                reason: Rejection::QueueFull,
            },
            r#"{"event":"rejected","id":"orders","limit":18,"in_flight":18,"reason":"queue_full"}"#,
        ),
        (
            Event::Rejected {
                id: "orders".into(),
                limit: 18,
                in_flight: 17,
                reason: Rejection::WaitTimedOut,
            },
            r#"{"event":"rejected","id":"orders","limit":18,"in_flight":17,"reason":"wait_timed_out"}"#,
        ),
        (
            Event::LimitMade {
                id: "orders".into(),
                limit: 20,
            },
            r#"{"event":"limit_made","id":"orders","limit":20}"#,
        ),
        (
            Event::Reloaded { limits: 2 },
            r#"{"event":"reloaded","limits":2}"#,
        ),
        (
            Event::ReloadRefused {
                error: "no such file".into(),
            },
            r#"{"event":"reload_refused","error":"no such file"}"#,
        ),
    ];
    for (event, json) in events {
        // Fails to compile when an event is added that is not pinned above.
        let name = match event {
            Event::LimitChanged { .. } => "limit_changed",
            Event::WindowClosed { .. } => "window_closed",
            Event::Rejected { .. } => "rejected",
            Event::LimitMade { .. } => "limit_made",
            Event::Reloaded { .. } => "reloaded",
            Event::ReloadRefused { .. } => "reload_refused",
        };
        assert!(json.starts_with(&format!(r#"{{"event":"{name}""#)));
        assert_eq!(to_string(&event).unwrap(), json);
    }
}
