//! What each algorithm is good and bad at: the numbers of docs/algorithms.md.

use resilience::limit::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Gradient2, Gradient2Settings, Jitter, Knee,
    KneeSettings, Vegas, VegasBaseline, VegasSettings,
};
use resilience::limit::window::{Sample, Window};

const MS: u64 = 1_000_000;
const MAX: u32 = 200;

fn bounds() -> Bounds {
    Bounds::new(20, 1, MAX).expect("in order")
}

/// Serves 30 calls at a time in 40 ms each, the others queue. More is always offered.
fn latency(limit: u32) -> u64 {
    40 * MS * u64::from(limit.max(30)) / 30
}

fn never_fails(limit: u32) -> Window {
    Window::of(limit, [Sample::success(latency(limit), limit); 20])
}

fn gives_up_after_120_ms(limit: u32) -> Window {
    let sample = if latency(limit) > 120 * MS {
        Sample::dropped(120 * MS, limit)
    } else {
        Sample::success(latency(limit), limit)
    };
    Window::of(limit, [sample; 20])
}

/// The limit and the baseline in milliseconds after each of 3000 windows.
fn run(mut algorithm: impl Algorithm, dependency: fn(u32) -> Window) -> Vec<(u32, Option<u64>)> {
    let mut limit = 20;
    (0..3000)
        .map(|_| {
            limit = algorithm.update(&dependency(limit)).limit as u32;
            (limit, algorithm.baseline().map(|nanos| nanos as u64 / MS))
        })
        .collect()
}

/// The lowest and the highest limit of the last two thousand windows.
fn settled(run: &[(u32, Option<u64>)]) -> (u32, u32) {
    let limits = run[1000..].iter().map(|&(limit, _)| limit);
    (
        limits.clone().min().unwrap_or_default(),
        limits.max().unwrap_or_default(),
    )
}

/// How many windows it takes to the maximum.
fn until_max(run: &[(u32, Option<u64>)]) -> Option<usize> {
    run.iter()
        .position(|&(limit, _)| limit == MAX)
        .map(|i| i + 1)
}

fn gradient2() -> Gradient2 {
    Gradient2::new(bounds(), Gradient2Settings::default())
}

fn aimd(latency_threshold_ns: Option<u64>) -> Aimd {
    let mut settings = AimdSettings::default();
    settings.latency_threshold_ns = latency_threshold_ns;
    Aimd::new(bounds(), settings)
}

fn vegas(baseline: VegasBaseline) -> Vegas {
    let mut settings = VegasSettings::default();
    settings.jitter = Jitter::Fixed(0.75);
    settings.baseline = baseline;
    Vegas::new(bounds(), settings)
}

#[test]
fn gradient2_learns_a_standing_queue() {
    let run = run(gradient2(), never_fails);
    assert_eq!((run[99].0, until_max(&run)), (56, Some(824)));
}

#[test]
fn gradient2_settles_where_calls_give_up() {
    let run = run(gradient2(), gives_up_after_120_ms);
    assert_eq!(settled(&run), (81, 91));
}

#[test]
fn aimd_needs_drops_or_a_threshold() {
    assert_eq!(until_max(&run(aimd(None), never_fails)), Some(180));
    assert_eq!(settled(&run(aimd(None), gives_up_after_120_ms)), (81, 91));
    assert_eq!(settled(&run(aimd(Some(60 * MS)), never_fails)), (41, 46));
}

#[test]
fn vegas_measures_its_baseline_under_load() {
    let run = run(vegas(VegasBaseline::Minimum), never_fails);
    assert!(run[9..742].iter().all(|now| *now == (33, Some(40))));
    let measured: Vec<_> = (1..run.len())
        .filter(|&i| run[i].1 != run[i - 1].1)
        .map(|i| (i + 1, run[i].1))
        .collect();
    assert_eq!(
        measured,
        [(743, Some(44)), (1621, Some(52)), (2634, Some(60))]
    );
    assert_eq!(run[2999].0, 50);
}

#[test]
fn a_quantile_contains_a_queue_that_stood_in_all_of_its_windows() {
    let baseline = VegasBaseline::Quantile {
        quantile: 0.1,
        windows: 300,
    };
    let run = run(vegas(baseline), never_fails);
    assert!(run[2999].0 > 90, "{:?}", run[2999]);
}

#[test]
fn knee_finds_what_is_served_whether_calls_fail_or_not() {
    for dependency in [never_fails, gives_up_after_120_ms] {
        let run = run(Knee::new(bounds(), KneeSettings::default()), dependency);
        let first: Vec<u32> = run[..5].iter().map(|&(limit, _)| limit).collect();
        assert_eq!(first, [10, 25, 54, 37, 34]);
        assert_eq!((settled(&run), run[2999].1), ((34, 35), Some(40)));
    }
}
