//! Values that change over time, in steps.

use super::random::{Random, sine_of_turn};

/// How many steps a slope between two moments, or one period of a wave, is made of.
const STEPS_OF_A_SLOPE: u64 = 64;

/// A value over time: `(from, value)` in order, the first from 0 on. Moments are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schedule {
    steps: Vec<(u64, f64)>,
    /// The moments from which something else is to be found out, as the scenario's author sees it.
    pub(super) turns: Vec<u64>,
}

impl Schedule {
    pub(super) fn constant(value: f64) -> Self {
        Self {
            steps: vec![(0, value)],
            turns: Vec::new(),
        }
    }

    /// Values that stay until the next.
    pub(super) fn steps(steps: Vec<(u64, f64)>) -> Self {
        let turns = steps.iter().map(|(from, _)| *from).collect();
        Self { steps, turns }
    }

    /// Values between which it goes evenly, in small steps.
    pub(super) fn ramp(points: &[(u64, f64)]) -> Self {
        let mut steps = Vec::new();
        for pair in points.windows(2) {
            let ((from, first), (to, last)) = (pair[0], pair[1]);
            for step in 0..STEPS_OF_A_SLOPE {
                let share = (step as f64 + 0.5) / STEPS_OF_A_SLOPE as f64;
                let at = from + (to - from) / STEPS_OF_A_SLOPE * step;
                steps.push((at, first + (last - first) * share));
            }
        }
        steps.extend(points.last());
        Self {
            steps,
            turns: Vec::new(),
        }
    }

    /// Values with how long each lasts, again and again until `end`.
    pub(super) fn cycle(parts: &[(u64, f64)], end: u64) -> Self {
        let mut steps = Vec::new();
        let mut at = 0;
        for (lasting, value) in parts.iter().cycle() {
            if at >= end {
                break;
            }
            steps.push((at, *value));
            at += lasting;
        }
        Self {
            steps,
            turns: Vec::new(),
        }
    }

    /// A sine, until `end`.
    pub(super) fn wave(mean: f64, amplitude: f64, period: u64, end: u64) -> Self {
        let step = (period / STEPS_OF_A_SLOPE).max(1);
        let steps = (0..=end / step).map(|number| {
            let turns = (number as f64 + 0.5) / STEPS_OF_A_SLOPE as f64;
            (number * step, mean + amplitude * sine_of_turn(turns))
        });
        Self {
            steps: steps.collect(),
            turns: Vec::new(),
        }
    }

    /// Another value between two, evenly drawn, after each time `every`.
    pub(super) fn redrawn(low: f64, high: f64, every: u64, end: u64, seed: u64) -> Self {
        let mut random = Random::stream(seed, 0x5eed);
        let steps =
            (0..=end / every).map(|number| (number * every, low + (high - low) * random.unit()));
        Self {
            steps: steps.collect(),
            turns: Vec::new(),
        }
    }

    /// Returns the value at a moment.
    pub(super) fn at(&self, moment: u64) -> f64 {
        self.steps[self.index(moment)].1
    }

    /// Returns the next moment at which the value may change.
    pub(super) fn next_change(&self, moment: u64) -> Option<u64> {
        self.steps
            .get(self.index(moment) + 1)
            .map(|(from, _)| *from)
    }

    fn index(&self, moment: u64) -> usize {
        if let [_] = self.steps[..] {
            return 0;
        }
        let after = self.steps.partition_point(|(from, _)| *from <= moment);
        after.saturating_sub(1)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.steps.iter().map(|(_, value)| *value)
    }

    pub(super) fn max(&self) -> f64 {
        self.values().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the mean over a stretch of time.
    pub(super) fn mean(&self, from: u64, to: u64) -> f64 {
        let mut area = 0.0;
        let mut at = from;
        while at < to {
            let next = self.next_change(at).map_or(to, |next| next.min(to));
            area += self.at(at) * (next - at) as f64;
            at = next;
        }
        area / (to - from) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_until_the_next() {
        let schedule = Schedule::steps(vec![(0, 30.0), (10, 10.0)]);
        assert_eq!(
            [0, 9, 10, 99].map(|at| schedule.at(at) as u32),
            [30, 30, 10, 10]
        );
        assert_eq!(
            (schedule.next_change(3), schedule.next_change(10)),
            (Some(10), None)
        );
        assert_eq!(schedule.mean(5, 15) as u32, 20);
    }

    #[test]
    fn shapes_are_what_their_names_say() {
        let ramp = Schedule::ramp(&[(0, 0.0), (6400, 64.0)]);
        assert!((ramp.at(3250) - 32.5).abs() < 1e-9, "{}", ramp.at(3250));
        assert!((ramp.mean(0, 6400) - 32.0).abs() < 1e-9);
        let cycle = Schedule::cycle(&[(2, 3.0), (1, 0.0)], 9);
        assert_eq!(
            [0, 2, 3, 5, 8].map(|at| cycle.at(at) as u32),
            [3, 0, 3, 0, 0]
        );
        let wave = Schedule::wave(40.0, 20.0, 6400, 12_800);
        assert!((wave.at(1600) - 60.0).abs() < 0.1 && (wave.mean(0, 6400) - 40.0).abs() < 0.1);
    }
}
