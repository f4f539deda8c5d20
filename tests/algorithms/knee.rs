//! What `knee` does, one behaviour after the other, in front of a dependency that serves so many calls at once.

use resilience::event::Reason;
use resilience::limit::algorithm::{Algorithm, Bounds, Close, Decision, Drain, Knee, KneeSettings};
use resilience::limit::window::{Window, WindowRule};

const MS: u64 = 1_000_000;

/// A dependency that serves `servers` calls at once in `base` nanoseconds each, and queues the others.
#[derive(Clone, Copy)]
struct Dependency {
    servers: u32,
    base: u64,
    /// Calls that would take longer are given up after this.
    time_out: u64,
    /// More calls than this are refused at once.
    takes: u32,
    /// Of so many calls one is a drop that took as long as any.
    one_fails_of: u64,
}

impl Dependency {
    fn new(servers: u32) -> Self {
        Self {
            servers,
            base: 20 * MS,
            time_out: u64::MAX,
            takes: u32::MAX,
            one_fails_of: u64::MAX,
        }
    }

    fn latency(&self, in_flight: u32) -> u64 {
        (self.base * u64::from(in_flight.max(self.servers)) / u64::from(self.servers))
            .min(self.time_out)
    }
}

/// A limit that is asked at the end of each window, on a clock of its own.
struct Run {
    knee: Knee,
    limit: u32,
    now: u64,
    /// The calls on offer at any time.
    demand: u32,
    decisions: Vec<Decision>,
}

fn bounds() -> Bounds {
    Bounds::new(20, 1, 1000).expect("in order")
}

impl Run {
    fn new() -> Self {
        Self::with(KneeSettings::default())
    }

    fn with(settings: KneeSettings) -> Self {
        Self {
            knee: Knee::new(bounds(), settings),
            limit: 20,
            now: 1000 * MS,
            demand: u32::MAX,
            decisions: Vec::new(),
        }
    }

    /// A window of three rounds of calls in a steady state, with latencies that differ a little.
    fn window(&self, dependency: &Dependency) -> Window {
        let served = self.limit.min(self.demand).min(dependency.takes);
        self.window_of((3 * u64::from(served)).max(16), dependency)
    }

    fn window_of(&self, calls: u64, dependency: &Dependency) -> Window {
        let in_flight = self.limit.min(self.demand);
        let served = in_flight.min(dependency.takes);
        let latency = dependency.latency(served);
        let lasts = calls * latency / u64::from(served);
        let mut window = Window::of(self.limit, []);
        window.opened = self.now;
        window.closed = self.now + lasts;
        window.restarts = 2;
        window.in_flight = in_flight.saturating_sub(1);
        window.max_in_flight = in_flight;
        window.peak_in_flight = in_flight;
        let refused = calls * u64::from(in_flight - served);
        let failed = calls / dependency.one_fails_of;
        let given_up = if latency == dependency.time_out {
            calls
        } else {
            0
        };
        window.drops = refused + failed.max(given_up);
        window.fast_drops = refused;
        window.fast_drop_latency_sum = refused;
        window.fast_drop_in_flight_sum = refused * u64::from(in_flight);
        window.drop_latency_sum = refused + failed.max(given_up) * latency;
        window.successes = calls - failed.max(given_up);
        window.timed = window.successes;
        window.latency_sum = window.successes * latency;
        // Half of them a tenth above, half a tenth below.
        let log = (latency as f64).ln();
        window.log_latency_sum = window.successes as f64 * log;
        window.log_latency_sq_sum = window.successes as f64 * (log * log + 0.01);
        window.in_flight_sum = (calls + refused) * u64::from(in_flight);
        window.ended_latency_sum = calls * latency + refused;
        window.in_flight_area = lasts * u64::from(served);
        window.admitted = calls;
        window.rejected = if self.demand > self.limit { calls } else { 0 };
        window
    }

    fn step(&mut self, dependency: &Dependency) -> &Decision {
        let window = self.window(dependency);
        let decision = self.knee.update(&window);
        self.limit = decision.limit as u32;
        self.now = window.closed;
        self.decisions.push(decision);
        self.decisions.last().expect("one was pushed")
    }

    fn steps(&mut self, count: usize, dependency: &Dependency) -> &[Decision] {
        let first = self.decisions.len();
        for _ in 0..count {
            self.step(dependency);
        }
        &self.decisions[first..]
    }

    /// Goes on until a whole window has been seen that is no drain.
    fn undrained(&mut self, dependency: &Dependency) {
        while matches!(self.step(dependency).reason, Reason::Drain { .. }) {}
    }

    /// The limits of the last windows, but for drains.
    fn settled(&self, count: usize) -> (u32, u32) {
        let last = self.decisions.iter().rev().take(count);
        let limits: Vec<u32> = last
            .filter(|decision| !matches!(decision.reason, Reason::Drain { .. }))
            .map(|decision| decision.limit as u32)
            .collect();
        (
            *limits.iter().min().expect("not all were drains"),
            *limits.iter().max().expect("not all were drains"),
        )
    }
}

fn reasons(decisions: &[Decision]) -> Vec<&Reason> {
    decisions.iter().map(|decision| &decision.reason).collect()
}

#[test]
fn finds_the_knee_and_stays() {
    for servers in [1, 3, 10, 40, 200, 700] {
        let mut run = Run::new();
        run.steps(200, &Dependency::new(servers));
        let (low, high) = run.settled(100);
        let headroom = f64::from(servers).sqrt().max(2.0);
        assert!(
            f64::from(low) >= 0.85 * f64::from(servers)
                && f64::from(high) <= f64::from(servers) * 1.2 + headroom,
            "{servers}: {low} to {high}"
        );
        let base = run.knee.baseline().expect("known");
        assert!((base / 20e6 - 1.0).abs() < 0.1, "{servers}: {base}");
    }
}

#[test]
fn grows_by_up_to_two_and_a_half_while_nothing_contradicts() {
    let mut run = Run::new();
    let steps = run.steps(8, &Dependency::new(800));
    let limits: Vec<f64> = steps.iter().map(|decision| decision.limit).collect();
    // The first window has nothing to compare with.
    assert!(
        matches!(steps[0].reason, Reason::NoBaseline { .. }),
        "{limits:?}"
    );
    assert!(
        limits
            .windows(2)
            .all(|pair| pair[1] <= (pair[0] * 2.5).ceil()),
        "{limits:?}"
    );
    assert!(limits[6] > 20.0 * limits[0], "{limits:?}");
}

#[test]
fn follows_capacity_down_and_up() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    let steps = run.steps(6, &Dependency::new(10)).to_vec();
    assert!(
        reasons(&steps)
            .iter()
            .any(|reason| matches!(reason, Reason::Slower { .. })),
        "{steps:?}"
    );
    run.steps(14, &Dependency::new(10));
    let (_, high) = run.settled(5);
    assert!(high <= 14, "{high}");
    run.steps(60, &Dependency::new(40));
    let (low, _) = run.settled(5);
    assert!(low >= 34, "{low}");
}

#[test]
fn a_dependency_that_is_slower_for_good_keeps_its_calls() {
    let mut run = Run::new();
    let mut dependency = Dependency::new(40);
    run.steps(50, &dependency);
    dependency.base *= 3;
    let steps = run.steps(60, &dependency);
    assert!(
        reasons(steps)
            .iter()
            .any(|reason| matches!(reason, Reason::SlowerDependency { .. })),
        "{steps:?}"
    );
    let (low, high) = run.settled(20);
    assert!(low >= 34 && high <= 48, "{low} to {high}");
    assert!((run.knee.baseline().expect("known") / 60e6 - 1.0).abs() < 0.1);
}

#[test]
fn time_outs_halve_the_limit_and_teach_nothing() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    let (limit, baseline) = (run.limit, run.knee.baseline());
    let mut stuck = Dependency::new(40);
    stuck.base = 400 * MS;
    stuck.time_out = 400 * MS;
    let decision = run.step(&stuck).clone();
    assert!(
        matches!(decision.reason, Reason::Drops { .. }),
        "{decision:?}"
    );
    assert_eq!(decision.limit, (f64::from(limit) * 0.5).round());
    assert!(decision.fresh, "the calls in flight must not cut again");
    assert_eq!(run.knee.baseline(), baseline);
    run.steps(12, &stuck);
    assert_eq!(run.limit, 1);
    assert_eq!(run.knee.baseline(), baseline);
}

#[test]
fn refusals_set_a_ceiling() {
    let mut run = Run::new();
    let mut bulkhead = Dependency::new(100);
    bulkhead.takes = 30;
    run.steps(60, &bulkhead);
    let (low, high) = run.settled(40);
    assert!(low >= 24 && high <= 36, "{low} to {high}");
}

/// Whether an open window with so many calls in it would close, with windows that last at least so long.
fn closes(run: &Run, calls: u64, dependency: &Dependency, least: u64) -> bool {
    let window = run.window_of(calls, dependency);
    let rule = WindowRule::new(least, 16);
    run.knee.close(&window, &rule) == Close::Now
}

#[test]
fn a_window_that_is_much_slower_than_predicted_is_not_waited_for() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    run.undrained(&Dependency::new(40));
    assert!(!closes(&run, 16, &Dependency::new(40), MS));
    assert!(!closes(&run, 15, &Dependency::new(10), MS));
    assert!(closes(&run, 16, &Dependency::new(10), MS));
    assert!(!closes(&run, 16, &Dependency::new(10), 1000 * MS));
    // The next one has to say whether it is a queue: that takes a whole window.
    let limit = run.limit;
    let decision = run.knee.update(&run.window_of(16, &Dependency::new(10)));
    assert!(
        matches!(decision.reason, Reason::Slower { .. }),
        "{decision:?}"
    );
    assert!(decision.limit <= 0.75 * f64::from(limit), "{decision:?}");
    run.limit = decision.limit as u32;
    assert!(!closes(&run, 16, &Dependency::new(10), MS));
}

#[test]
fn refusals_are_answered_before_the_window_is_over() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    run.undrained(&Dependency::new(40));
    let mut bulkhead = Dependency::new(40);
    bulkhead.takes = 20;
    // With each call as many refusals as there are slots in excess: more than 8.
    assert!(closes(&run, 2, &bulkhead, MS));
    assert!(!closes(&run, 2, &bulkhead, 1000 * MS));
    assert!(!closes(&run, 2, &Dependency::new(40), MS));
}

/// How many of so many windows had too many drops.
fn met(run: &mut Run, windows: usize, dependency: &Dependency) -> usize {
    let decisions = run.steps(windows, dependency);
    reasons(decisions)
        .iter()
        .filter(|reason| matches!(reason, Reason::Drops { .. }))
        .count()
}

#[test]
fn a_ceiling_is_tried_ever_more_seldom_and_left_behind_when_it_is_gone() {
    let mut run = Run::new();
    let mut bulkhead = Dependency::new(100);
    bulkhead.takes = 30;
    let early = met(&mut run, 100, &bulkhead);
    run.steps(200, &bulkhead);
    let late = met(&mut run, 100, &bulkhead);
    assert!(late >= 1 && 2 * late <= early, "{early}, then {late}");
    let (low, high) = run.settled(100);
    assert!(low >= 28 && high <= 33, "{low} to {high}");
    bulkhead.takes = 100;
    run.steps(60, &bulkhead);
    assert!(run.limit >= 80, "{}", run.limit);
}

#[test]
fn drops_that_come_anyway_are_put_up_with() {
    for share in [20, 5, 3] {
        let mut run = Run::new();
        let mut failing = Dependency::new(40);
        failing.one_fails_of = share;
        run.steps(80, &failing);
        let (low, high) = run.settled(30);
        assert!(low >= 30 && high <= 52, "one of {share}: {low} to {high}");
    }
}

#[test]
fn never_grows_where_the_limit_is_not_reached() {
    let mut run = Run::new();
    run.demand = 12;
    let mut limit = run.limit;
    for _ in 0..50 {
        run.step(&Dependency::new(40));
        assert!(run.limit <= limit, "{limit} to {}", run.limit);
        limit = run.limit;
    }
    assert_eq!(limit, 20);
}

#[test]
fn lets_down_a_limit_that_nobody_needs() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(400));
    run.demand = 5;
    run.steps(1000, &Dependency::new(400));
    assert!(run.limit <= 22, "{}", run.limit);
}

#[test]
fn one_call_at_a_time_is_a_baseline() {
    let mut run = Run::new();
    run.steps(60, &Dependency::new(1));
    let (low, high) = run.settled(30);
    assert!(low >= 1 && high <= 3, "{low} to {high}");
}

#[test]
fn drains_at_multiples_of_a_power_of_two_on_the_clock() {
    let mut run = Run::new();
    let dependency = Dependency::new(40);
    run.steps(30, &dependency);
    // 100 times 20 ms, rounded up.
    let period = 1_u64 << 31;
    let mut drains = Vec::new();
    for _ in 0..300 {
        let mut window = run.window(&dependency);
        let due = run.now.next_multiple_of(period);
        if run.now < due && due <= window.closed {
            // The limit is asked as soon as the drain is due.
            window.closed = due;
            let rule = WindowRule::default();
            if run.knee.close(&window, &rule) == Close::Now {
                let decision = run.knee.update(&window);
                assert!(
                    matches!(decision.reason, Reason::Drain { .. }),
                    "{decision:?}"
                );
                assert!(decision.limit < f64::from(run.limit));
                run.limit = decision.limit as u32;
                drains.push(due);
            }
            run.now = due;
        } else {
            run.step(&dependency);
        }
    }
    assert!(drains.len() >= 5, "{drains:?}");
    assert!(
        drains
            .windows(2)
            .all(|pair| (pair[1] - pair[0]).is_multiple_of(period))
    );
}

#[test]
fn without_drains_it_never_drains() {
    let mut settings = KneeSettings::default();
    settings.drain = Drain::Off;
    let mut run = Run::with(settings);
    let steps = run.steps(500, &Dependency::new(40));
    assert!(
        !reasons(steps)
            .iter()
            .any(|reason| matches!(reason, Reason::Drain { .. }))
    );
}

#[test]
fn a_decision_names_the_numbers_it_was_made_from() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    let knee = run
        .decisions
        .iter()
        .rev()
        .find_map(|decision| match decision.reason {
            Reason::Knee {
                knee,
                low,
                high,
                base,
                ..
            } => Some((knee, low, high, base)),
            _ => None,
        });
    let (knee, low, high, base) = knee.expect("most decisions follow the knee");
    assert!(low <= knee && knee <= high);
    assert!(
        (knee - 40.0).abs() < 5.0 && (base - 20e6).abs() < 2e6,
        "{knee} {base}"
    );
}

#[test]
fn a_slower_window_never_gives_the_higher_limit_in_a_steady_state() {
    let mut run = Run::new();
    let dependency = Dependency::new(40);
    run.steps(60, &dependency);
    let mut last = f64::INFINITY;
    for tenths in 10..60 {
        let mut slower = dependency;
        slower.base = dependency.base * tenths / 10;
        let mut window = run.window(&slower);
        window.closed = run.now + 1;
        let limit = run.knee.clone().update(&window).limit;
        assert!(limit <= last, "{tenths}: {last} to {limit}");
        last = limit;
    }
}

#[test]
fn the_same_windows_give_the_same_decisions() {
    let history = |run: &mut Run| {
        let mut decisions = Vec::new();
        for servers in [40, 10, 25] {
            decisions.extend_from_slice(run.steps(40, &Dependency::new(servers)));
        }
        decisions
    };
    let (mut one, mut other) = (Run::new(), Run::new());
    assert_eq!(history(&mut one), history(&mut other));
    assert_eq!(one.knee, other.knee);
}

#[test]
fn other_settings_keep_what_is_known() {
    let mut run = Run::new();
    run.steps(60, &Dependency::new(40));
    let baseline = run.knee.baseline();
    let mut settings = KneeSettings::default();
    settings.headroom = 4.0;
    run.knee
        .retune(Bounds::new(20, 1, 30).expect("in order"), settings);
    assert_eq!((run.knee.limit(), run.knee.baseline()), (30.0, baseline));
    assert!(run.knee.set_bounds(bounds()));
    assert_eq!(run.knee.baseline(), baseline);
    run.limit = 30;
    run.steps(10, &Dependency::new(40));
    let (low, _) = run.settled(5);
    assert!(low >= 60, "{low}: four square roots above the knee");
}

#[test]
fn waits_until_a_change_has_settled() {
    let mut run = Run::new();
    run.steps(3, &Dependency::new(40));
    let rule = run.knee.window_rule();
    let mut window = run.window(&Dependency::new(40));
    window.restarts = 0;
    assert!(
        matches!(run.knee.close(&window, &rule), Close::Restart { .. }),
        "filled"
    );
    window.restarts = 1;
    window.successes = 1;
    assert!(
        matches!(run.knee.close(&window, &rule), Close::Extend { .. }),
        "they have to end"
    );
    let settled = run.window(&Dependency::new(40));
    assert_eq!(run.knee.close(&settled, &rule), Close::Now);
}

#[test]
fn a_window_lasts_and_holds_at_least_what_is_set() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    run.undrained(&Dependency::new(40));
    let window = run.window(&Dependency::new(40));
    let later = WindowRule::new(window.duration() + 1, 1);
    assert!(matches!(
        run.knee.close(&window, &later),
        Close::Extend { .. }
    ));
    let more = WindowRule::new(1, window.samples() + 1);
    assert!(matches!(
        run.knee.close(&window, &more),
        Close::Extend { .. }
    ));
}

#[test]
fn a_window_with_more_coming_in_than_going_out_goes_on() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    let rule = run.knee.window_rule();
    let mut window = run.window(&Dependency::new(40));
    window.in_flight_area *= 3;
    assert!(matches!(
        run.knee.close(&window, &rule),
        Close::Extend { .. }
    ));
}

#[test]
fn refusals_alone_end_a_window() {
    let mut run = Run::new();
    run.steps(50, &Dependency::new(40));
    let rule = run.knee.window_rule();
    let mut window = run.window(&Dependency::new(40));
    (window.successes, window.timed, window.latency_sum) = (0, 0, 0);
    (window.drops, window.fast_drops) = (10_000, 10_000);
    assert_eq!(run.knee.close(&window, &rule), Close::Now);
    let limit = f64::from(run.limit);
    assert!(run.knee.update(&window).limit < limit);
}
