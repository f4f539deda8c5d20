//! What the algorithms read from a window and how they move a limit: the parts that two of them share.

use super::{Bounds, Decision, Deviations};
use crate::event::Reason;
use crate::limit::window::Window;

/// The latencies of a window, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latencies {
    /// What a baseline may learn from.
    pub(super) normal: Option<f64>,
    /// What the limit is judged by: never less than `normal`, since drops may have been slower than the successes
    /// beside them.
    pub(super) judged: Option<f64>,
}

impl Latencies {
    pub(super) fn of(window: &Window, deviations: Deviations) -> Self {
        let signal = |latency: f64| latency > 0.0 || !deviations.skip_zero_latency;
        if !deviations.drops_teach_nothing {
            let mean = (window.samples() > 0)
                .then(|| window.mean_latency_of_all() as f64)
                .filter(|&mean| signal(mean));
            return Self {
                normal: mean,
                judged: mean,
            };
        }
        let normal = if deviations.skip_zero_latency {
            window.mean_latency()
        } else {
            (window.successes > 0).then(|| window.latency_sum as f64 / window.successes as f64)
        }
        .filter(|&mean| signal(mean));
        if window.drops == 0 {
            return Self {
                normal,
                judged: normal,
            };
        }
        let sum = u128::from(window.latency_sum) + u128::from(window.drop_latency_sum);
        let all = sum as f64 / window.samples() as f64;
        let judged = normal.map_or(all, |normal| normal.max(all));
        Self {
            normal,
            judged: Some(judged).filter(|&mean| signal(mean)),
        }
    }
}

/// Returns whether at least half of `limit` slots were in use: only then does a window say that more are needed.
pub(super) fn half_used(window: &Window, limit: f64) -> bool {
    f64::from(window.max_in_flight) * 2.0 >= limit
}

/// Returns `limit` times `ratio`, or one call less than `limit` if that lowers the whole number and `ratio` does not.
pub(super) fn cut(limit: f64, ratio: f64, deviations: Deviations) -> f64 {
    let cut = limit * ratio;
    if deviations.whole_cuts && cut.floor() >= limit.floor() {
        limit - 1.0
    } else {
        cut
    }
}

/// Moves `from` a part of the way `to` another value.
pub(super) fn smooth(from: f64, to: f64, smoothing: f64, deviations: Deviations) -> f64 {
    if deviations.exact_averages {
        from + smoothing * (to - from)
    } else {
        from * (1.0 - smoothing) + to * smoothing
    }
}

/// Puts `next` in `limit`'s place, within the bounds, and returns the decision for it. Calls that were in flight at a
/// change count no more if each change is to be one of a round trip, and after a cut if there is to be one cut of each.
pub(super) fn decide(
    limit: &mut f64,
    next: f64,
    bounds: Bounds,
    deviations: Deviations,
    once_per_rtt: bool,
    reason: Reason,
) -> Decision {
    let before = limit.floor();
    if next.is_finite() {
        *limit = bounds.clamp(next);
    }
    let now = limit.floor();
    let (raised, cut) = (now > before, now < before);
    let fresh = once_per_rtt && (raised || cut) || deviations.cut_once && cut;
    Decision::new(*limit, reason).fresh(fresh)
}

/// Returns the reason of a cut.
pub(super) fn dropped(window: &Window) -> Reason {
    Reason::Drops {
        drops: window.drops,
        samples: window.samples(),
    }
}

/// Returns the reason of a limit that stays since its slots were not in use.
pub(super) fn unused(window: &Window) -> Reason {
    Reason::AppLimited {
        max_in_flight: window.max_in_flight,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the results are exact")]
mod tests {
    use super::*;
    use crate::limit::window::Sample;

    fn window(samples: &[(u64, bool)]) -> Window {
        Window::of(
            9,
            samples.iter().map(|&(latency, dropped)| Sample {
                dropped,
                ..Sample::success(latency, 1)
            }),
        )
    }

    #[test]
    fn drops_are_judged_but_not_learned() {
        let latencies = Latencies::of(&window(&[(10, false), (90, true)]), Deviations::ALL);
        assert_eq!(latencies.normal, Some(10.0));
        assert_eq!(latencies.judged, Some(50.0));
    }

    #[test]
    fn fast_drops_do_not_make_a_window_look_fast() {
        let latencies = Latencies::of(&window(&[(10, false), (1, true)]), Deviations::ALL);
        assert_eq!(latencies.judged, Some(10.0));
    }

    #[test]
    fn zero_latency_is_no_latency() {
        let latencies = Latencies::of(&window(&[(0, false), (0, true)]), Deviations::ALL);
        assert!(latencies.normal.is_none() && latencies.judged.is_none());
        assert_eq!(
            Latencies::of(&window(&[(0, false), (10, false)]), Deviations::ALL).normal,
            Some(10.0)
        );
    }

    #[test]
    fn the_reference_sees_one_rounded_mean() {
        let latencies = Latencies::of(
            &window(&[(0, false), (10, true), (10, true)]),
            Deviations::NONE,
        );
        assert_eq!(latencies.normal, Some(6.0));
        assert_eq!(latencies.judged, Some(6.0));
    }

    #[test]
    fn a_cut_lowers_the_whole_number() {
        assert_eq!(cut(20.0, 0.9, Deviations::ALL), 18.0);
        assert_eq!(cut(2.9, 0.9, Deviations::ALL), 1.9);
        assert_eq!(cut(2.9, 0.9, Deviations::NONE), 2.9 * 0.9);
    }

    #[test]
    fn an_average_of_equal_numbers_is_that_number() {
        for smoothing in [1e-17, 0.1, 0.3, 0.7, 1.0] {
            assert_eq!(smooth(20.3, 20.3, smoothing, Deviations::ALL), 20.3);
        }
    }
}
