//! What one window says.

use super::levels::Estimate;
use crate::limit::window::Window;

/// The part of the limit that is in flight on average from which on the limit, and not demand, decides how many calls
/// there are.
pub(super) const BINDING: f64 = 0.7;

/// A window as the algorithm sees it. Latencies are in natural logarithms of nanoseconds, calls in flight are means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// The calls that were served or given up: all samples but fast drops.
    pub(super) calls: f64,
    pub(super) successes: f64,
    pub(super) drops: f64,
    pub(super) fast_drops: f64,
    /// The mean latency of the drops in nanoseconds.
    pub(super) drop_latency: f64,
    /// The mean latency of the successes in nanoseconds; 0 if there is none.
    pub(super) success_latency: f64,
    /// The mean number of calls in flight when one was admitted, itself included.
    pub(super) in_flight: f64,
    /// The mean number of successes in flight over time.
    pub(super) succeeding: f64,
    /// The mean of the logarithms of latencies, and their standard deviation; `None` without a latency.
    pub(super) latency: Option<(f64, f64)>,
    pub(super) rejected: f64,
    /// Whether the limit kept calls out, or was about to.
    pub(super) limited: bool,
    /// Whether the limit decided how many calls were in flight.
    pub(super) binding: bool,
    /// Whether as much came in as went out.
    pub(super) steady: bool,
}

impl Reading {
    pub(super) fn of(window: &Window, limit: f64) -> Self {
        let count = |calls: u64| calls as f64;
        let fast_drops = count(window.fast_drops.min(window.drops));
        let drops = count(window.drops);
        let slow_drops = drops - fast_drops;
        let successes = count(window.successes);
        let calls = successes + slow_drops;
        let in_flight = mean(
            count(
                window
                    .in_flight_sum
                    .saturating_sub(window.fast_drop_in_flight_sum),
            ),
            calls,
        );
        let slow_drop_latency = mean(
            count(
                window
                    .drop_latency_sum
                    .saturating_sub(window.fast_drop_latency_sum),
            ),
            slow_drops,
        );
        let ended = count(window.ended_latency_sum);
        let succeeding = mean(count(window.in_flight_area), count(window.duration()))
            * (1.0 - mean(count(window.drop_latency_sum), ended)).max(0.0);
        let over_time = mean(count(window.in_flight_area), count(window.duration()));
        // Calls that ended were admitted when fewer were in flight, if that grows; and with a limit of one or two there are
        // gaps between them however many are kept out.
        let in_use = over_time.max(in_flight);
        let rejected = count(window.rejected);
        let limited = rejected > 0.0 || f64::from(window.peak_in_flight) >= limit;
        Self {
            calls,
            successes,
            drops,
            fast_drops,
            drop_latency: mean(count(window.drop_latency_sum), drops),
            success_latency: window.mean_latency().unwrap_or(0.0),
            in_flight,
            succeeding,
            latency: latency(window, slow_drops, slow_drop_latency),
            rejected,
            limited,
            binding: limited && in_use > BINDING * limit,
            steady: steady(window, in_flight, calls),
        }
    }

    /// The share of drops among the calls that were answered.
    pub(super) fn drop_share(&self) -> (f64, f64) {
        let all = self.calls + self.fast_drops;
        let share = mean(self.drops, all);
        (share, mean(share * (1.0 - share), all).sqrt())
    }

    /// The measurement that the window is, if it has a latency.
    pub(super) fn estimate(&self, calls: f64, variance: f64) -> Option<Estimate> {
        let (latency, _) = self.latency?;
        Some(Estimate {
            calls: calls.max(1.0).ln(),
            latency,
            variance,
        })
    }
}

/// The logarithm of the longest latency.
const LONGEST: f64 = 64.0 * std::f64::consts::LN_2;

fn mean(sum: f64, count: f64) -> f64 {
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The mean and the standard deviation of the logarithms of latencies. Drops that were not fast count as what they took
/// on average: left out, a time-out would make a slow dependency look fast.
fn latency(window: &Window, slow_drops: f64, slow_drop_latency: f64) -> Option<(f64, f64)> {
    let timed = window.timed as f64;
    if timed == 0.0 {
        return None;
    }
    let (mut count, mut sum, mut squares) =
        (timed, window.log_latency_sum, window.log_latency_sq_sum);
    if slow_drops > 0.0 && slow_drop_latency > 0.0 {
        let log = slow_drop_latency.ln();
        count += slow_drops;
        sum += slow_drops * log;
        squares += slow_drops * log * log;
    }
    // Whatever a window holds, no latency is longer than the clock can tell.
    let mean = (sum / count).clamp(0.0, LONGEST);
    let variance = (squares / count - mean * mean).max(0.0);
    (mean.is_finite() && variance.is_finite()).then(|| (mean, variance.sqrt()))
}

/// Whether Little's law holds: what the calls that ended took is the area under those in flight, unless there were more
/// or fewer of them, or faster or slower ones, at the end than at the beginning.
///
/// The tolerance is what chance alone does: calls in flight at either end are some `in_flight` each way.
fn steady(window: &Window, in_flight: f64, calls: f64) -> bool {
    if window.in_flight_area == 0 || window.ended_latency_sum == 0 {
        return true;
    }
    let ratio = window.ended_latency_sum as f64 / window.in_flight_area as f64;
    ratio.ln().abs() < 0.1 + 2.0 * (2.0 * in_flight).sqrt() / calls.max(1.0)
}
