//! Lays settings over each other and finds what is wrong with the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::place::Place;
use crate::error::{Code, Origin, Problem, did_you_mean, listed};
use crate::limit::settings::{BUILT_IN, Factory, LimitSettings, built_in};
use crate::limit::{Kinds, LimitConfig};
use crate::outcome::overload::{KINDS, Overload, Predicate};

/// Settings of one level: from one place in the code, or gathered from the sources outside of it.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// What level: "defaults", "config `backend`", "attribute".
    pub(crate) what: String,
    pub(crate) origin: Origins,
    pub(crate) config: LimitConfig,
    /// Whether it is that of one limit, from outside of the code: the highest.
    pub(crate) is_of_one_instance: bool,
}

/// Where a layer's values were written.
#[derive(Clone, Debug)]
pub(crate) enum Origins {
    /// All of them.
    One(Origin),
    /// Each by its property's name.
    Each(BTreeMap<&'static str, Place>),
}

impl Layer {
    pub(crate) fn new(what: impl Into<String>, origin: Origins, config: LimitConfig) -> Self {
        Self {
            what: what.into(),
            origin,
            config,
            is_of_one_instance: false,
        }
    }

    /// "config `backend` at src/main.rs:3:5".
    pub(crate) fn place(&self) -> String {
        match self.origin {
            Origins::One(origin) => format!("{} at {origin}", self.what),
            Origins::Each(_) => self.what.clone(),
        }
    }

    /// The same for one of the properties that it sets.
    pub(crate) fn place_of(&self, property: &str) -> String {
        match &self.origin {
            Origins::Each(places) => match places.get(property) {
                Some(place) => format!("{} at {place}", self.what),
                None => self.what.clone(),
            },
            Origins::One(_) => self.place(),
        }
    }

    /// The same for the layer as a whole: where it begins.
    pub(crate) fn place_of_first(&self) -> String {
        match &self.origin {
            Origins::Each(places) => match places.values().min() {
                Some(first) => format!("{} at {first}", self.what),
                None => self.what.clone(),
            },
            Origins::One(_) => self.place(),
        }
    }

    /// Whether it sets nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.config == LimitConfig::new()
    }

    /// The values that cannot be used, whatever they are laid over.
    pub(crate) fn problems(&self, named: &Named<'_>) -> Vec<Problem> {
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
                    self.place_of(found.property)
                );
                Problem::new(Code::INVALID_SETTING, text)
            })
            .collect();
        if let Some(name) = &self.config.algorithm
            && named.find(name).is_none()
        {
            let hint = did_you_mean(name, named.algorithms())
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            let known: Vec<_> = named.algorithms().collect();
            let text = format!(
                "`algorithm` is \"{name}\", allowed is one of {}; in {}{hint}",
                known.join(", "),
                self.place_of("algorithm")
            );
            problems.push(Problem::new(Code::UNKNOWN_ALGORITHM, text));
        }
        for name in self.config.drop_on.iter().flat_map(Kinds::iter) {
            if !named.knows_kind(name) {
                let hint = did_you_mean(name, named.kinds())
                    .map(|hint| format!("; {hint}"))
                    .unwrap_or_default();
                let text = format!(
                    "`drop_on` names the kind of errors \"{name}\", known are {}; in {}{hint}",
                    listed(named.kinds()),
                    self.place_of("drop_on")
                );
                problems.push(Problem::new(Code::UNKNOWN_KIND, text));
            }
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
                    let text = match self.origin {
                        Origins::One(_) => format!(
                            "`{upper}` ({above}) is below `{lower}` ({below}); in {}",
                            self.place()
                        ),
                        Origins::Each(_) => format!(
                            "`{upper}` ({above}, from {}) is below `{lower}` ({below}, from {})",
                            self.place_of(upper),
                            self.place_of(lower)
                        ),
                    };
                    Problem::new(Code::INVALID_SETTING, text)
                })
            });
        contradictory.collect()
    }
}

/// Why a name cannot be used, as the attribute refuses it too.
pub(crate) fn illegible(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("is empty")
    } else if name.contains(char::is_control) {
        Some("contains a control character, which would garble logs and messages")
    } else {
        None
    }
}

/// What settings can name.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) algorithms: &'a BTreeMap<String, Factory>,
    pub(crate) kinds: &'a BTreeMap<String, Predicate>,
}

pub(crate) enum Found {
    BuiltIn,
    Custom(Arc<str>, Factory),
}

impl Named<'_> {
    fn algorithms(&self) -> impl Iterator<Item = &str> {
        BUILT_IN
            .into_iter()
            .chain(self.algorithms.keys().map(String::as_str))
    }

    fn kinds(&self) -> impl Iterator<Item = &str> {
        KINDS
            .into_iter()
            .chain(self.kinds.keys().map(String::as_str))
    }

    fn knows_kind(&self, name: &str) -> bool {
        KINDS.contains(&name) || self.kinds.contains_key(name)
    }

    /// A built-in one by its relaxed name, else a custom one by its exact name.
    fn find(&self, name: &str) -> Option<Found> {
        if built_in(name).is_some() {
            return Some(Found::BuiltIn);
        }
        self.algorithms
            .get_key_value(name)
            .map(|(name, factory)| Found::Custom(name.as_str().into(), factory.clone()))
    }
}

/// Lays the layers over each other, lowest first, and decides every property.
///
/// Each property comes from the highest layer that sets it; a name that is no algorithm and values out of range are told
/// for every layer, even where a higher one covers them.
pub(crate) fn resolve(layers: &[&Layer], named: &Named<'_>) -> Result<LimitSettings, Vec<Problem>> {
    let problems: Vec<Problem> = layers
        .iter()
        .flat_map(|layer| layer.problems(named))
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
        highest.map_or_else(
            || "the built-in default".to_owned(),
            |layer| layer.place_of(property),
        )
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    match merged.bounds() {
        Ok(bounds) => {
            let custom = match merged
                .algorithm
                .as_deref()
                .and_then(|name| named.find(name))
            {
                Some(Found::Custom(name, factory)) => Some((name, factory)),
                _ => None,
            };
            let over_patterns = layers
                .last()
                .is_some_and(|top| top.is_of_one_instance && top.config.drop_on.is_some());
            let drop_on = merged
                .drop_on
                .as_ref()
                .map(|names| Overload::new(names.iter(), named.kinds, over_patterns));
            Ok(merged.settle(bounds, custom, drop_on))
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
