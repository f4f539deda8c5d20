//! What is asked of a limit: every property optional, so that layers of settings can be laid over each other.

use std::borrow::Cow;
use std::time::Duration;

use super::algorithm::{Calls, Deviations, Drain, GrowthBound, Jitter, QueueSize, VegasBaseline};

/// Which values an algorithm's tuning starts from, and whether it departs from the reference where that is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Preset {
    /// The library's own: every repair on.
    #[default]
    Repaired,
    /// The algorithms of Netflix concurrency-limits 0.5.4 as they are, for comparison: every repair off. Bounds and windows
    /// are still this library's: the reference's smallest limit is 20 for all but Vegas, whose largest is 1000.
    Netflix,
}

/// What a limit does with the calls that are too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Mode {
    /// It rejects them, or has them wait.
    #[default]
    Enforce,
    /// It lets them pass and counts them.
    Observe,
}

/// Names of kinds of errors.
///
/// # Examples
///
/// ```
/// use resilience::limit::{Kinds, LimitConfig};
///
/// let kinds = Kinds::from(["timeout", "bulkhead-full"]);
/// assert_eq!(kinds.iter().count(), 2);
/// let config = LimitConfig::new().drop_on(["timeout"]);
/// # assert_eq!(config, config.clone());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds(Vec<Cow<'static, str>>);

impl Kinds {
    /// Goes through the names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}

impl<const N: usize> From<[&'static str; N]> for Kinds {
    fn from(names: [&'static str; N]) -> Self {
        Self(names.map(Cow::Borrowed).into())
    }
}

impl<'a> FromIterator<&'a str> for Kinds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        Self(
            names
                .into_iter()
                .map(|name| Cow::Owned(name.to_owned()))
                .collect(),
        )
    }
}

/// One value that is outside of its range.
pub(crate) struct OutOfRange {
    pub(crate) property: &'static str,
    pub(crate) value: String,
    pub(crate) range: &'static str,
}

macro_rules! config {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $argument:ty, $check:path;)*) => {
        /// Settings of an adaptive limit, each of them optional: what is not set here comes from the layer below.
        ///
        /// Given to a [registry's builder](crate::registry::Builder) as defaults or as a named config, or to
        /// [`Registry::register`](crate::registry::Registry::register). The attribute's arguments are one of these too.
        /// Values are checked where a registry takes them, all at once.
        ///
        /// # Examples
        ///
        /// ```
        /// use resilience::limit::LimitConfig;
        /// use std::time::Duration;
        ///
        /// let config = LimitConfig::new().max_limit(100).window(Duration::from_millis(500));
        /// assert_eq!(config, config.clone());
        /// ```
        #[derive(Clone, Debug, Default, PartialEq)]
        #[must_use]
        pub struct LimitConfig {
            $(pub(crate) $name: Option<$type>,)*
        }

        impl LimitConfig {
            $(
                $(#[$doc])*
                pub fn $name(mut self, $name: $argument) -> Self {
                    self.$name = Some($name.into());
                    self
                }
            )*

            /// Lays `higher` over this: its values win.
            pub(crate) fn overlay(&mut self, higher: &Self) {
                $(if higher.$name.is_some() {
                    self.$name.clone_from(&higher.$name);
                })*
            }

            /// The values that are out of their range, in the order of the properties.
            pub(crate) fn out_of_range(&self) -> Vec<OutOfRange> {
                let mut found = Vec::new();
                $(if let Some(value) = &self.$name
                    && let Some(range) = $check(value)
                {
                    found.push(OutOfRange { property: stringify!($name), value: format!("{value:?}"), range });
                })*
                found
            }

            /// Whether a property is set here, by its name.
            pub(crate) fn sets(&self, property: &str) -> bool {
                match property {
                    $(stringify!($name) => self.$name.is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

config! {
    /// Sets the algorithm: `knee` (the default), `gradient2`, `aimd`, `vegas`, or one that was added to the registry. Case, `-`
    /// and `_` are ignored in the names of the built-in ones.
    algorithm: Cow<'static, str>, impl Into<Cow<'static, str>>, check::free;
    /// Sets the limit before the first decision, in calls: from 1 to 1,000,000, within the bounds. 20 by default, or
    /// the bound nearest to it.
    initial_limit: u32, u32, check::count;
    /// Sets the smallest limit, in calls: from 1 to 1,000,000. 1 by default.
    min_limit: u32, u32, check::count;
    /// Sets the largest limit, in calls: from 1 to 1,000,000. 200 by default.
    max_limit: u32, u32, check::count;
    /// Sets the least time a window lasts: from 1 ms to 1 h. 1 s by default; Knee has windows of its
    /// own, and this is the least they last.
    window: Duration, Duration, check::window;
    /// Sets the least samples a window holds: from 1 to 1,000,000. 10 by default; Knee 16 and mostly more.
    min_window_samples: u32, u32, check::count;
    /// Sets whether the limit is in force. Off, every call passes and nothing is measured. On by default.
    enabled: bool, bool, check::free;
    /// Sets how long a call may wait for a slot: from 1 ms to 1 h, or 0 for no wait. No wait by default: what is too much is
    /// rejected at once.
    max_wait: Duration, Duration, check::wait;
    /// Sets how many calls may wait for a slot at a time: from 1 to 1,000,000. 100 by default. Without a `max_wait` none waits.
    queue_limit: u32, u32, check::count;
    /// Sets whether calls that are too many are rejected, or only counted and let pass. [`Mode::Enforce`] by default.
    mode: Mode, Mode, check::free;
    /// Sets which errors mean overload, by the names of their kinds: `timeout`, `limit-exceeded`, `bulkhead-full` and those
    /// that were [added](crate::registry::Builder::kind) to the registry. An error means overload if it or anything in its
    /// source chain is of one of them. Time-outs and full bulkheads by default; none if the list is empty.
    ///
    /// The patterns of an attribute's `drop_on` win over this, unless it is set from outside of the code for the one limit.
    drop_on: Kinds, impl Into<Kinds>, check::free;
    /// Sets which tuning the algorithm starts from; single values are laid over it. [`Preset::Repaired`] by default.
    preset: Preset, Preset, check::free;
    /// Sets what a cut multiplies the limit by: from 0.5 to below 1. 0.9 by default.
    backoff_ratio: f64, f64, check::ratio;
    /// Sets the weight of the newest estimate against the limit before it: above 0, up to 1. Gradient2 (0.2 by default)
    /// and Vegas (1 by default).
    smoothing: f64, f64, check::smoothing;
    /// Sets how many times slower than its long-term latency the dependency may get before the limit shrinks: from 1 to
    /// 100. Gradient2, 1.5 by default.
    rtt_tolerance: f64, f64, check::tolerance;
    /// Sets how many calls may queue at the dependency: a fixed number up to 1,000,000 or the square root of the limit.
    /// Gradient2, 4 by default.
    queue_size: QueueSize, impl Into<QueueSize>, check::queue;
    /// Sets how many windows the long-term latency averages over: from 1 to 1,000,000. Gradient2, 600 by default.
    long_window: u32, u32, check::count;
    /// Sets how many calls a clean window adds: from 1 to 1,000,000. AIMD, 1 by default.
    increase_by: u32, u32, check::count;
    /// Sets how many calls may queue at the dependency before the limit stops growing: up to 1,000,000 fixed, or up
    /// to 1,000 times the common logarithm of the limit. Vegas, 3 times the logarithm by default.
    alpha: Calls, Calls, check::queueing;
    /// Sets how many calls may queue at the dependency before the limit shrinks: as `alpha`. Vegas, 6 times
    /// the logarithm by default.
    beta: Calls, Calls, check::queueing;
    /// Sets how many calls may queue at the dependency and still count as no queue: as `alpha`. Vegas, the logarithm itself
    /// by default.
    threshold: Calls, Calls, check::queueing;
    /// Sets after how many windows, for each call of the limit, the baseline is measured anew: 1 or more. Vegas, 30 by
    /// default.
    probe_multiplier: u32, u32, check::at_least_one;
    /// Sets by what the time to the next measurement of the baseline is scattered. Vegas; by default each instance has a
    /// seed of its own, made from its id and, unless its clock is moved by hand, from the process.
    jitter: Jitter, Jitter, check::jitter;
    /// Sets how the latency without a queue is found. Vegas, the minimum since the last measurement by default.
    baseline: VegasBaseline, VegasBaseline, check::baseline;
    /// Sets where the algorithm departs from its reference, switch by switch; the preset says what they are by default.
    deviations: Deviations, Deviations, check::free;
    /// Sets the mean latency above which a window counts as overloaded: from 1 ns to 1 h. AIMD, none by default.
    latency_threshold: Duration, Duration, check::threshold;
    /// Sets whether the limit changes once per round trip at most: calls that were in flight at a change count no more. Gradient2,
    /// AIMD and Vegas; off by default, when that is so after cuts alone.
    once_per_rtt: bool, bool, check::free;
    /// Sets how far the limit may grow beyond what the calls in flight account for. Gradient2, AIMD and Vegas; as far as they
    /// say themselves by default.
    growth_bound: GrowthBound, GrowthBound, check::growth;
    /// Sets how many calls the limit is above the knee, as a multiple of the knee's square root: from 0 to 10. Knee, 0.5
    /// by default, and always at least one call.
    headroom: f64, f64, check::headroom;
    /// Sets how often the limit goes below the knee for a moment, to see the latency without a queue. Knee, every 100 base
    /// latencies by default.
    drain: Drain, Drain, check::drain;
    /// Sets the share of drops that counts as no overload: from 0 to below 1. Knee, 0.1 by default.
    drop_share: f64, f64, check::share;
    /// Sets how easily a window contradicts what is known: from 0.25 to 4; twice as much takes half the difference. Knee, 1
    /// by default.
    sensitivity: f64, f64, check::sensitivity;
}

impl LimitConfig {
    /// Returns settings that set nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What values are allowed: each check returns the range if its value is outside of it.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "one signature for the checks of all properties"
)]
mod check {
    use std::time::Duration;

    use crate::limit::algorithm::{
        Bounds, Calls, Drain, GrowthBound, Jitter, QueueSize, VegasBaseline,
    };

    type Outside = Option<&'static str>;

    pub(super) fn free<T>(_: &T) -> Outside {
        None
    }

    pub(super) fn count(value: &u32) -> Outside {
        (!(1..=Bounds::MAX).contains(value)).then_some("from 1 to 1000000")
    }

    pub(super) fn window(value: &Duration) -> Outside {
        (!(Duration::from_millis(1)..=Duration::from_secs(3600)).contains(value))
            .then_some("from 1ms to 1h")
    }

    pub(super) fn wait(value: &Duration) -> Outside {
        (!value.is_zero() && window(value).is_some()).then_some("from 1ms to 1h")
    }

    pub(super) fn threshold(value: &Duration) -> Outside {
        (!(Duration::from_nanos(1)..=Duration::from_secs(3600)).contains(value))
            .then_some("from 1ns to 1h")
    }

    pub(super) fn ratio(value: &f64) -> Outside {
        (!(0.5..1.0).contains(value)).then_some("from 0.5 to below 1")
    }

    pub(super) fn smoothing(value: &f64) -> Outside {
        (!(*value > 0.0 && *value <= 1.0)).then_some("above 0, up to 1")
    }

    pub(super) fn tolerance(value: &f64) -> Outside {
        (!(1.0..=100.0).contains(value)).then_some("from 1 to 100")
    }

    pub(super) fn queue(value: &QueueSize) -> Outside {
        let (QueueSize::Fixed(size) | QueueSize::SquareRoot { min: size }) = value;
        (*size > Bounds::MAX).then_some("from 0 to 1000000")
    }

    pub(super) fn growth(value: &GrowthBound) -> Outside {
        let gains = 1.0..=100.0;
        let inside = match value {
            GrowthBound::Off => true,
            GrowthBound::InFlight { gain } => gains.contains(gain),
            GrowthBound::Bdp { gain, windows } => {
                gains.contains(gain) && (1..=1_000_000).contains(windows)
            }
        };
        (!inside).then_some("a gain from 1 to 100, of 1 to 1000000 windows")
    }

    pub(super) fn headroom(value: &f64) -> Outside {
        (!(0.0..=10.0).contains(value)).then_some("from 0 to 10")
    }

    pub(super) fn drain(value: &Drain) -> Outside {
        let inside = match value {
            Drain::Off => true,
            Drain::Every(latencies) => (10..=1_000_000).contains(latencies),
        };
        (!inside).then_some("from 10 to 1000000")
    }

    pub(super) fn share(value: &f64) -> Outside {
        (!(0.0..1.0).contains(value)).then_some("from 0 to below 1")
    }

    pub(super) fn sensitivity(value: &f64) -> Outside {
        (!(0.25..=4.0).contains(value)).then_some("from 0.25 to 4")
    }

    pub(super) fn queueing(value: &Calls) -> Outside {
        let inside = match value {
            Calls::Fixed(calls) => *calls <= Bounds::MAX,
            Calls::Log10(calls) => *calls <= 1000,
        };
        (!inside).then_some("up to 1000000 fixed, up to 1000 times the logarithm")
    }

    pub(super) fn at_least_one(value: &u32) -> Outside {
        (*value == 0).then_some("1 or more")
    }

    pub(super) fn jitter(value: &Jitter) -> Outside {
        let inside = match value {
            Jitter::Fixed(factor) => *factor > 0.0 && *factor <= 1.0,
            Jitter::Seeded(_) => true,
        };
        (!inside).then_some("above 0, up to 1")
    }

    pub(super) fn baseline(value: &VegasBaseline) -> Outside {
        let inside = match value {
            VegasBaseline::Minimum => true,
            VegasBaseline::Quantile { quantile, windows } => {
                (0.0..=1.0).contains(quantile) && (1..=10_000).contains(windows)
            }
        };
        (!inside).then_some("a quantile from 0 to 1 of 1 to 10000 windows")
    }
}
