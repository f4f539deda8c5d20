//! The latency without a queue.

use std::collections::VecDeque;

/// How [`Vegas`](super::Vegas) finds the latency of a dependency without a queue.
///
/// # Examples
///
/// ```
/// use resilience::limit::algorithm::{VegasBaseline, VegasSettings};
///
/// let mut settings = VegasSettings::default();
/// settings.baseline = VegasBaseline::Quantile { quantile: 0.1, windows: 300 };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum VegasBaseline {
    /// The fastest window since the baseline was last measured anew.
    Minimum,
    /// A quantile of the last windows' mean latencies: follows a dependency that got slower for good without a
    /// measurement under load, and one lucky window does not set it.
    ///
    /// Choose `windows` longer than an overload lasts: when a queue stood in all of them, the baseline contains it.
    Quantile {
        /// Which one: 0, the fastest, to 1, the slowest.
        quantile: f64,
        /// Of how many windows: 1 to 10,000.
        windows: u32,
    },
}

/// What a window taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// It is the first with a latency.
    First,
    /// A measurement was due.
    Probed,
    /// It is the fastest so far.
    Minimum,
    /// Nothing that matters.
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Baseline {
    Minimum {
        latency: Option<f64>,
        /// The windows since the last measurement.
        count: u32,
    },
    Quantile {
        quantile: f64,
        windows: usize,
        /// The last windows' latencies, oldest first.
        latencies: VecDeque<f64>,
        latency: Option<f64>,
    },
}

impl Baseline {
    pub(super) fn new(how: VegasBaseline) -> Self {
        match how {
            VegasBaseline::Minimum => Self::Minimum {
                latency: None,
                count: 0,
            },
            VegasBaseline::Quantile { quantile, windows } => Self::Quantile {
                quantile,
                windows: windows.clamp(1, 10_000) as usize,
                latencies: VecDeque::new(),
                latency: None,
            },
        }
    }

    pub(super) fn latency(&self) -> Option<f64> {
        match self {
            Self::Minimum { latency, .. } | Self::Quantile { latency, .. } => *latency,
        }
    }

    pub(super) fn probe_count(&self) -> u32 {
        match self {
            Self::Minimum { count, .. } => *count,
            Self::Quantile { .. } => 0,
        }
    }

    /// Learns a window's latency; one is measured anew when `due` windows have passed since the last.
    pub(super) fn learn(&mut self, new: f64, due: f64) -> Learned {
        match self {
            Self::Minimum { latency, count } => {
                *count = count.saturating_add(1);
                let learned = match *latency {
                    _ if due <= f64::from(*count) => {
                        *count = 0;
                        Learned::Probed
                    }
                    None => Learned::First,
                    Some(latency) if new < latency => Learned::Minimum,
                    Some(_) => return Learned::Nothing,
                };
                *latency = Some(new);
                learned
            }
            Self::Quantile {
                quantile,
                windows,
                latencies,
                latency,
            } => {
                if latencies.len() == *windows {
                    latencies.pop_front();
                }
                latencies.push_back(new);
                let mut sorted: Vec<f64> = latencies.iter().copied().collect();
                // The nearest rank, without interpolation: a slower window must not lift the baseline by a part of itself.
                let rank = (*quantile * sorted.len() as f64).ceil() as usize;
                let index = rank.clamp(1, sorted.len()) - 1;
                *latency = Some(*sorted.select_nth_unstable_by(index, f64::total_cmp).1);
                Learned::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_of_the_last_windows_only() {
        let mut baseline = Baseline::new(VegasBaseline::Quantile {
            quantile: 0.5,
            windows: 3,
        });
        let latencies: Vec<_> = [5.0, 1.0, 3.0, 9.0, 8.0]
            .into_iter()
            .map(|latency| {
                baseline.learn(latency, f64::INFINITY);
                baseline.latency()
            })
            .collect();
        assert_eq!(latencies, [5.0, 1.0, 3.0, 3.0, 8.0].map(Some));
    }

    #[test]
    fn the_quantiles_ends_are_the_fastest_and_the_slowest_window() {
        for (quantile, expected) in [(0.0, 1.0), (1.0, 5.0)] {
            let mut baseline = Baseline::new(VegasBaseline::Quantile {
                quantile,
                windows: 3,
            });
            for latency in [5.0, 1.0, 3.0] {
                baseline.learn(latency, f64::INFINITY);
            }
            assert_eq!(baseline.latency(), Some(expected));
        }
    }

    #[test]
    fn a_minimum_lasts_until_it_is_measured_anew() {
        let mut baseline = Baseline::new(VegasBaseline::Minimum);
        let learned = [5.0, 3.0, 4.0, 4.0].map(|latency| baseline.learn(latency, 4.0));
        assert_eq!(
            learned,
            [
                Learned::First,
                Learned::Minimum,
                Learned::Nothing,
                Learned::Probed
            ]
        );
        assert_eq!((baseline.latency(), baseline.probe_count()), (Some(4.0), 0));
    }
}
