//! Lays settings over each other and finds what is wrong with the result.

use std::sync::Arc;

use crate::error::{Code, Origin, Problem, did_you_mean};
use crate::limit::LimitConfig;
use crate::limit::settings::{BUILT_IN, Factory, LimitSettings, built_in};

/// Settings from one place.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// What kind of place: "defaults", "config `backend`", "attribute".
    pub(crate) what: String,
    pub(crate) origin: Option<Origin>,
    pub(crate) config: LimitConfig,
}

impl Layer {
    pub(crate) fn new(
        what: impl Into<String>,
        origin: Option<Origin>,
        config: LimitConfig,
    ) -> Self {
        Self {
            what: what.into(),
            origin,
            config,
        }
    }

    /// "config `backend` at src/main.rs:3:5".
    pub(crate) fn place(&self) -> String {
        match self.origin {
            Some(origin) => format!("{} at {origin}", self.what),
            None => self.what.clone(),
        }
    }

    /// The values that cannot be used, whatever they are laid over.
    pub(crate) fn problems(&self, algorithms: &Algorithms<'_>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self
            .config
            .out_of_range()
            .into_iter()
            .map(|found| {
                let text = format!(
                    "`{}` is {}, allowed is {}; in {}",
                    found.property,
                    found.value,
                    found.range,
                    self.place()
                );
                Problem::new(Code::INVALID_SETTING, text)
            })
            .collect();
        if let Some(name) = &self.config.algorithm
            && algorithms.find(name).is_none()
        {
            let hint = did_you_mean(name, algorithms.names())
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            let names: Vec<_> = algorithms.names().collect();
            let text = format!(
                "`algorithm` is \"{name}\", allowed is one of {}; in {}{hint}",
                names.join(", "),
                self.place()
            );
            problems.push(Problem::new(Code::UNKNOWN_ALGORITHM, text));
        }
        problems
    }

    /// The bounds of this layer alone that contradict each other: no layer above can mean both.
    pub(crate) fn contradictions(&self) -> Vec<Problem> {
        let LimitConfig {
            initial_limit,
            min_limit,
            max_limit,
            ..
        } = self.config;
        let pairs = [
            ("max_limit", max_limit, "min_limit", min_limit),
            ("initial_limit", initial_limit, "min_limit", min_limit),
            ("max_limit", max_limit, "initial_limit", initial_limit),
        ];
        let contradictory = pairs
            .into_iter()
            .filter_map(|(upper, above, lower, below)| {
                let (above, below) = (above?, below?);
                (above < below).then(|| {
                    let text = format!(
                        "`{upper}` ({above}) is below `{lower}` ({below}); in {}",
                        self.place()
                    );
                    Problem::new(Code::INVALID_SETTING, text)
                })
            });
        contradictory.collect()
    }
}

/// The algorithms that can be named.
pub(crate) struct Algorithms<'a>(pub(crate) &'a std::collections::BTreeMap<String, Factory>);

pub(crate) enum Found {
    BuiltIn,
    Custom(Arc<str>, Factory),
}

impl Algorithms<'_> {
    fn names(&self) -> impl Iterator<Item = &str> {
        BUILT_IN
            .into_iter()
            .chain(self.0.keys().map(String::as_str))
    }

    /// A built-in one by its relaxed name, else a custom one by its exact name.
    fn find(&self, name: &str) -> Option<Found> {
        if built_in(name).is_some() {
            return Some(Found::BuiltIn);
        }
        self.0
            .get_key_value(name)
            .map(|(name, factory)| Found::Custom(name.as_str().into(), factory.clone()))
    }
}

/// Lays the layers over each other, lowest first, and decides every property.
///
/// Each property comes from the highest layer that sets it; a name that is no algorithm and values out of range are told
/// for every layer, even where a higher one covers them.
pub(crate) fn resolve(
    layers: &[&Layer],
    algorithms: &Algorithms<'_>,
) -> Result<LimitSettings, Vec<Problem>> {
    let problems: Vec<Problem> = layers
        .iter()
        .flat_map(|layer| layer.problems(algorithms))
        .collect();
    let mut merged = LimitConfig::new();
    for layer in layers {
        merged.overlay(&layer.config);
    }
    let from = |property: &str| {
        let highest = layers
            .iter()
            .rev()
            .find(|layer| layer.config.sets(property));
        highest.map_or_else(|| "the built-in default".to_owned(), |layer| layer.place())
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    match merged.bounds() {
        Ok(bounds) => {
            let custom = match merged
                .algorithm
                .as_deref()
                .and_then(|name| algorithms.find(name))
            {
                Some(Found::Custom(name, factory)) => Some((name, factory)),
                _ => None,
            };
            Ok(merged.settle(bounds, custom))
        }
        Err(found) => {
            let text = format!(
                "`{}` ({}, from {}) is {} `{}` ({}, from {})",
                found.property,
                found.value,
                from(found.property),
                found.relation,
                found.other,
                found.other_value,
                from(found.other),
            );
            Err(vec![Problem::new(Code::INVALID_SETTING, text)])
        }
    }
}
