//! Where the reference is broken: what it does, and what ours does instead.

use resilience::event::Reason;
use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Calls, Decision, Deviations, Gradient2,
    Gradient2Settings, Jitter, QueueSize, Vegas, VegasSettings,
};
use resilience::limit::window::{Sample, Window};

const MS: u64 = 1_000_000;
const MAX: u32 = 200;

fn bounds(initial: u32) -> Bounds {
    Bounds::new(initial, 1, MAX).expect("in order")
}

fn reference() -> Gradient2 {
    Gradient2::new(bounds(20), Gradient2Settings::netflix())
}

fn ours() -> Gradient2 {
    Gradient2::new(bounds(20), Gradient2Settings::default())
}

/// The reference with some deviations.
fn gradient2_with(turn_on: fn(&mut Deviations)) -> Gradient2 {
    let mut settings = Gradient2Settings::netflix();
    turn_on(&mut settings.deviations);
    Gradient2::new(bounds(20), settings)
}

fn vegas_settings(deviations: Deviations) -> VegasSettings {
    let mut settings = VegasSettings::netflix();
    settings.jitter = Jitter::Fixed(0.75);
    settings.deviations = deviations;
    settings
}

fn gradient2_settings(deviations: Deviations) -> Gradient2Settings {
    let mut settings = Gradient2Settings::default();
    settings.deviations = deviations;
    settings
}

/// No deviation but this one.
fn exact_averages(on: bool) -> Deviations {
    let mut deviations = Deviations::NONE;
    deviations.exact_averages = on;
    deviations
}

fn vegas(deviations: Deviations) -> Vegas {
    Vegas::new(bounds(20), vegas_settings(deviations))
}

fn call(latency: u64, in_flight: u32) -> Sample {
    Sample::success(latency, in_flight)
}

fn drop(latency: u64, in_flight: u32) -> Sample {
    Sample::dropped(latency, in_flight)
}

fn one(limit: u32, sample: Sample) -> Window {
    Window::of(limit, [sample])
}

/// Folds windows that `dependency` makes of the limit, and returns the whole-number limit after each.
fn drive(
    algorithm: &mut impl Algorithm,
    windows: usize,
    dependency: impl Fn(u32) -> Window,
) -> Vec<u32> {
    let mut limit = 20;
    (0..windows)
        .map(|_| {
            limit = algorithm.update(&dependency(limit)).limit as u32;
            limit
        })
        .collect()
}

/// Serves 30 calls at a time in 40 ms each, the others queue; a call gives up after 120 ms. More is always offered.
fn capacity_30(limit: u32) -> Window {
    let latency = 40 * MS * u64::from(limit.max(30)) / 30;
    let sample = if latency > 120 * MS {
        drop(120 * MS, limit)
    } else {
        call(latency, limit)
    };
    Window::of(limit, [sample; 20])
}

/// Behind it is a bulkhead that takes 30 calls, for 40 ms each, and refuses the others within 1 us.
fn bulkhead_of_30(limit: u32) -> Window {
    let served = [call(40 * MS, limit.min(30)); 20];
    let refused = vec![drop(1_000, limit); if limit > 30 { 400 } else { 0 }];
    Window::of(limit, served.into_iter().chain(refused))
}

// Netflix/concurrency-limits issue 137.
#[test]
fn time_outs_are_not_learned_as_normal() {
    let time_outs = |limit| Window::of(limit, [drop(1000 * MS, limit); 20]);

    let limits = drive(&mut reference(), 300, time_outs);
    assert_eq!(
        limits.last(),
        Some(&MAX),
        "the reference climbs to its maximum and serves nothing"
    );

    let mut ours = ours();
    let limits = drive(&mut ours, 300, time_outs);
    assert!(limits.is_sorted_by(|a, b| a > b || *b == 1), "{limits:?}");
    assert_eq!(limits.last(), Some(&1));
    assert_eq!(ours.baseline(), None);
}

#[test]
fn teaching_nothing_alone_holds_where_cutting_alone_still_learns() {
    let time_outs = |limit| Window::of(limit, [drop(1000 * MS, limit); 20]);

    let mut unlearned = gradient2_with(|deviations| deviations.drops_teach_nothing = true);
    drive(&mut unlearned, 300, time_outs);
    assert_eq!(unlearned.baseline(), None);

    let mut cutting = gradient2_with(|deviations| deviations.cut_on_drop = true);
    drive(&mut cutting, 300, time_outs);
    assert_eq!(cutting.baseline(), Some(1e9));
    assert_eq!(cutting.limit(), 1.0);
}

// Netflix/concurrency-limits pull request 134.
#[test]
fn a_thousand_seconds_of_overload_end_where_calls_would_time_out() {
    let limits = drive(&mut reference(), 1000, capacity_30);
    assert_eq!(
        limits.last(),
        Some(&MAX),
        "the reference passes the point where every call times out"
    );

    let limits = drive(&mut ours(), 1000, capacity_30);
    // 91 in flight take more than 120 ms.
    assert_eq!(limits.iter().max(), Some(&91));
    let timed_out = limits[200..].iter().filter(|&&limit| limit > 90).count();
    assert!(timed_out * 10 < 800, "{timed_out} of 800 windows time out");
    assert!(
        limits[200..].iter().all(|&limit| limit >= 30),
        "it never serves less than it could"
    );
}

#[test]
fn a_bulkhead_that_fails_fast_does_not_look_healthy() {
    let limits = drive(&mut reference(), 300, bulkhead_of_30);
    assert_eq!(
        limits.last(),
        Some(&MAX),
        "the reference takes 1 us for a dependency at its best"
    );

    let limits = drive(&mut ours(), 300, bulkhead_of_30);
    assert!(
        limits.iter().all(|limit| (20..=31).contains(limit)),
        "{limits:?}"
    );

    let aimd = drive(
        &mut Aimd::new(bounds(20), AimdSettings::default()),
        300,
        bulkhead_of_30,
    );
    assert!(
        aimd.iter().all(|limit| (20..=31).contains(limit)),
        "{aimd:?}"
    );

    let vegas = drive(&mut vegas(Deviations::ALL), 300, bulkhead_of_30);
    assert!(
        vegas.iter().all(|limit| (20..=36).contains(limit)),
        "{vegas:?}"
    );
}

/// A hundred healthy windows of 100 ms, then a thousand that `incident` makes; returns the limits of these.
fn through(algorithm: &mut Gradient2, incident: fn(u64, u32) -> Sample) -> Vec<u32> {
    let healthy = drive(algorithm, 100, |limit| one(limit, call(100 * MS, limit)));
    let mut limit = healthy[99];
    (0..1000)
        .map(|_| {
            limit = algorithm
                .update(&one(limit, incident(1000 * MS, limit)))
                .limit as u32;
            limit
        })
        .collect()
}

// No switch changes this: gradient2 learns what it sees, and a latency ten times as high is normal after eight minutes.
#[test]
fn an_incident_without_drops_becomes_normal() {
    for mut algorithm in [reference(), ours()] {
        let limits = through(&mut algorithm, call);
        assert_eq!(limits.iter().min(), Some(&8));
        assert_eq!(limits.iter().position(|&limit| limit == MAX), Some(481));
    }
}

#[test]
fn an_incident_with_drops_never_raises_the_limit_and_teaches_nothing() {
    let limits = through(&mut reference(), drop);
    assert_eq!(limits.last(), Some(&MAX));

    let mut ours = ours();
    let limits = through(&mut ours, drop);
    assert!(limits.is_sorted_by(|a, b| a >= b), "{limits:?}");
    assert_eq!((limits[10], limits.last()), (31, Some(&1)));
    assert_eq!(ours.baseline(), Some(1e8));

    // The way back is as slow as the reference's: 0.8 calls a window.
    let limits = drive(&mut ours, 25, |limit| one(limit, call(100 * MS, limit)));
    assert_eq!(limits.last(), Some(&21));
}

#[test]
fn zero_latency_is_no_signal() {
    let zeros = |limit| one(limit, call(0, limit));
    let mut ours = ours();
    let decision = ours.update(&zeros(20));
    assert_eq!((decision.limit, decision.reason), (20.0, Reason::NoLatency));
    assert_eq!(ours.baseline(), None);

    // Learned as a latency, it makes the next one look slow.
    let mut reference = reference();
    reference.update(&zeros(20));
    assert_eq!(reference.baseline(), Some(0.0));
    assert!(
        reference.update(&one(20, call(10 * MS, 20))).limit
            < ours.update(&one(20, call(10 * MS, 20))).limit
    );

    let mut vegas = vegas(Deviations::NONE);
    assert_eq!(vegas.update(&zeros(20)).reason, Reason::NoLatency);
    assert_eq!(vegas.baseline(), None);
}

#[test]
fn zero_latency_beside_others_is_left_out_of_the_mean() {
    let window = Window::of(20, [call(0, 20), call(10 * MS, 20)]);
    let (mut ours, mut reference) = (ours(), reference());
    ours.update(&window);
    reference.update(&window);
    assert_eq!(
        (ours.baseline(), reference.baseline()),
        (Some(1e7), Some(5e6))
    );
}

#[test]
fn a_drop_on_vegas_first_window_is_not_lost() {
    let window = Window::of(20, [call(10 * MS, 20), drop(10 * MS, 20)]);
    assert_eq!(vegas(Deviations::NONE).update(&window).limit, 20.0);
    let decision = vegas(Deviations::ALL).update(&window);
    assert_eq!(
        (decision.limit, decision.reason),
        (
            18.0,
            Reason::Drops {
                drops: 1,
                samples: 2
            }
        )
    );
}

#[test]
fn a_drop_on_a_vegas_probe_is_not_lost() {
    let after = |deviations| {
        let mut settings = vegas_settings(deviations);
        settings.probe_multiplier = 1;
        let mut vegas = Vegas::new(bounds(20), settings);
        // Half of its slots unused, so that the limit stays: the probe is due at 0.75 × 1 × 20 windows.
        for _ in 0..14 {
            vegas.update(&one(20, call(10 * MS, 1)));
        }
        let decision = vegas.update(&Window::of(20, [call(12 * MS, 20), drop(12 * MS, 20)]));
        assert_eq!(
            (vegas.baseline(), vegas.probe_count()),
            (Some(12e6), 0),
            "it was a probe"
        );
        decision.limit
    };
    assert_eq!(after(Deviations::NONE), 20.0);
    assert_eq!(after(Deviations::ALL), 18.0);
}

#[test]
fn a_drop_on_a_new_minimum_of_vegas_is_not_lost() {
    let after = |deviations| {
        let mut vegas = vegas(deviations);
        vegas.update(&one(20, call(10 * MS, 20)));
        let decision = vegas.update(&Window::of(20, [call(9 * MS, 20), drop(9 * MS, 20)]));
        assert_eq!(vegas.baseline(), Some(9e6));
        decision.limit
    };
    assert_eq!(after(Deviations::NONE), 20.0);
    assert_eq!(after(Deviations::ALL), 18.0);
}

#[test]
fn a_fast_drop_is_no_new_minimum_of_vegas() {
    let after = |deviations| {
        let mut vegas = vegas(deviations);
        vegas.update(&one(20, call(10 * MS, 20)));
        vegas.update(&one(20, drop(1_000, 20)));
        vegas.baseline()
    };
    assert_eq!(
        after(Deviations::NONE),
        Some(1000.0),
        "every call looks slow from now on"
    );
    assert_eq!(after(Deviations::ALL), Some(1e7));
}

#[test]
fn a_new_minimum_of_vegas_decides_too() {
    let after = |deviations, latency| {
        let mut vegas = vegas(deviations);
        vegas.update(&one(20, call(10 * MS, 20)));
        vegas.update(&one(20, call(latency, 20))).limit
    };
    let [fastest, slower] = [9 * MS, 10 * MS].map(|latency| after(Deviations::NONE, latency));
    assert_eq!((fastest, slower), (20.0, 26.0));
    let [fastest, slower] = [9 * MS, 10 * MS].map(|latency| after(Deviations::ALL, latency));
    assert_eq!((fastest, slower), (26.0, 26.0));
}

#[test]
fn no_queue_lets_vegas_grow_no_less_than_a_small_one_does() {
    let after = |deviations, latency| {
        let mut settings = vegas_settings(deviations);
        settings.alpha = Calls::Fixed(5);
        settings.beta = Calls::Fixed(0);
        let mut vegas = Vegas::new(bounds(20), settings);
        vegas.update(&one(20, call(10 * MS, 20)));
        vegas.update(&one(20, call(latency, 20))).limit
    };
    // Three of the 20 calls queue at 11.5 ms.
    let [none, small] = [10 * MS, 11_500_000].map(|latency| after(Deviations::NONE, latency));
    assert_eq!((none, small), (20.0, 21.0));
    let [none, small] = [10 * MS, 11_500_000].map(|latency| after(Deviations::ALL, latency));
    assert_eq!((none, small), (21.0, 21.0));
}

/// Each algorithm at a limit, folding one window that consists of a drop.
fn cuts_from(initial: u32, bounds: Bounds, deviations: Deviations) -> [Decision; 3] {
    assert_eq!(bounds.initial(), initial);
    let window = one(initial, drop(10 * MS, initial));
    let mut settings = AimdSettings::default();
    settings.deviations = deviations;
    let aimd = Aimd::new(bounds, settings).update(&window);
    let gradient2 = Gradient2::new(bounds, gradient2_settings(deviations)).update(&window);
    let vegas = Vegas::new(bounds, vegas_settings(deviations)).update(&window);
    [aimd, gradient2, vegas]
}

#[test]
fn two_calls_are_cut_to_one() {
    for decision in cuts_from(2, bounds(2), Deviations::ALL) {
        assert_eq!(decision.limit as u32, 1, "{decision:?}");
        assert!(decision.fresh);
    }
}

#[test]
fn a_cut_lowers_the_whole_number() {
    let limits = |whole_cuts| {
        let mut settings = Gradient2Settings::default();
        settings.backoff_ratio = 0.99;
        settings.deviations.whole_cuts = whole_cuts;
        let mut gradient2 = Gradient2::new(bounds(20), settings);
        gradient2.update(&one(20, call(10 * MS, 20))); // 20.8
        [(); 3].map(|()| gradient2.update(&one(20, drop(10 * MS, 1))).limit as u32)
    };
    assert_eq!(limits(false), [20, 20, 20]);
    assert_eq!(limits(true), [19, 18, 17]);
}

#[test]
fn a_cut_stops_at_the_minimum() {
    for (initial, min) in [(1, 1), (20, 20), (21, 20)] {
        let bounds = Bounds::new(initial, min, MAX).expect("in order");
        for decision in cuts_from(initial, bounds, Deviations::ALL) {
            assert_eq!(decision.limit, f64::from(min), "{decision:?}");
            // Nothing was cut, so the calls in flight still count.
            assert_eq!(decision.fresh, initial > min, "{decision:?}");
            assert!(matches!(decision.reason, Reason::Drops { .. }));
        }
    }
}

#[test]
fn a_cut_asks_for_calls_admitted_after_it() {
    let slow = |algorithm: &mut dyn Algorithm| {
        for _ in 0..10 {
            algorithm.update(&one(20, call(10 * MS, 1)));
        }
        algorithm.update(&one(20, call(1000 * MS, 20)))
    };
    assert!(slow(&mut ours()).fresh, "slow calls cut too");
    assert!(slow(&mut vegas(Deviations::ALL)).fresh);
    assert!(!slow(&mut reference()).fresh);
    assert!(!slow(&mut vegas(Deviations::NONE)).fresh);

    assert!(
        cuts_from(20, bounds(20), Deviations::ALL)
            .iter()
            .all(|decision| decision.fresh)
    );
    let mut together = Deviations::ALL;
    together.cut_once = false;
    assert!(
        cuts_from(20, bounds(20), together)
            .iter()
            .all(|decision| !decision.fresh)
    );
    assert!(
        !ours().update(&one(20, call(10 * MS, 20))).fresh,
        "growth does not"
    );
}

#[test]
fn a_cut_needs_no_slots_in_use() {
    for decision in cuts_from(20, bounds(20), Deviations::ALL) {
        assert_eq!(decision.limit, 18.0, "{decision:?}");
    }
    let decision = ours().update(&one(20, drop(10 * MS, 1)));
    assert_eq!(decision.limit, 18.0);
}

#[test]
fn slow_and_dropped_is_no_better_than_slow() {
    let after = |sample: fn(u64, u32) -> Sample| {
        let mut settings = Gradient2Settings::default();
        settings.smoothing = 1.0;
        let mut gradient2 = Gradient2::new(bounds(100), settings);
        gradient2.update(&one(100, call(10 * MS, 1)));
        gradient2.update(&one(100, sample(1000 * MS, 100))).limit
    };
    assert!(after(call) < 90.0, "a cut alone would be to 90");
    assert_eq!(after(drop), after(call));
}

#[test]
fn a_limit_that_should_stay_does_not_lose_its_last_bit() {
    let lowest = |exact| {
        (1..100)
            .map(|percent| {
                let mut settings = gradient2_settings(exact_averages(exact));
                settings.smoothing = f64::from(percent) / 100.0;
                settings.queue_size = QueueSize::Fixed(0);
                let mut gradient2 = Gradient2::new(bounds(20), settings);
                gradient2.update(&one(20, call(10 * MS, 20))).limit as u32
            })
            .min()
    };
    assert_eq!(lowest(false), Some(19));
    assert_eq!(lowest(true), Some(20));
}

#[test]
fn a_long_term_mean_of_equal_latencies_is_that_latency() {
    let drifts = |exact| {
        (1..1000).filter(move |latency| {
            let settings = gradient2_settings(exact_averages(exact));
            let mut gradient2 = Gradient2::new(bounds(20), settings);
            drive(&mut gradient2, 100, |limit| one(limit, call(*latency, 1)));
            gradient2.baseline() != Some(*latency as f64)
        })
    };
    assert!(drifts(false).count() > 0);
    assert_eq!(drifts(true).count(), 0);
}
