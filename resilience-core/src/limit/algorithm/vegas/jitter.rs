//! By what the time between two measurements of the baseline is scattered.

use std::collections::VecDeque;

/// By what [`Vegas`](super::Vegas) scatters its measurements of the baseline, so that not all clients of a dependency
/// measure at once.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{Jitter, VegasSettings};
///
/// // A seed of its own for each client:
/// let mut settings = VegasSettings::default();
/// settings.jitter = Jitter::Seeded(u64::from(std::process::id()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Always this factor: above 0 to 1.
    Fixed(f64),
    /// Factors from 0.5 to below 1, drawn evenly and the same for the same seed.
    Seeded(u64),
}

impl Jitter {
    fn draw(&mut self) -> f64 {
        match self {
            Self::Fixed(factor) => *factor,
            Self::Seeded(state) => {
                // The top 53 bits fill a mantissa: [0, 1), then [0.5, 1).
                0.5 + (split_mix(state) >> 11) as f64 * 2f64.powi(-54)
            }
        }
    }
}

/// `SplitMix64` (Steele, Lea & Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The jitters of an instance, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Jitters {
    current: f64,
    recorded: VecDeque<f64>,
    then: Jitter,
}

impl Jitters {
    pub(super) fn new(jitter: Jitter) -> Self {
        Self::recorded([], jitter)
    }

    /// Returns the `recorded` jitters, and those of `then` after them.
    pub(super) fn recorded(recorded: impl IntoIterator<Item = f64>, then: Jitter) -> Self {
        let mut jitters = Self {
            current: 1.0,
            recorded: recorded.into_iter().collect(),
            then,
        };
        jitters.advance();
        jitters
    }

    pub(super) fn current(&self) -> f64 {
        self.current
    }

    pub(super) fn advance(&mut self) {
        self.current = self
            .recorded
            .pop_front()
            .unwrap_or_else(|| self.then.draw());
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the results are exact")]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_draws_the_same_from_half_to_one() {
        let draw = |seed| {
            let mut jitters = Jitters::new(Jitter::Seeded(seed));
            let mut drawn = Vec::new();
            for _ in 0..1000 {
                drawn.push(jitters.current());
                jitters.advance();
            }
            drawn
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(1).iter().all(|jitter| (0.5..1.0).contains(jitter)));
        assert!((draw(1).iter().sum::<f64>() / 1000.0 - 0.75).abs() < 0.02);
    }

    #[test]
    fn recorded_jitters_come_first() {
        let mut jitters = Jitters::recorded([0.6, 0.7], Jitter::Fixed(0.9));
        let drawn = [(); 3].map(|()| {
            let current = jitters.current();
            jitters.advance();
            current
        });
        assert_eq!(drawn, [0.6, 0.7, 0.9]);
    }
}
