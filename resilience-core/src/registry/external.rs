//! What the sources outside of the code say, ready to be laid between the layers of the code.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::layers::{Layer, Origins};
use crate::config::layers::{self, Patched, Setting};
use crate::config::patch::{Patch, Property};
use crate::config::place::Place;
use crate::config::quote::named;
use crate::config::source::environment::spelt;
use crate::error::{Code, Problem, did_you_mean};
use crate::id::Id;
use crate::limit::LimitConfig;
use crate::limit::settings::LimitSettings;

/// The settings from outside.
#[derive(Debug, Default)]
pub(crate) struct External {
    pub(crate) defaults: Option<Layer>,
    pub(crate) configs: BTreeMap<Arc<str>, Layer>,
    pub(crate) instances: BTreeMap<Arc<str>, Layer>,
    /// The config that an instance is told to take, in the place of the one that it asks for.
    pub(crate) chosen: BTreeMap<Arc<str>, (String, Place)>,
    /// The ids that variables are about, as they spell them.
    spelt_ids: BTreeSet<String>,
    /// The ids that were known when the variables were read.
    known_ids: HashSet<Id>,
}

impl External {
    pub(crate) fn new(
        outside: layers::External<LimitConfig>,
        spelt_ids: BTreeSet<String>,
        known_ids: &[Id],
    ) -> Self {
        let layers::External {
            defaults,
            configs,
            instances,
        } = outside;
        let mut external = Self {
            defaults: Some(layer("defaults".to_owned(), defaults)),
            spelt_ids,
            known_ids: known_ids.iter().cloned().collect(),
            ..Self::default()
        };
        for (name, patched) in configs {
            let layer = layer(format!("config {}", named(&name)), patched);
            external.configs.insert(name, layer);
        }
        for (id, mut patched) in instances {
            if let Some(Setting { text, place }) = patched.config.take() {
                external.chosen.insert(id.clone(), (text, place));
            }
            let mut layer = layer(format!("instance {}", named(&id)), patched);
            layer.is_of_one_instance = true;
            external.instances.insert(id, layer);
        }
        external
    }

    /// Whether there may be variables about an id that was not known when they were read.
    pub(crate) fn may_know_more(&self, id: &Id) -> bool {
        !self.spelt_ids.is_empty()
            && !self.known_ids.contains(id)
            && self.spelt_ids.contains(&spelt(id.as_str()))
    }

    /// Bounds of one layer that no other layer can put in order.
    pub(crate) fn contradictions(&self) -> Vec<Problem> {
        self.layers().flat_map(Layer::contradictions).collect()
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        let named = self.configs.values().chain(self.instances.values());
        self.defaults.iter().chain(named)
    }

    /// The ids that something is set for and that members of a family could have, each with its key.
    pub(crate) fn members_of<'a>(
        &'a self,
        family: &'a Id,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let ids: BTreeSet<&str> = self
            .instances
            .keys()
            .chain(self.chosen.keys())
            .map(|id| &**id)
            .collect();
        ids.into_iter().filter_map(move |id| {
            let key = id.strip_prefix(family.as_str())?.strip_prefix('/')?;
            Some((id, key))
        })
    }

    /// The settings for instances that nothing has.
    pub(crate) fn of_no_instance(&self, ids: &[Id]) -> Vec<Problem> {
        let known: HashSet<&str> = ids.iter().map(Id::as_str).collect();
        let strange = self
            .instances
            .iter()
            .filter(|(id, _)| !known.contains(&***id));
        let problem = |(id, layer): (&Arc<str>, &Layer)| {
            let place = match self.chosen.get(id) {
                Some((_, place)) if layer.is_empty() => format!("{} at {place}", layer.what),
                _ => layer.place_of_first(),
            };
            let hint = did_you_mean(id, known.iter().copied());
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let text = format!("{place} is set, and nothing has that id{hint}");
            Problem::new(Code::CONFIG_UNKNOWN_INSTANCE, text)
        };
        strange.map(problem).collect()
    }

    /// What is set for an instance alone and changes nothing, since its algorithm has no such setting.
    pub(crate) fn without_effect(&self, id: &Id, settings: &LimitSettings) -> Vec<Problem> {
        let Some(layer) = self.instances.get(id.as_str()) else {
            return Vec::new();
        };
        let unused = LimitConfig::properties()
            .iter()
            .filter(|property| layer.config.sets(property.field) && !settings.uses(property.field));
        let problem = |property: &Property<LimitConfig>| {
            let text = format!(
                "`{}` has no effect with the algorithm {}; in {}",
                property.name,
                settings.algorithm.name(),
                layer.place_of(property.field),
            );
            Problem::new(Code::CONFIG_NO_EFFECT, text)
        };
        unused.map(problem).collect()
    }
}

fn layer(what: String, patched: Patched<LimitConfig>) -> Layer {
    let places = patched.settings.into_iter().filter_map(|(name, setting)| {
        let property = Property::<LimitConfig>::find(name)?;
        Some((property.field, setting.place))
    });
    Layer::new(what, Origins::Each(places.collect()), patched.patch)
}
