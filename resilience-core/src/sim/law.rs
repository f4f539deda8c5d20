//! How the time that a call takes to be served is distributed.

use super::random::{Random, exp, ln};

/// The shape of service times, as multiples of the dependency's latency.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Law {
    /// Always the same.
    Constant,
    /// Exponential.
    Exponential,
    /// Evenly from `1 - spread` to `1 + spread`.
    Uniform { spread: f64 },
    /// Lognormal with this coefficient of variation.
    Lognormal { cv: f64 },
    /// Evenly from `1 - spread` to `1 + spread`, and a share of the calls is slower by a factor.
    Jitter {
        spread: f64,
        outliers: f64,
        factor: f64,
    },
    /// A share of the calls takes `factor` times as long as the others. The mean is 1.
    Bimodal { share: f64, factor: f64 },
    /// Calls of several kinds.
    Mixture(Vec<Kind>),
}

/// One kind of the calls of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    /// Of all calls, as a share of what the shares add up to.
    pub(super) share: f64,
    /// What the law's draws are multiplied by.
    pub(super) factor: f64,
    pub(super) law: Law,
}

impl Law {
    pub(super) fn draw(&self, random: &mut Random) -> f64 {
        let even = |random: &mut Random, spread| 1.0 + spread * (2.0 * random.unit() - 1.0);
        match *self {
            Self::Mixture(ref kinds) => {
                let kind = one_of(kinds, random.unit());
                kind.factor * kind.law.draw(random)
            }
            Self::Constant => 1.0,
            Self::Exponential => random.exponential(),
            Self::Uniform { spread } => even(random, spread),
            Self::Lognormal { cv } => {
                let variance = ln(1.0 + cv * cv);
                exp(variance.sqrt() * random.normal() - variance / 2.0)
            }
            Self::Jitter {
                spread,
                outliers,
                factor,
            } => {
                let draw = even(random, spread);
                if random.unit() < outliers {
                    draw * factor
                } else {
                    draw
                }
            }
            Self::Bimodal { share, factor } => {
                let short = 1.0 / (1.0 - share + share * factor);
                if random.unit() < share {
                    short * factor
                } else {
                    short
                }
            }
        }
    }

    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::Jitter {
                outliers, factor, ..
            } => 1.0 + outliers * (factor - 1.0),
            Self::Mixture(kinds) => {
                let mean = |kind: &Kind| kind.share * kind.factor * kind.law.mean();
                kinds.iter().map(mean).sum::<f64>() / shares(kinds)
            }
            _ => 1.0,
        }
    }
}

fn shares(kinds: &[Kind]) -> f64 {
    kinds.iter().map(|kind| kind.share).sum()
}

/// The kind that a number between 0 and 1 falls to.
fn one_of(kinds: &[Kind], unit: f64) -> &Kind {
    let mut left = unit * shares(kinds);
    for kind in kinds {
        left -= kind.share;
        if left < 0.0 {
            return kind;
        }
    }
    // What rounding has left over.
    kinds.last().expect("a mixture has kinds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_have_the_mean_they_say() {
        let laws = [
            Law::Constant,
            Law::Exponential,
            Law::Uniform { spread: 0.3 },
            Law::Lognormal { cv: 1.0 },
            Law::Jitter {
                spread: 0.3,
                outliers: 0.03,
                factor: 6.0,
            },
            Law::Bimodal {
                share: 0.05,
                factor: 20.0,
            },
            Law::Mixture(vec![
                Kind {
                    share: 4.0,
                    factor: 1.0,
                    law: Law::Lognormal { cv: 0.3 },
                },
                Kind {
                    share: 1.0,
                    factor: 10.0,
                    law: Law::Exponential,
                },
            ]),
        ];
        for law in laws {
            let mut random = Random::stream(3, 1);
            let sum: f64 = (0..200_000).map(|_| law.draw(&mut random)).sum();
            let mean = sum / 200_000.0;
            assert!((mean / law.mean() - 1.0).abs() < 0.02, "{law:?}: {mean}");
        }
    }
}
