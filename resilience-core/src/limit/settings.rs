//! What a limit runs with: every property decided and checked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::algorithm::{
    Aimd, AimdSettings, Algorithm, Bounds, Gradient2, Gradient2Settings, Vegas, VegasSettings,
};
use super::config::{LimitConfig, Preset};
use super::window::WindowRule;
use crate::time::nanos;

/// Makes a custom algorithm for an instance with these bounds.
pub(crate) type Factory = Arc<dyn Fn(Bounds) -> Box<dyn Algorithm> + Send + Sync>;

/// The settings of an instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimitSettings {
    pub(crate) bounds: Bounds,
    pub(crate) window: Duration,
    pub(crate) min_window_samples: u32,
    pub(crate) enabled: bool,
    pub(crate) algorithm: AlgorithmSettings,
}

/// An algorithm and its tuning.
#[derive(Clone)]
pub(crate) enum AlgorithmSettings {
    Gradient2(Gradient2Settings),
    Aimd(AimdSettings),
    Vegas(VegasSettings),
    Custom { name: Arc<str>, factory: Factory },
}

/// The names of the built-in algorithms; the first is the default.
pub(crate) const BUILT_IN: [&str; 3] = ["gradient2", "aimd", "vegas"];

/// Returns the built-in algorithm of that name, ignoring case, `-` and `_`.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    let folded = name.to_ascii_lowercase().replace(['-', '_'], "");
    BUILT_IN.into_iter().find(|known| *known == folded)
}

/// Bounds that contradict each other: which property is on the wrong side of which.
pub(crate) struct OutOfOrder {
    pub(crate) property: &'static str,
    pub(crate) value: u32,
    pub(crate) relation: &'static str,
    pub(crate) other: &'static str,
    pub(crate) other_value: u32,
}

impl LimitConfig {
    /// Decides the bounds. A limit that was not asked to start anywhere starts at 20, or at the bound nearest to it.
    pub(crate) fn bounds(&self) -> Result<Bounds, Vec<OutOfOrder>> {
        let (min, max) = (self.min_limit.unwrap_or(1), self.max_limit.unwrap_or(200));
        let mut problems = Vec::new();
        if min > max {
            problems.push(OutOfOrder {
                property: "max_limit",
                value: max,
                relation: "below",
                other: "min_limit",
                other_value: min,
            });
        } else if let Some(initial) = self.initial_limit {
            let (relation, other, other_value) = if initial < min {
                ("below", "min_limit", min)
            } else {
                ("above", "max_limit", max)
            };
            if !(min..=max).contains(&initial) {
                problems.push(OutOfOrder {
                    property: "initial_limit",
                    value: initial,
                    relation,
                    other,
                    other_value,
                });
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let initial = self.initial_limit.unwrap_or(20.clamp(min, max));
        Ok(Bounds::new(initial, min, max).expect("each bound was found in range and in order"))
    }

    /// Decides everything, given bounds and values found in range and the factory of the algorithm if it is a custom one.
    pub(crate) fn settle(
        &self,
        bounds: Bounds,
        custom: Option<(Arc<str>, Factory)>,
    ) -> LimitSettings {
        LimitSettings {
            bounds,
            window: self.window.unwrap_or(Duration::from_secs(1)),
            min_window_samples: self.min_window_samples.unwrap_or(10),
            enabled: self.enabled.unwrap_or(true),
            algorithm: match custom {
                Some((name, factory)) => AlgorithmSettings::Custom { name, factory },
                None => self.tuning(),
            },
        }
    }

    /// Lays the tuning that is set over the preset of a built-in algorithm.
    fn tuning(&self) -> AlgorithmSettings {
        let netflix = self.preset == Some(Preset::Netflix);
        match self.algorithm.as_deref().and_then(built_in) {
            Some("aimd") => {
                let mut settings = if netflix {
                    AimdSettings::netflix()
                } else {
                    AimdSettings::default()
                };
                set(&mut settings.backoff_ratio, self.backoff_ratio);
                set(&mut settings.increase_by, self.increase_by);
                if let Some(threshold) = self.latency_threshold {
                    settings.latency_threshold_ns = Some(nanos(threshold));
                }
                AlgorithmSettings::Aimd(settings)
            }
            Some("vegas") => {
                let mut settings = if netflix {
                    VegasSettings::netflix()
                } else {
                    VegasSettings::default()
                };
                set(&mut settings.backoff_ratio, self.backoff_ratio);
                set(&mut settings.smoothing, self.smoothing);
                AlgorithmSettings::Vegas(settings)
            }
            _ => {
                let mut settings = if netflix {
                    Gradient2Settings::netflix()
                } else {
                    Gradient2Settings::default()
                };
                set(&mut settings.backoff_ratio, self.backoff_ratio);
                set(&mut settings.smoothing, self.smoothing);
                set(&mut settings.rtt_tolerance, self.rtt_tolerance);
                set(&mut settings.queue_size, self.queue_size);
                set(&mut settings.long_window, self.long_window);
                AlgorithmSettings::Gradient2(settings)
            }
        }
    }
}

fn set<T: Copy>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl LimitSettings {
    pub(crate) fn window_rule(&self) -> WindowRule {
        WindowRule::new(nanos(self.window), u64::from(self.min_window_samples))
    }

    /// What differs from the settings of another: property, this one's value, the other's value.
    pub(crate) fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let mut found = Vec::new();
        let mut compare =
            |property: &'static str, ours: &dyn fmt::Debug, theirs: &dyn fmt::Debug| {
                let (ours, theirs) = (format!("{ours:?}"), format!("{theirs:?}"));
                if ours != theirs {
                    found.push((property, ours, theirs));
                }
            };
        compare(
            "initial_limit",
            &self.bounds.initial(),
            &other.bounds.initial(),
        );
        compare("min_limit", &self.bounds.min(), &other.bounds.min());
        compare("max_limit", &self.bounds.max(), &other.bounds.max());
        compare("window", &self.window, &other.window);
        compare(
            "min_window_samples",
            &self.min_window_samples,
            &other.min_window_samples,
        );
        compare("enabled", &self.enabled, &other.enabled);
        if self.algorithm != other.algorithm {
            if self.algorithm.name() == other.algorithm.name() {
                compare("tuning", &self.algorithm, &other.algorithm);
            } else {
                compare("algorithm", &self.algorithm.name(), &other.algorithm.name());
            }
        }
        found
    }
}

impl AlgorithmSettings {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Gradient2(_) => "gradient2",
            Self::Aimd(_) => "aimd",
            Self::Vegas(_) => "vegas",
            Self::Custom { name, .. } => name,
        }
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Box<dyn Algorithm> {
        match self {
            Self::Gradient2(settings) => Box::new(Gradient2::new(bounds, *settings)),
            Self::Aimd(settings) => Box::new(Aimd::new(bounds, *settings)),
            Self::Vegas(settings) => Box::new(Vegas::new(bounds, *settings)),
            Self::Custom { factory, .. } => factory(bounds),
        }
    }
}

impl PartialEq for AlgorithmSettings {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gradient2(a), Self::Gradient2(b)) => a == b,
            (Self::Aimd(a), Self::Aimd(b)) => a == b,
            (Self::Vegas(a), Self::Vegas(b)) => a == b,
            // Within a registry a name stands for one factory.
            (Self::Custom { name: a, .. }, Self::Custom { name: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl fmt::Debug for AlgorithmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gradient2(settings) => settings.fmt(f),
            Self::Aimd(settings) => settings.fmt(f),
            Self::Vegas(settings) => settings.fmt(f),
            Self::Custom { name, .. } => write!(f, "Custom({name})"),
        }
    }
}
