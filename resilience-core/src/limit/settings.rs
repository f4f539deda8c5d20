//! What a limit runs with: every property decided and checked.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::algorithm::{
    AimdSettings, Algorithm, Bounds, Deviations, Gradient2Settings, Knee, KneeSettings,
    VegasSettings,
};
use super::config::{LimitConfig, Mode, Preset};
use super::queue::Patience;
use super::slots::Rules;
use super::window::WindowRule;
use crate::outcome::overload::Overload;
use crate::time::nanos;

/// Makes a custom algorithm for an instance with these bounds.
pub(crate) type Factory = Arc<dyn Fn(Bounds) -> Box<dyn Algorithm> + Send + Sync>;

/// The settings of an instance.
#[derive(Clone, Debug)]
pub(crate) struct LimitSettings {
    pub(crate) bounds: Bounds,
    /// `None`: as the algorithm likes it.
    pub(crate) window: Option<Duration>,
    /// `None`: as the algorithm likes it.
    pub(crate) min_window_samples: Option<u32>,
    pub(crate) enabled: bool,
    /// Zero if no call waits.
    pub(crate) max_wait: Duration,
    pub(crate) queue_limit: u32,
    pub(crate) mode: Mode,
    /// `None`: the kinds that mean overload by default.
    pub(crate) drop_on: Option<Arc<Overload>>,
    pub(crate) algorithm: AlgorithmSettings,
}

/// An algorithm and its tuning.
#[derive(Clone)]
pub(crate) enum AlgorithmSettings {
    Gradient2(Gradient2Settings),
    Aimd(AimdSettings),
    Vegas(VegasSettings),
    Knee(KneeSettings),
    Custom { name: Arc<str>, factory: Factory },
}

/// The names of the built-in algorithms.
pub(crate) const BUILT_IN: [&str; 4] = ["knee", "gradient2", "aimd", "vegas"];

/// The one that is used where none is named.
const DEFAULT: &str = "knee";

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
    pub(crate) fn bounds(&self) -> Result<Bounds, OutOfOrder> {
        let (min, max) = (self.min_limit.unwrap_or(1), self.max_limit.unwrap_or(200));
        let out_of_order = |property, value, relation, other, other_value| OutOfOrder {
            property,
            value,
            relation,
            other,
            other_value,
        };
        if min > max {
            return Err(out_of_order("max_limit", max, "below", "min_limit", min));
        }
        let initial = self.initial_limit.unwrap_or(20.clamp(min, max));
        if initial < min {
            return Err(out_of_order(
                "initial_limit",
                initial,
                "below",
                "min_limit",
                min,
            ));
        }
        if initial > max {
            return Err(out_of_order(
                "initial_limit",
                initial,
                "above",
                "max_limit",
                max,
            ));
        }
        Ok(Bounds::new(initial, min, max).expect("each bound was found in range and in order"))
    }

    /// Decides everything, given bounds and values found in range and the factory of the algorithm if it is a custom one.
    pub(crate) fn settle(
        &self,
        bounds: Bounds,
        custom: Option<(Arc<str>, Factory)>,
        drop_on: Option<Overload>,
    ) -> LimitSettings {
        LimitSettings {
            bounds,
            window: self.window,
            min_window_samples: self.min_window_samples,
            enabled: self.enabled.unwrap_or(true),
            max_wait: self.max_wait.unwrap_or(Duration::ZERO),
            queue_limit: self.queue_limit.unwrap_or(100),
            mode: self.mode.unwrap_or_default(),
            drop_on: drop_on.map(Arc::new),
            algorithm: match custom {
                Some((name, factory)) => AlgorithmSettings::Custom { name, factory },
                None => self.tuning(),
            },
        }
    }

    /// Lays the tuning that is set over the preset of a built-in algorithm.
    fn tuning(&self) -> AlgorithmSettings {
        let netflix = self.preset == Some(Preset::Netflix);
        let name = self.algorithm.as_deref().unwrap_or(DEFAULT);
        match built_in(name).unwrap_or(DEFAULT) {
            "aimd" => {
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
                set(&mut settings.once_per_rtt, self.once_per_rtt);
                set(&mut settings.growth_bound, self.growth_bound);
                set(&mut settings.deviations, self.deviations);
                AlgorithmSettings::Aimd(settings)
            }
            "knee" => {
                let mut settings = KneeSettings::default();
                set(&mut settings.headroom, self.headroom);
                set(&mut settings.drain, self.drain);
                set(&mut settings.drop_share, self.drop_share);
                set(&mut settings.sensitivity, self.sensitivity);
                AlgorithmSettings::Knee(settings)
            }
            "vegas" => {
                let mut settings = if netflix {
                    VegasSettings::netflix()
                } else {
                    VegasSettings::default()
                };
                set(&mut settings.backoff_ratio, self.backoff_ratio);
                set(&mut settings.smoothing, self.smoothing);
                set(&mut settings.alpha, self.alpha);
                set(&mut settings.beta, self.beta);
                set(&mut settings.threshold, self.threshold);
                set(&mut settings.probe_multiplier, self.probe_multiplier);
                set(&mut settings.jitter, self.jitter);
                set(&mut settings.baseline, self.baseline);
                set(&mut settings.once_per_rtt, self.once_per_rtt);
                set(&mut settings.growth_bound, self.growth_bound);
                set(&mut settings.deviations, self.deviations);
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
                set(&mut settings.once_per_rtt, self.once_per_rtt);
                set(&mut settings.growth_bound, self.growth_bound);
                set(&mut settings.deviations, self.deviations);
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
    /// How calls are admitted.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            enabled: self.enabled,
            observed: self.mode == Mode::Observe,
            queues: !self.max_wait.is_zero(),
        }
    }

    /// How long and how many of them wait.
    pub(crate) fn patience(&self) -> Patience {
        Patience {
            max_wait: nanos(self.max_wait),
            queue_limit: self.queue_limit,
        }
    }

    /// When windows may close: what is set, and for the rest what the algorithm says.
    pub(crate) fn window_rule(&self, algorithms: WindowRule) -> WindowRule {
        WindowRule {
            duration: self.window.map_or(algorithms.duration, nanos),
            min_samples: self
                .min_window_samples
                .map_or(algorithms.min_samples, u64::from),
        }
    }

    /// The same as one would ask for it, every property that the algorithm has and whose value is known.
    pub(crate) fn asked(&self) -> LimitConfig {
        let rule = self.algorithm.window_rule();
        let bounds = LimitConfig {
            initial_limit: Some(self.bounds.initial()),
            min_limit: Some(self.bounds.min()),
            max_limit: Some(self.bounds.max()),
            window: self
                .window
                .or(rule.map(|rule| Duration::from_nanos(rule.duration))),
            enabled: Some(self.enabled),
            max_wait: Some(self.max_wait),
            queue_limit: Some(self.queue_limit),
            mode: Some(self.mode),
            ..LimitConfig::new()
        };
        match self.algorithm {
            AlgorithmSettings::Gradient2(Gradient2Settings {
                smoothing,
                queue_size,
                long_window,
                rtt_tolerance,
                backoff_ratio,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => bounds
                .smoothing(smoothing)
                .queue_size(queue_size)
                .long_window(long_window)
                .rtt_tolerance(rtt_tolerance)
                .backoff_ratio(backoff_ratio)
                .once_per_rtt(once_per_rtt)
                .growth_bound(growth_bound)
                .deviations(deviations),
            AlgorithmSettings::Aimd(AimdSettings {
                backoff_ratio,
                increase_by,
                latency_threshold_ns,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => LimitConfig {
                latency_threshold: latency_threshold_ns.map(Duration::from_nanos),
                ..bounds
                    .backoff_ratio(backoff_ratio)
                    .increase_by(increase_by)
                    .once_per_rtt(once_per_rtt)
                    .growth_bound(growth_bound)
                    .deviations(deviations)
            },
            AlgorithmSettings::Knee(KneeSettings {
                headroom,
                drain,
                drop_share,
                sensitivity,
                mechanisms: _,
            }) => bounds
                .headroom(headroom)
                .drain(drain)
                .drop_share(drop_share)
                .sensitivity(sensitivity),
            AlgorithmSettings::Vegas(VegasSettings {
                alpha,
                beta,
                threshold,
                smoothing,
                probe_multiplier,
                // One that nobody chose is the instance's own.
                jitter: _,
                baseline,
                backoff_ratio,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => bounds
                .alpha(alpha)
                .beta(beta)
                .threshold(threshold)
                .smoothing(smoothing)
                .probe_multiplier(probe_multiplier)
                .baseline(baseline)
                .backoff_ratio(backoff_ratio)
                .once_per_rtt(once_per_rtt)
                .growth_bound(growth_bound)
                .deviations(deviations),
            AlgorithmSettings::Custom { .. } => bounds,
        }
    }

    /// Whether the algorithm alone knows how long windows are and how many samples they need, where nothing is set.
    pub(crate) fn rule_is_the_algorithms(&self) -> bool {
        self.algorithm.window_rule().is_none()
    }

    /// Every property with its value, in words.
    fn properties(&self) -> Vec<(&'static str, String)> {
        let rule = self.algorithm.window_rule();
        let window = self
            .window
            .or(rule.map(|rule| Duration::from_nanos(rule.duration)));
        let samples = self
            .min_window_samples
            .map(u64::from)
            .or(rule.map(|rule| rule.min_samples));
        let of_the_algorithm = || "what the algorithm says".to_owned();
        let mut properties = vec![
            ("algorithm", format!("{:?}", self.algorithm.name())),
            ("initial_limit", self.bounds.initial().to_string()),
            ("min_limit", self.bounds.min().to_string()),
            ("max_limit", self.bounds.max().to_string()),
            (
                "window",
                window.map_or_else(of_the_algorithm, |window| format!("{window:?}")),
            ),
            (
                "min_window_samples",
                samples.map_or_else(of_the_algorithm, |samples| samples.to_string()),
            ),
            ("enabled", self.enabled.to_string()),
            ("max_wait", format!("{:?}", self.max_wait)),
            ("queue_limit", self.queue_limit.to_string()),
            ("mode", format!("{:?}", self.mode)),
            (
                "drop_on",
                self.drop_on
                    .as_ref()
                    .map_or_else(|| "the default".to_owned(), |kinds| format!("{kinds:?}")),
            ),
        ];
        properties.extend(self.algorithm.properties());
        properties
    }

    /// Whether a property, by its name in code, makes a difference to these settings.
    pub(crate) fn uses(&self, property: &str) -> bool {
        if ["preset", "deviations"].contains(&property) {
            return !matches!(
                self.algorithm,
                AlgorithmSettings::Custom { .. } | AlgorithmSettings::Knee(_)
            );
        }
        self.properties().iter().any(|(used, _)| *used == property)
    }

    /// Whether nothing differs, a custom algorithm's maker included.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.differences(other).is_empty() && self.algorithm.same(&other.algorithm)
    }

    /// What differs from the settings of another: property, this one's value, the other's value. Properties that only one
    /// of two algorithms has are not told beside the algorithms themselves.
    pub(crate) fn differences(&self, other: &Self) -> Vec<(&'static str, String, String)> {
        let theirs = other.properties();
        let both = self
            .properties()
            .into_iter()
            .filter_map(|(property, ours)| {
                let (_, theirs) = theirs.iter().find(|(theirs, _)| *theirs == property)?;
                Some((property, ours, theirs.clone()))
            });
        both.filter(|(_, ours, theirs)| ours != theirs).collect()
    }
}

impl AlgorithmSettings {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Custom { name, .. } => name,
            built_in => built_in.built_in_name(),
        }
    }

    /// The name, to be kept by others: one of a built-in algorithm costs nothing.
    pub(crate) fn owned_name(&self) -> Cow<'static, str> {
        match self {
            Self::Custom { name, .. } => name.to_string().into(),
            built_in => built_in.built_in_name().into(),
        }
    }

    fn built_in_name(&self) -> &'static str {
        match self {
            Self::Gradient2(_) => "gradient2",
            Self::Aimd(_) => "aimd",
            Self::Vegas(_) => "vegas",
            Self::Knee(_) => "knee",
            Self::Custom { .. } => unreachable!("the callers know a custom one's name"),
        }
    }

    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Custom { name, factory },
                Self::Custom {
                    name: other,
                    factory: others,
                },
            ) => name == other && Arc::ptr_eq(factory, others),
            _ => self.name() == other.name() && self.properties() == other.properties(),
        }
    }

    /// The tuning, property by property. Destructured, so that none is forgotten.
    fn properties(&self) -> Vec<(&'static str, String)> {
        let (mut properties, (once_per_rtt, growth_bound), deviations) = match *self {
            Self::Gradient2(Gradient2Settings {
                smoothing,
                queue_size,
                long_window,
                rtt_tolerance,
                backoff_ratio,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => (
                vec![
                    ("smoothing", smoothing.to_string()),
                    ("queue_size", format!("{queue_size:?}")),
                    ("long_window", long_window.to_string()),
                    ("rtt_tolerance", rtt_tolerance.to_string()),
                    ("backoff_ratio", backoff_ratio.to_string()),
                ],
                (once_per_rtt, growth_bound),
                deviations,
            ),
            Self::Aimd(AimdSettings {
                backoff_ratio,
                increase_by,
                latency_threshold_ns,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => (
                vec![
                    ("backoff_ratio", backoff_ratio.to_string()),
                    ("increase_by", increase_by.to_string()),
                    (
                        "latency_threshold",
                        format!("{:?}", latency_threshold_ns.map(Duration::from_nanos)),
                    ),
                ],
                (once_per_rtt, growth_bound),
                deviations,
            ),
            Self::Vegas(VegasSettings {
                alpha,
                beta,
                threshold,
                smoothing,
                probe_multiplier,
                jitter,
                baseline,
                backoff_ratio,
                once_per_rtt,
                growth_bound,
                deviations,
            }) => (
                vec![
                    ("alpha", format!("{alpha:?}")),
                    ("beta", format!("{beta:?}")),
                    ("threshold", format!("{threshold:?}")),
                    ("smoothing", smoothing.to_string()),
                    ("probe_multiplier", probe_multiplier.to_string()),
                    ("jitter", format!("{jitter:?}")),
                    ("baseline", format!("{baseline:?}")),
                    ("backoff_ratio", backoff_ratio.to_string()),
                ],
                (once_per_rtt, growth_bound),
                deviations,
            ),
            Self::Knee(KneeSettings {
                headroom,
                drain,
                drop_share,
                sensitivity,
                mechanisms: _,
            }) => {
                return vec![
                    ("headroom", headroom.to_string()),
                    ("drain", format!("{drain:?}")),
                    ("drop_share", drop_share.to_string()),
                    ("sensitivity", sensitivity.to_string()),
                ];
            }
            Self::Custom { .. } => return Vec::new(),
        };
        properties.extend([
            ("once_per_rtt", once_per_rtt.to_string()),
            ("growth_bound", format!("{growth_bound:?}")),
        ]);
        properties.extend(switches(deviations));
        properties
    }

    /// The window rule of a built-in algorithm; only a custom one itself knows its own.
    fn window_rule(&self) -> Option<WindowRule> {
        match self {
            Self::Gradient2(_) | Self::Aimd(_) | Self::Vegas(_) => Some(WindowRule::default()),
            Self::Knee(_) => Some(Knee::WINDOW_RULE),
            Self::Custom { .. } => None,
        }
    }
}

/// The switches with their values. Destructured, so that none is forgotten.
fn switches(deviations: Deviations) -> [(&'static str, String); 8] {
    let Deviations {
        skip_zero_latency,
        cut_on_drop,
        drops_teach_nothing,
        cut_once,
        whole_cuts,
        exact_averages,
        minimum_decides,
        no_queue_grows_most,
    } = deviations;
    [
        ("deviations.skip_zero_latency", skip_zero_latency),
        ("deviations.cut_on_drop", cut_on_drop),
        ("deviations.drops_teach_nothing", drops_teach_nothing),
        ("deviations.cut_once", cut_once),
        ("deviations.whole_cuts", whole_cuts),
        ("deviations.exact_averages", exact_averages),
        ("deviations.minimum_decides", minimum_decides),
        ("deviations.no_queue_grows_most", no_queue_grows_most),
    ]
    .map(|(switch, on)| (switch, on.to_string()))
}

impl fmt::Debug for AlgorithmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.name(), self.properties())
    }
}
