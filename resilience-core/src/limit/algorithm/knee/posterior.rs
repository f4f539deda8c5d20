//! Which knees are compatible with what was measured.
//!
//! A dependency that serves `K` calls at once in a latency of `b` each serves `N` in `b × max(1, N / K)`: the rest queue. In
//! logarithms that is a line that is flat up to the knee and rises by 1 from there. For each knee on a grid the base
//! latency that fits best follows by weighted least squares, and what is left over says how likely that knee is.

use super::levels::{Estimate, Levels};

/// The knees compared. In the second pass they lie so near to each other that what is between them does not matter.
const GRID: usize = 48;

/// The variance of what the line itself gets wrong: 3 %, since no dependency has a sharp corner.
pub(super) const MODEL: f64 = 0.03 * 0.03;

/// The likelihood below which a knee is left out of the second pass.
const NEGLIGIBLE: f64 = 1e-4;

/// A distribution over the logarithm of the knee, with the base latency that each knee implies.
#[derive(Debug)]
pub(super) struct Posterior {
    low: f64,
    step: f64,
    likelihood: [f64; GRID],
    base: [f64; GRID],
    base_variance: f64,
}

/// Weighted sums over measurements, with latencies relative to some latency.
#[derive(Clone, Copy, Default)]
struct Sums {
    weight: f64,
    latency: f64,
    latency_sq: f64,
    calls: f64,
    calls_sq: f64,
    both: f64,
}

impl Sums {
    fn add(&mut self, seen: &Estimate, reference: f64) {
        let weight = 1.0 / (seen.variance + MODEL);
        let latency = seen.latency - reference;
        self.weight += weight;
        self.latency += weight * latency;
        self.latency_sq += weight * latency * latency;
        self.calls += weight * seen.calls;
        self.calls_sq += weight * seen.calls * seen.calls;
        self.both += weight * seen.calls * latency;
    }
}

impl Posterior {
    /// Weighs the knees from `low` to `high` calls, both in logarithms. The anchor, if there is one, is a latency from below
    /// any knee. There is at least one measurement.
    pub(super) fn of(levels: &Levels, anchor: Option<&Estimate>, low: f64, high: f64) -> Self {
        let reference = anchor.or(levels.first()).map_or(0.0, |seen| seen.latency);
        let mut all = Sums::default();
        for seen in levels.iter().chain(anchor) {
            all.add(seen, reference);
        }
        let mut posterior = Self {
            low,
            step: 0.0,
            likelihood: [0.0; GRID],
            base: [0.0; GRID],
            base_variance: 1.0 / all.weight,
        };
        posterior.weigh(levels, &all, reference, low, high);
        let relevant = |likelihood: &f64| *likelihood > NEGLIGIBLE;
        let first = posterior.likelihood.iter().position(relevant);
        let last = posterior.likelihood.iter().rposition(relevant);
        if let (Some(first), Some(last)) = (first, last) {
            let edge = |at: usize| posterior.low + posterior.step * at as f64;
            let (low, high) = (edge(first), edge(last + 1));
            posterior.weigh(levels, &all, reference, low, high);
        }
        posterior
    }

    fn weigh(&mut self, levels: &Levels, all: &Sums, reference: f64, low: f64, high: f64) {
        self.low = low;
        self.step = (high - low) / GRID as f64;
        // From the largest knee down, each level is above all knees from some one on.
        let mut rest = levels.iter().rev().peekable();
        let mut above = Sums::default();
        let mut least = f64::INFINITY;
        for at in (0..GRID).rev() {
            let knee = self.knee(at);
            while let Some(seen) = rest.next_if(|seen| seen.calls > knee) {
                above.add(seen, reference);
            }
            // Sums of w y and w y² for y = latency − max(0, calls − knee).
            let excess = above.calls - knee * above.weight;
            let first = all.latency - excess;
            let second = all.latency_sq - 2.0 * (above.both - knee * above.latency)
                + (above.calls_sq - 2.0 * knee * above.calls + knee * knee * above.weight);
            let base = first / all.weight;
            let left_over = (second - first * base).max(0.0);
            self.base[at] = reference + base;
            self.likelihood[at] = left_over;
            least = least.min(left_over);
        }
        let mut total = 0.0;
        for likelihood in &mut self.likelihood {
            *likelihood = ((least - *likelihood) / 2.0).exp();
            total += *likelihood;
        }
        for likelihood in &mut self.likelihood {
            *likelihood /= total;
        }
    }

    fn knee(&self, at: usize) -> f64 {
        self.low + self.step * (at as f64 + 0.5)
    }

    /// Returns the knee in calls that the true one is below of with a probability of `share`.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let mut below = 0.0;
        for (at, likelihood) in self.likelihood.iter().enumerate() {
            if below + likelihood >= share {
                return (self.low + self.step * (at as f64 + (share - below) / likelihood)).exp();
            }
            below += likelihood;
        }
        self.knee(GRID - 1).exp()
    }

    /// Returns the probability that the knee is above so many calls, in logarithms.
    pub(super) fn above(&self, calls: f64) -> f64 {
        (0..GRID)
            .filter(|&at| self.knee(at) > calls)
            .map(|at| self.likelihood[at])
            .sum()
    }

    /// Returns the latency to expect with so many calls in flight, with its variance, all in logarithms.
    pub(super) fn predict(&self, calls: f64) -> (f64, f64) {
        let latency = |at: usize| self.base[at] + (calls - self.knee(at)).max(0.0);
        let mean: f64 = (0..GRID).map(|at| self.likelihood[at] * latency(at)).sum();
        let spread: f64 = (0..GRID)
            .map(|at| self.likelihood[at] * (latency(at) - mean).powi(2))
            .sum();
        (mean, spread + self.base_variance)
    }

    /// Returns the base latency, in a logarithm.
    pub(super) fn base(&self) -> f64 {
        (0..GRID)
            .map(|at| self.likelihood[at] * self.base[at])
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measurements of a dependency that serves `knee` calls at once in `e^17` ns each.
    fn measured(knee: f64, calls: &[f64], variance: f64) -> Levels {
        let mut levels = Levels::default();
        for calls in calls {
            levels.learn(&Estimate {
                calls: calls.ln(),
                latency: 17.0 + (calls / knee).ln().max(0.0),
                variance,
            });
        }
        levels
    }

    fn posterior(levels: &Levels) -> Posterior {
        Posterior::of(levels, None, 5_f64.ln(), 100_f64.ln())
    }

    #[test]
    fn measurements_on_both_sides_of_the_knee_tell_where_it_is() {
        let levels = measured(30.0, &[10.0, 20.0, 40.0, 60.0], 1e-4);
        let posterior = posterior(&levels);
        let (low, high) = (posterior.quantile(0.16), posterior.quantile(0.84));
        assert!(
            28.0 < low && low < 30.0 && 30.0 < high && high < 32.0,
            "{low} {high}"
        );
        assert!((posterior.base() - 17.0).abs() < 0.01);
        assert!((posterior.predict(60_f64.ln()).0 - 17.0 - 2_f64.ln()).abs() < 0.01);
    }

    #[test]
    fn from_below_it_is_only_known_that_it_is_not_lower() {
        let levels = measured(1000.0, &[10.0, 20.0], 1e-4);
        let posterior = posterior(&levels);
        assert!(posterior.quantile(0.05) > 18.0);
        assert!(posterior.quantile(0.8) > 60.0);
        assert!(posterior.above(18_f64.ln()) > 0.95);
    }

    #[test]
    fn an_anchor_says_what_a_single_measurement_cannot() {
        let levels = measured(30.0, &[60.0], 1e-4);
        let anchor = Estimate {
            calls: 0.0,
            latency: 17.0,
            variance: 1e-4,
        };
        let posterior = Posterior::of(&levels, Some(&anchor), 5_f64.ln(), 100_f64.ln());
        assert!((posterior.quantile(0.5) - 30.0).abs() < 2.0);
    }

    #[test]
    fn sums_give_what_each_measurement_by_itself_gives() {
        let levels = measured(30.0, &[7.0, 13.0, 25.0, 35.0, 44.0, 80.0], 3e-3);
        let posterior = posterior(&levels);
        for at in 0..GRID {
            let knee = posterior.knee(at);
            let flat = |seen: &Estimate| seen.latency - (seen.calls - knee).max(0.0);
            let weight = |seen: &Estimate| 1.0 / (seen.variance + MODEL);
            let all: f64 = levels.iter().map(weight).sum();
            let base = levels
                .iter()
                .map(|seen| weight(seen) * flat(seen))
                .sum::<f64>()
                / all;
            assert!((posterior.base[at] - base).abs() < 1e-9);
        }
        let total: f64 = posterior.likelihood.iter().sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
}
