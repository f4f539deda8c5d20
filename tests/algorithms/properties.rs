//! The rules that hold for every algorithm, under any tuning and whatever the windows are.

use proptest::collection::vec;
use proptest::prelude::*;
use resilience::event::Reason;
use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Calls, Decision, Deviations, Drain, Gradient2,
    Gradient2Settings, GrowthBound, Jitter, Knee, KneeSettings, QueueSize, Vegas, VegasBaseline,
    VegasSettings,
};
use resilience::limit::window::{Sample, Window};

/// An algorithm and the bounds it was made with.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    bounds: Bounds,
    once_per_rtt: bool,
    growth_bound: GrowthBound,
    algorithm: Any,
}

/// Any of the algorithms, so that a rule is written once.
#[derive(Clone, Debug, PartialEq)]
enum Any {
    Aimd(Aimd),
    Gradient2(Gradient2),
    Vegas(Vegas),
    Knee(Box<Knee>),
}

impl Subject {
    fn limit(&self) -> f64 {
        match &self.algorithm {
            Any::Aimd(algorithm) => algorithm.limit(),
            Any::Gradient2(algorithm) => algorithm.limit(),
            Any::Vegas(algorithm) => algorithm.limit(),
            Any::Knee(algorithm) => algorithm.limit(),
        }
    }

    fn baseline(&self) -> Option<f64> {
        match &self.algorithm {
            Any::Aimd(algorithm) => algorithm.baseline(),
            Any::Gradient2(algorithm) => algorithm.baseline(),
            Any::Vegas(algorithm) => algorithm.baseline(),
            Any::Knee(algorithm) => algorithm.baseline(),
        }
    }

    fn update(&mut self, window: &Window) -> Decision {
        match &mut self.algorithm {
            Any::Aimd(algorithm) => algorithm.update(window),
            Any::Gradient2(algorithm) => algorithm.update(window),
            Any::Vegas(algorithm) => algorithm.update(window),
            Any::Knee(algorithm) => algorithm.update(window),
        }
    }
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let bound = || prop_oneof![3 => 1..30_u32, 1 => 1..1000_u32, 1 => 1..=Bounds::MAX];
    [bound(), bound(), bound()].prop_map(|mut bounds| {
        bounds.sort_unstable();
        let [min, initial, max] = bounds;
        Bounds::new(initial, min, max).expect("sorted and from 1")
    })
}

fn smoothing() -> impl Strategy<Value = f64> {
    prop_oneof![0.01..=1.0, Just(1.0), Just(f64::MIN_POSITIVE), 1e-17..1e-12]
}

fn backoff_ratio() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.5..0.999, 1 => Just(0.5), 1 => Just(1.0 - f64::EPSILON / 2.0)]
}

/// Mostly near each other, so that the order of two says something, and now and then absurd.
fn latency() -> impl Strategy<Value = u64> {
    prop_oneof![
        12 => 8_000_000..20_000_000_u64,
        3 => 9_999_990..10_000_010_u64,
        3 => 1_000_000..2_000_000_000_u64,
        2 => 1..1000_u64,
        1 => any::<u64>(),
        1 => Just(0_u64),
        1 => Just(u64::MAX),
    ]
}

/// Whether a limit changes once per round trip, and how far it may grow.
fn remedies() -> impl Strategy<Value = (bool, GrowthBound)> {
    let gain = || prop_oneof![Just(1.0), 1.0..3.0, 1.0..=100.0];
    let windows = prop_oneof![1..20_u32, 1..=1_000_000_u32];
    let growth_bound = prop_oneof![
        Just(GrowthBound::Off),
        gain().prop_map(|gain| GrowthBound::InFlight { gain }),
        (gain(), windows).prop_map(|(gain, windows)| GrowthBound::Bdp { gain, windows }),
    ];
    (any::<bool>(), growth_bound)
}

fn aimd(deviations: BoxedStrategy<Deviations>) -> BoxedStrategy<Subject> {
    (
        bounds(),
        backoff_ratio(),
        prop_oneof![Just(1), 1..=1_000_000_u32],
        proptest::option::of(latency()),
        remedies(),
        deviations,
    )
        .prop_map(
            |(bounds, backoff_ratio, increase_by, latency_threshold_ns, remedies, deviations)| {
                let mut settings = AimdSettings::default();
                settings.backoff_ratio = backoff_ratio;
                settings.increase_by = increase_by;
                settings.latency_threshold_ns = latency_threshold_ns;
                (settings.once_per_rtt, settings.growth_bound) = remedies;
                settings.deviations = deviations;
                Subject {
                    bounds,
                    once_per_rtt: settings.once_per_rtt,
                    growth_bound: settings.growth_bound,
                    algorithm: Any::Aimd(Aimd::new(bounds, settings)),
                }
            },
        )
        .boxed()
}

fn gradient2(deviations: BoxedStrategy<Deviations>) -> BoxedStrategy<Subject> {
    let size = || prop_oneof![Just(0_u32), Just(4), 0..=1_000_000_u32];
    let queue_size = prop_oneof![
        size().prop_map(QueueSize::Fixed),
        size().prop_map(|min| QueueSize::SquareRoot { min })
    ];
    let long_window = prop_oneof![Just(1_u32), 2..1000_u32, 1..=1_000_000_u32];
    let rtt_tolerance = prop_oneof![Just(1.0), 1.0..3.0, 1.0..=100.0];
    (
        bounds(),
        smoothing(),
        queue_size,
        long_window,
        rtt_tolerance,
        backoff_ratio(),
        remedies(),
        deviations,
    )
        .prop_map(
            |(
                bounds,
                smoothing,
                queue_size,
                long_window,
                rtt_tolerance,
                backoff_ratio,
                remedies,
                deviations,
            )| {
                let mut settings = Gradient2Settings::default();
                settings.smoothing = smoothing;
                settings.queue_size = queue_size;
                settings.long_window = long_window;
                settings.rtt_tolerance = rtt_tolerance;
                settings.backoff_ratio = backoff_ratio;
                (settings.once_per_rtt, settings.growth_bound) = remedies;
                settings.deviations = deviations;
                Subject {
                    bounds,
                    once_per_rtt: settings.once_per_rtt,
                    growth_bound: settings.growth_bound,
                    algorithm: Any::Gradient2(Gradient2::new(bounds, settings)),
                }
            },
        )
        .boxed()
}

fn calls() -> impl Strategy<Value = Calls> {
    prop_oneof![
        (0..4_u32).prop_map(Calls::Fixed),
        (0..20_u32).prop_map(Calls::Fixed),
        (0..=1_000_000_u32).prop_map(Calls::Fixed),
        (0..10_u32).prop_map(Calls::Log10),
    ]
}

fn vegas(deviations: BoxedStrategy<Deviations>) -> BoxedStrategy<Subject> {
    let baseline = prop_oneof![
        2 => Just(VegasBaseline::Minimum),
        1 => (0.0..=1.0, 1..20_u32).prop_map(|(quantile, windows)| VegasBaseline::Quantile { quantile, windows }),
    ];
    let jitter = prop_oneof![
        (0.5..1.0).prop_map(Jitter::Fixed),
        any::<u64>().prop_map(Jitter::Seeded)
    ];
    let probe_multiplier = prop_oneof![Just(1_u32), Just(30), 1..=u32::MAX];
    let band = [calls(), calls(), calls()];
    (
        bounds(),
        band,
        smoothing(),
        (probe_multiplier, jitter),
        baseline,
        backoff_ratio(),
        remedies(),
        deviations,
    )
        .prop_map(
            |(
                bounds,
                band,
                smoothing,
                (probe_multiplier, jitter),
                baseline,
                backoff_ratio,
                remedies,
                deviations,
            )| {
                let [alpha, beta, threshold] = band;
                let mut settings = VegasSettings::default();
                settings.alpha = alpha;
                settings.beta = beta;
                settings.threshold = threshold;
                settings.smoothing = smoothing;
                settings.probe_multiplier = probe_multiplier;
                settings.jitter = jitter;
                settings.baseline = baseline;
                settings.backoff_ratio = backoff_ratio;
                (settings.once_per_rtt, settings.growth_bound) = remedies;
                settings.deviations = deviations;
                Subject {
                    bounds,
                    once_per_rtt: settings.once_per_rtt,
                    growth_bound: settings.growth_bound,
                    algorithm: Any::Vegas(Vegas::new(bounds, settings)),
                }
            },
        )
        .boxed()
}

fn knee() -> BoxedStrategy<Subject> {
    let drain = prop_oneof![
        Just(Drain::Off),
        (10..=1_000_000_u32).prop_map(Drain::Every)
    ];
    (bounds(), 0.0..=10.0, drain, 0.0..1.0, 0.25..=4.0)
        .prop_map(|(bounds, headroom, drain, drop_share, sensitivity)| {
            let mut settings = KneeSettings::default();
            settings.headroom = headroom;
            settings.drain = drain;
            settings.drop_share = drop_share;
            settings.sensitivity = sensitivity;
            Subject {
                bounds,
                once_per_rtt: false,
                growth_bound: GrowthBound::Off,
                algorithm: Any::Knee(Box::new(Knee::new(bounds, settings))),
            }
        })
        .boxed()
}

fn all() -> BoxedStrategy<Deviations> {
    Just(Deviations::ALL).boxed()
}

fn switched(on: [bool; 8]) -> Deviations {
    let mut deviations = Deviations::NONE;
    deviations.skip_zero_latency = on[0];
    deviations.cut_on_drop = on[1];
    deviations.drops_teach_nothing = on[2];
    deviations.cut_once = on[3];
    deviations.whole_cuts = on[4];
    deviations.exact_averages = on[5];
    deviations.minimum_decides = on[6];
    deviations.no_queue_grows_most = on[7];
    deviations
}

// A compiler does not tell, since others may be added.
#[test]
fn every_deviation_is_switched() {
    assert_eq!(switched([true; 8]), Deviations::ALL);
}

fn some() -> BoxedStrategy<Deviations> {
    any::<[bool; 8]>().prop_map(switched).boxed()
}

/// Any algorithm from elsewhere with all deviations, as users have it.
fn repaired() -> BoxedStrategy<Subject> {
    prop_oneof![aimd(all()), gradient2(all()), vegas(all())].boxed()
}

/// Any algorithm as users have it.
fn in_use() -> BoxedStrategy<Subject> {
    prop_oneof![3 => repaired(), 1 => knee()].boxed()
}

/// Any algorithm with any of the deviations.
fn mixed() -> BoxedStrategy<Subject> {
    prop_oneof![aimd(some()), gradient2(some()), vegas(some()), knee()].boxed()
}

/// Calls in flight, as a share of the limit or outright.
#[derive(Clone, Copy, Debug)]
enum InFlight {
    Share(f64),
    Calls(u32),
}

impl InFlight {
    fn at(self, limit: f64) -> u32 {
        match self {
            Self::Share(share) => (limit * share).ceil() as u32,
            Self::Calls(calls) => calls,
        }
    }
}

fn in_flight() -> impl Strategy<Value = InFlight> {
    prop_oneof![
        6 => (0.3..=1.0).prop_map(InFlight::Share),
        1 => Just(InFlight::Calls(0)),
        1 => any::<u32>().prop_map(InFlight::Calls),
    ]
}

/// What a window is made of before the limit is known.
#[derive(Clone, Debug)]
struct Traffic {
    in_flight: InFlight,
    calls: Vec<(u64, bool)>,
}

impl Traffic {
    fn window(&self, limit: f64) -> Window {
        let in_flight = self.in_flight.at(limit);
        let samples = self.calls.iter().map(|&(latency, dropped)| {
            let mut sample = Sample::success(latency, in_flight);
            sample.dropped = dropped;
            sample
        });
        Window::of(limit as u32, samples)
    }
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let calls = vec(
        (latency(), prop_oneof![15 => Just(false), 1 => Just(true)]),
        0..8,
    );
    (in_flight(), calls).prop_map(|(in_flight, calls)| Traffic { in_flight, calls })
}

fn history() -> impl Strategy<Value = Vec<Traffic>> {
    vec(traffic(), 0..40)
}

/// Sums and counts that no calls add up to.
fn nonsense() -> impl Strategy<Value = Window> {
    let number = || prop_oneof![Just(0_u64), Just(u64::MAX), 0..1000_u64, any::<u64>()];
    (
        [number(), number(), number(), number(), number()],
        any::<u32>(),
        any::<u32>(),
    )
        .prop_map(
            |([successes, latency_sum, timed, drops, drop_latency_sum], max_in_flight, limit)| {
                let mut window = Window::of(limit, []);
                window.successes = successes;
                window.latency_sum = latency_sum;
                window.timed = timed;
                window.drops = drops;
                window.drop_latency_sum = drop_latency_sum;
                window.max_in_flight = max_in_flight;
                window.peak_in_flight = max_in_flight;
                window.log_latency_sum = latency_sum as f64;
                window.log_latency_sq_sum = successes as f64;
                window.fast_drops = timed;
                window.fast_drop_latency_sum = latency_sum;
                window.fast_drop_in_flight_sum = drops;
                window.in_flight_sum = latency_sum;
                window.in_flight_area = drop_latency_sum;
                window.ended_latency_sum = latency_sum;
                window.rejected = drops;
                window.opened = timed;
                window.closed = drop_latency_sum;
                window.restarts = limit;
                window
            },
        )
}

fn after(mut algorithm: Subject, history: &[Traffic]) -> Subject {
    for traffic in history {
        algorithm.update(&traffic.window(algorithm.limit()));
    }
    algorithm
}

proptest! {
    #![proptest_config({
        let default = ProptestConfig::default();
        ProptestConfig { cases: default.cases * 4, failure_persistence: None, ..default }
    })]

    #[test]
    fn the_limit_is_a_number_within_the_bounds(
        algorithm in mixed(),
        history in history(),
        nonsense in vec(nonsense(), 0..10),
    ) {
        let mut algorithm = algorithm;
        let bounds = algorithm.bounds;
        let range = f64::from(bounds.min())..=f64::from(bounds.max());
        let mut check = |window: &Window| {
            let decision = algorithm.update(window);
            prop_assert!(range.contains(&decision.limit), "{decision:?}");
            prop_assert!(decision.limit.is_finite() && decision.limit as u32 >= 1);
            prop_assert_eq!(decision.limit, algorithm.limit());
            prop_assert!(algorithm.baseline().is_none_or(|baseline| baseline.is_finite() && baseline >= 0.0));
            prop_assert!(!decision.reason.to_string().is_empty());
            Ok(algorithm.limit())
        };
        let mut limit = f64::from(bounds.initial());
        for traffic in &history {
            limit = check(&traffic.window(limit))?;
        }
        for window in &nonsense {
            check(window)?;
        }
    }

    #[test]
    fn the_same_windows_give_the_same_decisions(algorithm in mixed(), history in history()) {
        let (mut one, mut other) = (algorithm.clone(), algorithm);
        for traffic in &history {
            let window = traffic.window(one.limit());
            prop_assert_eq!(one.update(&window), other.update(&window));
        }
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_slower_or_dropped_window_never_gives_a_higher_limit(
        algorithm in repaired(),
        history in history(),
        in_flight in in_flight(),
        calls in vec((latency(), prop_oneof![Just(0_u64), 0..1000_u64, 0..20_000_000_u64, any::<u64>()], any::<bool>()), 1..8),
        drops in any::<bool>(),
    ) {
        let algorithm = after(algorithm, &history);
        let fast = calls.iter().map(|&(latency, _, _)| (latency.max(1), false)).collect();
        let slow = calls.iter().map(|&(latency, more, drop)| (latency.max(1).saturating_add(more), drop && drops)).collect();
        let [fast, slow] = [fast, slow].map(|calls| {
            let window = Traffic { in_flight, calls }.window(algorithm.limit());
            algorithm.clone().update(&window)
        });
        prop_assert!(slow.limit <= fast.limit, "slow {slow:?}, fast {fast:?}");
    }

    #[test]
    fn the_limit_grows_only_if_half_of_it_was_used(algorithm in in_use(), history in history(), traffic in traffic()) {
        let mut algorithm = after(algorithm, &history);
        let limit = algorithm.limit();
        let window = traffic.window(limit);
        if algorithm.update(&window).limit > limit {
            prop_assert!(u64::from(window.max_in_flight) * 2 >= limit as u64);
        }
    }

    #[test]
    fn the_limit_grows_no_further_than_its_bound(algorithm in mixed(), history in history(), traffic in traffic()) {
        let mut algorithm = after(algorithm, &history);
        let limit = algorithm.limit();
        let window = traffic.window(limit);
        // Without a queue the smallest latency is the window's own, and both bounds are the same.
        let bound = match algorithm.growth_bound {
            GrowthBound::InFlight { gain } | GrowthBound::Bdp { gain, .. } => gain * f64::from(window.max_in_flight) + 1.0,
            _ => f64::INFINITY,
        };
        let decision = algorithm.update(&window);
        prop_assert!(decision.limit <= limit.max(bound), "{limit} to {decision:?}");
        if let Reason::GrowthBound { bound } = decision.reason {
            prop_assert!(decision.limit <= limit.max(bound), "{limit} to {decision:?}");
        }
    }

    #[test]
    fn a_change_asks_for_new_calls_if_there_is_one_per_round_trip(
        algorithm in prop_oneof![aimd(some()), gradient2(some()), vegas(some())],
        history in history(),
        traffic in traffic(),
    ) {
        let mut algorithm = after(algorithm, &history);
        let limit = algorithm.limit();
        let decision = algorithm.update(&traffic.window(limit));
        if algorithm.once_per_rtt {
            prop_assert_eq!(decision.fresh, decision.limit as u32 != limit as u32);
        } else if decision.fresh {
            prop_assert!((decision.limit as u32) < limit as u32);
        }
    }

    #[test]
    fn drops_cut_the_whole_number_and_ask_for_new_calls(
        algorithm in repaired(),
        history in history(),
        mut traffic in traffic(),
        latency in latency(),
    ) {
        let mut algorithm = after(algorithm, &history);
        let limit = algorithm.limit();
        traffic.calls.push((latency, true));
        let decision = algorithm.update(&traffic.window(limit));
        let cut = (decision.limit as u32) < limit as u32;
        prop_assert!(cut || decision.limit == f64::from(algorithm.bounds.min()), "{limit} to {decision:?}");
        prop_assert_eq!(decision.fresh, cut);
    }

    #[test]
    fn drops_alone_cut_and_ask_for_new_calls(
        algorithm in knee(),
        history in history(),
        latencies in vec(latency(), 30..60),
    ) {
        // All calls fail, after whatever was before: no share of drops that is tolerated explains that.
        let mut algorithm = after(algorithm, &history);
        let limit = algorithm.limit();
        let calls = latencies.into_iter().map(|latency| (latency, true)).collect();
        let window = Traffic { in_flight: InFlight::Share(1.0), calls }.window(limit);
        let decision = algorithm.update(&window);
        prop_assert!(decision.limit <= limit, "{limit} to {decision:?}");
        prop_assert_eq!(decision.fresh, matches!(decision.reason, Reason::Drops { .. }));
    }

    #[test]
    fn drops_alone_never_move_a_baseline(algorithm in in_use(), history in history(), latencies in vec(latency(), 1..8)) {
        let mut algorithm = after(algorithm, &history);
        let baseline = algorithm.baseline();
        let calls = latencies.into_iter().map(|latency| (latency, true)).collect();
        algorithm.update(&Traffic { in_flight: InFlight::Share(1.0), calls }.window(algorithm.limit()));
        prop_assert_eq!(algorithm.baseline(), baseline);
    }

    #[test]
    fn a_latency_that_stays_the_same_never_lowers_the_limit(
        // A threshold of Aimd may be below any latency.
        algorithm in prop_oneof![gradient2(all()), vegas(all())],
        latency in prop_oneof![1..u64::from(u32::MAX), any::<u64>().prop_map(|latency| latency.max(1))],
        windows in 1..100_usize,
    ) {
        let mut algorithm = algorithm;
        let traffic = Traffic { in_flight: InFlight::Share(1.0), calls: vec![(latency, false)] };
        for _ in 0..windows {
            let limit = algorithm.limit();
            let decision = algorithm.update(&traffic.window(limit));
            prop_assert!(decision.limit >= limit, "{limit} to {decision:?}");
            prop_assert_eq!(algorithm.baseline(), Some(latency as f64));
        }
    }
}
