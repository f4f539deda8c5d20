//! What was measured: latencies by calls in flight, each as sure as its age and its noise allow.

use std::ops::Deref;

/// The width of a level in logarithms of calls: 10 %, about what a queue has to grow by to show in the latency.
const WIDTH: f64 = 0.1;

/// The levels kept at most. A limit that moves by ten times either way passes through 46; those that matter are the 24
/// within reach of the next decision.
const MAX: usize = 32;

/// The variance from which a level is forgotten: off by a factor of two as likely as not.
const FORGOTTEN: f64 = 0.5;

/// One window never counts for less than one of so many, however well its level is known: what a dependency does now
/// outweighs what it did.
const MEMORY: f64 = 8.0;

/// The variance up to which levels become unsure when a window contradicts them: off by 47 %.
const DOUBT: f64 = 0.15;

/// A latency measured with so many calls in flight, in natural logarithms of nanoseconds and of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub(super) calls: f64,
    pub(super) latency: f64,
    pub(super) variance: f64,
}

impl Estimate {
    /// Folds a measurement in, each weighted by how sure it is: a Kalman filter of one state.
    pub(super) fn learn(&mut self, seen: &Self) {
        let gain = self.variance / (self.variance + seen.variance);
        self.latency += gain * (seen.latency - self.latency);
        self.calls += gain * (seen.calls - self.calls);
        self.variance *= 1.0 - gain;
    }
}

/// The estimates by calls in flight, fewest first, one for each level.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Levels {
    kept: [Estimate; MAX],
    len: u8,
}

impl Deref for Levels {
    type Target = [Estimate];

    fn deref(&self) -> &[Estimate] {
        &self.kept[..usize::from(self.len)]
    }
}

impl Levels {
    fn kept_mut(&mut self) -> &mut [Estimate] {
        &mut self.kept[..usize::from(self.len)]
    }

    /// Folds a measurement into its level.
    pub(super) fn learn(&mut self, seen: &Estimate) {
        let level = |estimate: &Estimate| (estimate.calls / WIDTH).floor() as i64;
        let at = self.partition_point(|kept| level(kept) < level(seen));
        match self.kept_mut().get_mut(at) {
            Some(kept) if level(kept) == level(seen) => {
                kept.learn(seen);
                kept.variance = kept.variance.max(seen.variance / MEMORY);
            }
            _ => self.insert(at, *seen),
        }
    }

    fn insert(&mut self, mut at: usize, seen: Estimate) {
        if usize::from(self.len) == MAX {
            let least_sure = (0..MAX)
                .max_by(|&a, &b| self[a].variance.total_cmp(&self[b].variance))
                .expect("there are levels");
            self.kept.copy_within(least_sure + 1.., least_sure);
            at -= usize::from(least_sure < at);
        } else {
            self.len += 1;
        }
        self.kept.copy_within(at..MAX - 1, at + 1);
        self.kept[at] = seen;
    }

    /// Makes all of them less sure by `variance`, and forgets those that say nothing any more.
    pub(super) fn age(&mut self, variance: f64) {
        let mut len = 0;
        for at in 0..usize::from(self.len) {
            let mut kept = self.kept[at];
            kept.variance += variance;
            if kept.variance < FORGOTTEN {
                self.kept[len] = kept;
                len += 1;
            }
        }
        self.kept[len..].fill(Estimate::default());
        self.len = len as u8;
    }

    /// Makes all of them so unsure that the next windows outweigh them.
    pub(super) fn doubt(&mut self) {
        for kept in self.kept_mut() {
            kept.variance = kept.variance.max(DOUBT);
        }
    }

    /// Moves all of them to other latencies, and makes them less sure by `variance`.
    pub(super) fn shift(&mut self, latency: f64, variance: f64) {
        for kept in self.kept_mut() {
            kept.latency += latency;
            kept.variance += variance;
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the result is exact")]
mod tests {
    use super::*;

    fn at(calls: f64, variance: f64) -> Estimate {
        Estimate {
            calls: f64::ln(calls),
            latency: 17.0,
            variance,
        }
    }

    #[test]
    fn one_level_for_what_is_near_and_fewest_calls_first() {
        let mut levels = Levels::default();
        for calls in [41.0, 10.0, 42.0, 20.0, 9.5] {
            levels.learn(&at(calls, 0.01));
        }
        assert!(levels.is_sorted_by(|a, b| a.calls < b.calls));
        assert_eq!(levels.len(), 4);
    }

    #[test]
    fn an_estimate_becomes_surer_and_fades() {
        let mut levels = Levels::default();
        for _ in 0..100 {
            levels.learn(&at(10.0, 0.08));
        }
        assert!((levels[0].variance - 0.08 / MEMORY).abs() < 1e-9);
        levels.age(0.2);
        assert!((levels[0].variance - 0.21).abs() < 1e-9);
        levels.age(0.3);
        assert_eq!(levels, Levels::default());
    }

    #[test]
    fn the_least_sure_makes_room() {
        let mut levels = Levels::default();
        for step in 0..MAX as u32 {
            let variance = if step == 5 { 0.2 } else { 0.1 };
            levels.learn(&at(1.15_f64.powi(step as i32), variance));
        }
        assert_eq!(levels.len(), MAX);
        let least_sure = levels[5];
        levels.learn(&at(1e6, 0.1));
        levels.learn(&at(0.5, 0.1));
        assert_eq!(levels.len(), MAX);
        assert!(levels.is_sorted_by(|a, b| a.calls < b.calls));
        assert!(!levels.contains(&least_sure));
    }

    #[test]
    fn doubt_and_shift_change_what_was_known_only() {
        let mut levels = Levels::default();
        levels.learn(&at(10.0, 0.01));
        levels.doubt();
        levels.shift(1.0, 0.02);
        assert_eq!(levels[0].latency, 18.0);
        assert!((levels[0].variance - (DOUBT + 0.02)).abs() < 1e-9);
        assert_eq!(levels.kept[1..], [Estimate::default(); MAX - 1]);
    }
}
