//! The options' names.

use std::fmt;

/// An option of the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    Config,
    Algorithm,
    InitialLimit,
    MinLimit,
    MaxLimit,
    Window,
    Enabled,
    MaxWait,
    QueueLimit,
    Mode,
    DropOn,
    DropIf,
    Rejected,
    Registry,
    Crate,
}

const KEYS: [(&str, Key); 16] = [
    ("name", Key::Name),
    ("config", Key::Config),
    ("algorithm", Key::Algorithm),
    ("initial_limit", Key::InitialLimit),
    ("min_limit", Key::MinLimit),
    ("max_limit", Key::MaxLimit),
    ("window", Key::Window),
    ("enabled", Key::Enabled),
    ("max_wait", Key::MaxWait),
    ("queue_limit", Key::QueueLimit),
    ("mode", Key::Mode),
    ("drop_on", Key::DropOn),
    ("drop_if", Key::DropIf),
    ("rejected", Key::Rejected),
    ("registry", Key::Registry),
    ("crate", Key::Crate),
];

/// Settings that are no options. They tune an algorithm by what was measured in operation, and so belong where they can be
/// changed without compiling anew.
pub(crate) const CONFIGURED: [&str; 22] = [
    "min_window_samples",
    "preset",
    "backoff_ratio",
    "smoothing",
    "rtt_tolerance",
    "queue_size",
    "long_window",
    "increase_by",
    "alpha",
    "beta",
    "threshold",
    "probe_multiplier",
    "jitter",
    "baseline",
    "deviations",
    "latency_threshold",
    "once_per_rtt",
    "growth_bound",
    "headroom",
    "drain",
    "drop_share",
    "sensitivity",
];

/// Returns the options' names.
pub(crate) fn names() -> Vec<&'static str> {
    KEYS.map(|(name, _)| name).into()
}

impl Key {
    /// Returns the option of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        KEYS.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, key)| *key)
    }

    /// Says that there is no such option, and what was probably meant.
    pub(crate) fn unknown(name: &str) -> String {
        let names = names();
        let known = [names.as_slice(), &CONFIGURED].concat();
        match nearest(name, &known) {
            Some(near) if CONFIGURED.contains(&near) => format!(
                "`{name}` is no option of the attribute; set it in configuration, by `LimitConfig::{near}`, and name that with `config = \"…\"`"
            ),
            Some(near) => format!("unknown option `{name}`; did you mean `{near}`?"),
            None => format!("unknown option `{name}`; the options are {}", list(&names)),
        }
    }

    /// Returns the option as one would write it.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Name => "name = \"orders\"",
            Self::Config => "config = \"partners\"",
            Self::Algorithm => "algorithm = \"aimd\"",
            Self::InitialLimit => "initial_limit = 20",
            Self::MinLimit => "min_limit = 1",
            Self::MaxLimit => "max_limit = 200",
            Self::Window => "window = \"1s\"",
            Self::Enabled => "enabled = true",
            Self::MaxWait => "max_wait = \"50ms\"",
            Self::QueueLimit => "queue_limit = 100",
            Self::Mode => "mode = \"observe\"",
            Self::DropOn => "drop_on = [ApiError::Timeout]",
            Self::DropIf => "drop_if = is_overload",
            Self::Rejected => "rejected = on_rejection",
            Self::Registry => "registry = my_registry()",
            Self::Crate => "crate = ::resilience",
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = KEYS[*self as usize];
        write!(f, "`{name}`")
    }
}

/// Returns a name's letters as configuration compares them: without regard to case, `-` and `_`.
pub(crate) fn canonical(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the known name that a misspelt one most likely stands for, unless none is near: one change for every three
/// letters given, at least one and at most three. The registry has the same rule.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let fold = |text: &str| canonical(text).replace(' ', "");
    let name = fold(name);
    let farthest = (name.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(&name, &fold(known)), *known))
        .filter(|(distance, _)| !name.is_empty() && *distance <= farthest)
        .min()
        .map(|(_, known)| known)
}

/// Writes names as a list for a message.
pub(crate) fn list(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
