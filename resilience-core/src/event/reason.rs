//! Why a limit is what it is.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Why a decision came out as it did, with the numbers it was made from. Latencies are in nanoseconds.
///
/// The [`Display`](fmt::Display) text is for people and may change; match on the variants. As serde writes it, with a
/// `kind` and the names of the numbers, it does not change.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Reason {
    /// No window has closed since the instance was made or reset.
    Initial,
    /// Gradient2: the limit follows the ratio of the long-term latency to the window's.
    Gradient {
        /// The gradient, from 0.5 to 1: 1 means no slower than tolerated.
        gradient: f64,
        /// The window's mean latency.
        latency: f64,
        /// The long-term mean latency.
        baseline: f64,
    },
    /// AIMD: the window was clean and the limit was in use.
    Increase {
        /// The calls added.
        by: f64,
    },
    /// Vegas: the estimated queue at the dependency against the band it should be in.
    Queue {
        /// The calls estimated to queue at the dependency.
        queue: f64,
        /// Below this the limit grows.
        alpha: f64,
        /// Above this the limit shrinks.
        beta: f64,
    },
    /// Vegas: the baseline was measured anew, nothing else was decided.
    Probe {
        /// The new baseline.
        baseline: f64,
    },
    /// The window held overload signals, so the limit was cut.
    Drops {
        /// The calls that were drops.
        drops: u64,
        /// All samples of the window, the drops included.
        samples: u64,
    },
    /// The window's mean latency was above the threshold that counts as overload, so the limit was cut.
    TooSlow {
        /// The window's mean latency.
        latency: f64,
        /// The threshold.
        threshold: f64,
    },
    /// Too few of the slots were in use for the window to say anything about the limit.
    AppLimited {
        /// The most calls that were in flight.
        max_in_flight: u32,
    },
    /// The limit would have grown above the bound that [was set](crate::limit::LimitConfig::growth_bound).
    GrowthBound {
        /// The bound, in calls.
        bound: f64,
    },
    /// Knee: the limit follows the knee, the number of calls from which on they queue.
    Knee {
        /// The knee, in calls.
        knee: f64,
        /// The knee is below this with a probability of 16 %.
        low: f64,
        /// The knee is above this with a probability of 16 %.
        high: f64,
        /// The latency without a queue.
        base: f64,
        /// The window's latency, a geometric mean.
        latency: f64,
    },
    /// Knee: slower than can be with what is known, so the dependency has changed.
    Slower {
        /// The window's latency.
        latency: f64,
        /// The latency predicted.
        expected: f64,
    },
    /// Knee: faster than can be with what is known, so the dependency has changed.
    Faster {
        /// The window's latency.
        latency: f64,
        /// The latency predicted.
        expected: f64,
    },
    /// Knee: the dependency got slower at any limit, so a lower one would not help.
    SlowerDependency {
        /// How much the latency followed the limit: 0 not at all, 1 in proportion.
        elasticity: f64,
        /// The new latency without a queue.
        base: f64,
    },
    /// Knee: drops that do not follow the limit say nothing about it.
    BackgroundDrops {
        /// Their share of the calls, from 0 to 1.
        share: f64,
    },
    /// Knee: the dependency refuses calls above this.
    Ceiling {
        /// The calls it takes.
        ceiling: f64,
    },
    /// Knee: fewer calls for a moment, to see the latency without a queue.
    Drain {
        /// The knee, in calls.
        knee: f64,
        /// The latency without a queue as it is known.
        base: f64,
    },
    /// Knee: there may be a queue at any limit that was tried, so a lower one is.
    NoBaseline {
        /// The window's latency.
        latency: f64,
    },
    /// Knee: other clients' calls queue, so this one leaves them room that it does not use.
    Yield {
        /// The window's latency.
        latency: f64,
        /// The latency without a queue.
        base: f64,
    },
    /// Knee: the limit is far above what was in use of late.
    Unused {
        /// The most calls in flight of late, fading.
        peak: f64,
    },
    /// The window carries no latency: every sample took 0 ns, as on a coarse clock.
    NoLatency,
    /// The bounds were changed while the limit was outside of the new ones.
    Bounds,
    /// The algorithm panicked or returned a limit that is not a number; the limit stays as it was.
    Failed,
    /// A custom algorithm's own words.
    Custom(#[cfg_attr(feature = "serde", serde(with = "words"))] Cow<'static, str>),
}

/// A custom reason's words, under a name of their own: beside the tag a bare text has no place.
#[cfg(feature = "serde")]
mod words {
    use std::borrow::Cow;

    use serde::ser::SerializeStruct;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    struct Words {
        text: String,
    }

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        let mut words = serializer.serialize_struct("Custom", 1)?;
        words.serialize_field("text", text)?;
        words.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Cow<'static, str>, D::Error> {
        Words::deserialize(deserializer).map(|words| Cow::Owned(words.text))
    }
}

impl Reason {
    /// Returns a reason in words, for an algorithm of your own.
    pub fn custom(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Custom(text.into())
    }

    /// Returns the stable name of the kind of reason, such as `app_limited`: what serde calls it and metrics are labelled
    /// with. A custom reason's is `custom`, whatever its words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Gradient { .. } => "gradient",
            Self::Increase { .. } => "increase",
            Self::Queue { .. } => "queue",
            Self::Probe { .. } => "probe",
            Self::Drops { .. } => "drops",
            Self::TooSlow { .. } => "too_slow",
            Self::AppLimited { .. } => "app_limited",
            Self::GrowthBound { .. } => "growth_bound",
            Self::Knee { .. } => "knee",
            Self::Slower { .. } => "slower",
            Self::Faster { .. } => "faster",
            Self::SlowerDependency { .. } => "slower_dependency",
            Self::BackgroundDrops { .. } => "background_drops",
            Self::Ceiling { .. } => "ceiling",
            Self::Drain { .. } => "drain",
            Self::NoBaseline { .. } => "no_baseline",
            Self::Yield { .. } => "yield",
            Self::Unused { .. } => "unused",
            Self::NoLatency => "no_latency",
            Self::Bounds => "bounds",
            Self::Failed => "failed",
            Self::Custom(_) => "custom",
        }
    }
}

/// A latency in nanoseconds, shown in the unit that fits it.
struct Latency(f64);

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `as` saturates: a negative or absurd number from a custom algorithm still prints.
        write!(f, "{:.1?}", Duration::from_nanos(self.0 as u64))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initial => f.write_str("initial limit"),
            Self::Gradient {
                gradient,
                latency,
                baseline,
            } => write!(
                f,
                "gradient {gradient:.2}: latency {} against a long-term {}",
                Latency(*latency),
                Latency(*baseline)
            ),
            Self::Increase { by } => write!(f, "no overload, {by} more"),
            Self::Queue { queue, alpha, beta } => {
                write!(
                    f,
                    "{queue:.1} calls queue at the dependency, wanted {alpha:.0} to {beta:.0}"
                )
            }
            Self::Probe { baseline } => write!(f, "baseline measured anew: {}", Latency(*baseline)),
            Self::Drops { drops, samples } => write!(f, "{drops} of {samples} calls were drops"),
            Self::TooSlow { latency, threshold } => {
                write!(
                    f,
                    "latency {} above the threshold {}",
                    Latency(*latency),
                    Latency(*threshold)
                )
            }
            Self::AppLimited { max_in_flight } => {
                write!(f, "at most {max_in_flight} in flight, too few to judge")
            }
            Self::GrowthBound { bound } => {
                write!(f, "no growth above {bound:.1} calls, for those in flight")
            }
            Self::Knee {
                knee,
                low,
                high,
                base,
                latency,
            } => write!(
                f,
                "knee at {knee:.1} calls ({low:.1} to {high:.1}): latency {} against {} without a queue",
                Latency(*latency),
                Latency(*base)
            ),
            Self::Slower { latency, expected } => write!(
                f,
                "slower than expected: latency {} instead of {}",
                Latency(*latency),
                Latency(*expected)
            ),
            Self::Faster { latency, expected } => write!(
                f,
                "faster than expected: latency {} instead of {}",
                Latency(*latency),
                Latency(*expected)
            ),
            Self::SlowerDependency { elasticity, base } => write!(
                f,
                "the dependency takes {} at any limit (elasticity {elasticity:.2})",
                Latency(*base)
            ),
            Self::BackgroundDrops { share } => write!(
                f,
                "{:.0} % of the calls are drops at any limit",
                share * 100.0
            ),
            Self::Ceiling { ceiling } => write!(f, "more than {ceiling:.0} calls are refused"),
            Self::Drain { knee, base } => write!(
                f,
                "drain below the knee at {knee:.1} calls, to see the latency without a queue again ({})",
                Latency(*base)
            ),
            Self::NoBaseline { latency } => write!(
                f,
                "latency {} may have a queue in it, less is tried",
                Latency(*latency)
            ),
            Self::Yield { latency, base } => write!(
                f,
                "latency {} against {} without a queue, and it is not ours: room for others",
                Latency(*latency),
                Latency(*base)
            ),
            Self::Unused { peak } => {
                write!(f, "no more than {peak:.0} calls were in flight of late")
            }
            Self::NoLatency => f.write_str("no latency measured"),
            Self::Bounds => f.write_str("the bounds were changed"),
            Self::Failed => f.write_str("the algorithm failed, limit kept"),
            Self::Custom(text) => f.write_str(text),
        }
    }
}
