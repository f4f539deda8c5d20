//! What the algorithms can be told beside the reference's tuning.

use resilience::event::Reason;
use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Gradient2, Gradient2Settings, GrowthBound, Jitter,
    QueueSize, Vegas, VegasBaseline, VegasSettings,
};
use resilience::limit::window::{Sample, Window};

const MS: u64 = 1_000_000;

fn bounds(initial: u32) -> Bounds {
    Bounds::new(initial, 1, 1000).expect("in order")
}

fn call(latency: u64, in_flight: u32) -> Sample {
    Sample::success(latency, in_flight)
}

fn one(limit: u32, sample: Sample) -> Window {
    Window::of(limit, [sample])
}

#[test]
fn aimd_cuts_on_slow_windows_only_with_a_threshold() {
    let slow = one(20, call(6_000 * MS, 20));
    let mut aimd = Aimd::new(bounds(20), AimdSettings::default());
    assert_eq!(aimd.update(&slow).reason, Reason::Increase { by: 1.0 });

    let mut aimd = Aimd::new(bounds(20), AimdSettings::netflix());
    let decision = aimd.update(&slow);
    assert_eq!(
        (decision.limit, decision.reason),
        (
            18.0,
            Reason::TooSlow {
                latency: 6e9,
                threshold: 5e9
            }
        )
    );
}

#[test]
fn aimd_adds_as_many_calls_as_it_is_told() {
    let mut settings = AimdSettings::default();
    settings.increase_by = 7;
    let mut aimd = Aimd::new(bounds(20), settings);
    assert_eq!(aimd.update(&one(20, call(MS, 10))).limit, 27.0);
    assert_eq!(
        aimd.update(&one(27, call(MS, 13))).reason,
        Reason::AppLimited { max_in_flight: 13 }
    );
}

#[test]
fn a_queue_of_the_square_root_grows_large_limits_faster() {
    let grown = |queue_size| {
        let mut settings = Gradient2Settings::default();
        settings.queue_size = queue_size;
        settings.smoothing = 1.0;
        let mut gradient2 = Gradient2::new(bounds(400), settings);
        gradient2.update(&one(400, call(10 * MS, 400))).limit
    };
    assert_eq!(grown(QueueSize::Fixed(4)), 404.0);
    assert_eq!(grown(QueueSize::SquareRoot { min: 4 }), 420.0);
}

/// Serves 30 calls at a time in a base latency, the others queue.
fn capacity_30(base: u64, limit: u32) -> Window {
    one(limit, call(base * u64::from(limit.max(30)) / 30, limit))
}

// With the all-time minimum, a dependency that got slower for good looks overloaded at every limit.
#[test]
fn a_quantile_follows_a_dependency_that_got_slower_for_good() {
    let after = |baseline| {
        let mut settings = VegasSettings::default();
        settings.baseline = baseline;
        settings.probe_multiplier = u32::MAX;
        let mut vegas = Vegas::new(bounds(20), settings);
        let mut limit = 20;
        for window in 0..1000 {
            let base = if window < 100 { 40 * MS } else { 80 * MS };
            limit = vegas.update(&capacity_30(base, limit)).limit as u32;
        }
        (limit, vegas.baseline())
    };
    let (limit, baseline) = after(VegasBaseline::Minimum);
    assert_eq!(baseline, Some(40e6));
    assert!(limit < 15, "{limit}");

    let (limit, baseline) = after(VegasBaseline::Quantile {
        quantile: 0.1,
        windows: 100,
    });
    assert!(baseline >= Some(80e6), "{baseline:?}");
    assert!(limit >= 30, "{limit}");
}

/// The classic three with these remedies.
fn with(once_per_rtt: bool, growth_bound: GrowthBound) -> [Box<dyn Algorithm>; 3] {
    let mut gradient2 = Gradient2Settings::default();
    gradient2.once_per_rtt = once_per_rtt;
    gradient2.growth_bound = growth_bound;
    let mut aimd = AimdSettings::default();
    aimd.once_per_rtt = once_per_rtt;
    aimd.growth_bound = growth_bound;
    let mut vegas = VegasSettings::default();
    vegas.jitter = Jitter::Fixed(0.75);
    vegas.once_per_rtt = once_per_rtt;
    vegas.growth_bound = growth_bound;
    [
        Box::new(Gradient2::new(bounds(20), gradient2)),
        Box::new(Aimd::new(bounds(20), aimd)),
        Box::new(Vegas::new(bounds(20), vegas)),
    ]
}

#[test]
fn a_change_asks_for_calls_admitted_after_it_if_there_is_one_per_round_trip() {
    let asked = |once_per_rtt| {
        with(once_per_rtt, GrowthBound::Off).map(|mut algorithm| {
            // Two windows: Vegas learns from the first, and Gradient2 adds less than a call at a time.
            algorithm.update(&one(20, call(10 * MS, 20)));
            let before = algorithm.update(&one(20, call(10 * MS, 20)));
            let unused = algorithm.update(&one(20, call(10 * MS, 1)));
            assert_eq!((unused.limit, unused.fresh), (before.limit, false));
            (before.limit > 21.0, before.fresh)
        })
    };
    assert_eq!(asked(false), [(true, false); 3]);
    assert_eq!(asked(true), [(true, true); 3]);
}

#[test]
fn a_bound_on_growth_holds_limits_where_calls_in_flight_account_for_them() {
    let settled = |growth_bound, dependency: fn(u32) -> Window| {
        with(false, growth_bound).map(|mut algorithm| {
            let mut limit = 20;
            for _ in 0..2000 {
                limit = algorithm.update(&dependency(limit)).limit as u32;
            }
            limit
        })
    };
    let overload = |limit| capacity_30(40 * MS, limit);
    let [gradient2, aimd, _] = settled(GrowthBound::Off, overload);
    assert!(gradient2 > 400 && aimd == 1000, "{gradient2}, {aimd}");
    let bdp = |windows| GrowthBound::Bdp { gain: 2.0, windows };
    let [gradient2, aimd, vegas] = settled(bdp(10_000), overload);
    assert_eq!((gradient2, aimd), (61, 61));
    assert!(vegas < 61, "{vegas}");
    // What a queue stood in for longer than is remembered contains the queue.
    let [_, aimd, _] = settled(bdp(100), overload);
    assert!(aimd > 100, "{aimd}");

    // Fourteen calls at a time are half of 28, and one and a half times as many are 21.
    let fourteen = |limit| one(limit, call(40 * MS, 14));
    assert!(
        settled(GrowthBound::Off, fourteen)
            .iter()
            .all(|&limit| limit > 26)
    );
    let bound = GrowthBound::InFlight { gain: 1.5 };
    assert_eq!(settled(bound, fourteen), [22; 3]);
}

#[test]
fn a_limit_of_one_grows_under_any_bound() {
    for growth_bound in [
        GrowthBound::InFlight { gain: 1.0 },
        GrowthBound::Bdp {
            gain: 1.0,
            windows: 10,
        },
    ] {
        for mut algorithm in with(true, growth_bound) {
            for _ in 0..30 {
                algorithm.update(&one(20, Sample::dropped(10 * MS, 20)));
            }
            let mut limit = 1;
            for _ in 0..30 {
                limit = algorithm.update(&one(limit, call(10 * MS, limit))).limit as u32;
            }
            assert!(limit > 1, "{algorithm:?}");
        }
    }
}

#[test]
fn growth_that_is_held_says_so() {
    let bound = GrowthBound::InFlight { gain: 1.0 };
    for mut algorithm in with(false, bound) {
        algorithm.update(&one(20, call(10 * MS, 20)));
        let decision = algorithm.update(&one(20, call(10 * MS, 15)));
        assert_eq!(decision.reason, Reason::GrowthBound { bound: 16.0 });
        assert_eq!(
            decision.reason.to_string(),
            "no growth above 16.0 calls, for those in flight"
        );
    }
}

#[test]
fn a_changed_tuning_keeps_what_is_learned() {
    let mut gradient2 = Gradient2::new(bounds(20), Gradient2Settings::default());
    gradient2.update(&one(20, call(10 * MS, 20)));
    let mut settings = Gradient2Settings::default();
    settings.rtt_tolerance = 3.0;
    gradient2.retune(bounds(1), settings);
    assert_eq!((gradient2.limit(), gradient2.baseline()), (20.8, Some(1e7)));

    let mut vegas = Vegas::new(bounds(20), VegasSettings::default());
    vegas.update(&one(20, call(10 * MS, 20)));
    let mut settings = VegasSettings::default();
    settings.smoothing = 0.5;
    vegas.retune(bounds(1), settings);
    assert_eq!((vegas.limit(), vegas.baseline()), (20.0, Some(1e7)));
    // What a minimum was learned for is no quantile.
    settings.baseline = VegasBaseline::Quantile {
        quantile: 0.5,
        windows: 10,
    };
    vegas.retune(bounds(1), settings);
    assert_eq!((vegas.limit(), vegas.baseline()), (20.0, None));
}
