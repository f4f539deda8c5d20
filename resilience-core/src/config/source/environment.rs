//! Reads variables: `RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT`.
//!
//! A variable's name says less than an id does: `ORDERS_AIMD` is `orders-aimd` as well as `orders_aimd`. So nothing is
//! guessed from the name; the ids that are known are spelt as variables and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use crate::config::key::{Key, Meaning, Schema, Section};
use crate::config::layers::{Entry, Findings};
use crate::config::place::Place;
use crate::config::quote::quoted;
use crate::error::{Code, did_you_mean, listed};

const PREFIX: &str = "RESILIENCE__";

/// The ids and the names of configs that variables may be about, by how variables spell them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    configs: BTreeMap<String, Vec<Arc<str>>>,
    instances: BTreeMap<String, Vec<Arc<str>>>,
}

/// Returns how a variable spells an id: letters in upper case, digits, and `_` for anything else.
pub(crate) fn spelt(id: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
        _ => '_',
    };
    id.chars().map(letter).collect()
}

/// Whether a variable is meant for us: it is ours, or would be if it were spelt right.
pub(crate) fn is_meant(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(PREFIX) || is_misspelt(&name)
}

/// Whether a variable names one of our sections with a single `_` before it.
fn is_misspelt(name: &str) -> bool {
    let section = name.strip_prefix("RESILIENCE_").unwrap_or_default();
    ["CONFIGS_", "DEFAULTS_", "INSTANCES_"]
        .iter()
        .any(|known| section.starts_with(known))
}

/// The ids that variables are about, as they spell them.
pub(crate) fn spelt_ids<'a>(
    names: impl IntoIterator<Item = &'a OsStr>,
    schema: &Schema,
) -> BTreeSet<String> {
    let spelt = |name: &OsStr| {
        let name = name.to_string_lossy();
        match schema.read_variable(name.strip_prefix(PREFIX)?) {
            Meaning::Ours(Key {
                section: Section::Instance(spelt),
                ..
            }) => Some(spelt.to_string()),
            _ => None,
        }
    };
    names.into_iter().filter_map(spelt).collect()
}

impl Names {
    pub(crate) fn add_config(&mut self, name: &str) {
        add(&mut self.configs, name);
    }

    pub(crate) fn add_instance(&mut self, id: &str) {
        add(&mut self.instances, id);
    }

    /// Adds those that a source names.
    pub(crate) fn add_all(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.key.section {
                Section::Defaults => {}
                Section::Config(name) => self.add_config(name),
                Section::Instance(id) => self.add_instance(id),
            }
        }
    }
}

fn add(names: &mut BTreeMap<String, Vec<Arc<str>>>, name: &str) {
    let same = names.entry(spelt(name)).or_default();
    if let Err(at) = same.binary_search_by(|known| (**known).cmp(name)) {
        same.insert(at, name.into());
    }
}

/// Reads the variables that are meant for us, in the order of their names.
///
/// One whose id nobody knows is a warning: the function that has it may not have been called so far.
pub(crate) fn read(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    schema: &Schema,
    names: &Names,
    findings: &mut Findings,
) -> Vec<Entry> {
    let mut ours = BTreeMap::new();
    for (name, value) in variables {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with(PREFIX) {
            ours.insert(name, value);
        } else if is_misspelt(&name) {
            let text = format!(
                "variable {name} has no effect: a name is {PREFIX}<section>__<name>__<policy>__<property>, with two `_` \
                 between its parts"
            );
            findings.warning(Code::CONFIG_VARIABLE_UNMATCHED, text);
        }
    }
    let entries = ours
        .into_iter()
        .filter_map(|(name, value)| read_one(&name, value, schema, names, findings));
    entries.collect()
}

fn read_one(
    name: &str,
    value: OsString,
    schema: &Schema,
    names: &Names,
    findings: &mut Findings,
) -> Option<Entry> {
    let place = Place::Variable(name.into());
    let meaning = schema.read_variable(&name[PREFIX.len()..]);
    if meaning == Meaning::NotOurs {
        let text = format!(
            "{place} has no known section; a name is {PREFIX}DEFAULTS__<policy>__<property>, or with CONFIGS or INSTANCES \
             and a name in between"
        );
        findings.problem(Code::CONFIG_UNKNOWN_SECTION, text);
        return None;
    }
    let left_out = || schema.left_out(name[PREFIX.len()..].split("__"));
    let key = findings.sift(meaning, name, &place, left_out)?;
    let section = match &key.section {
        Section::Defaults => Some(Section::Defaults),
        Section::Config(spelt) => {
            find("config", spelt, &names.configs, &place, findings).map(Section::Config)
        }
        Section::Instance(spelt) => {
            find("instance", spelt, &names.instances, &place, findings).map(Section::Instance)
        }
    };
    let Ok(text) = value.into_string() else {
        findings.problem(
            Code::CONFIG_WRONG_VALUE,
            format!("the value of {place} is not UTF-8"),
        );
        return None;
    };
    Some(Entry {
        key: Key {
            section: section?,
            ..key
        },
        written: name.into(),
        text,
        place,
    })
}

fn find(
    what: &str,
    spelt: &str,
    names: &BTreeMap<String, Vec<Arc<str>>>,
    place: &Place,
    findings: &mut Findings,
) -> Option<Arc<str>> {
    match names.get(spelt).map(Vec::as_slice) {
        Some([one]) => Some(one.clone()),
        Some(several) => {
            let text = format!(
                "{place} is about more than one {what}: {}; set them in a file",
                listed(several.iter().map(|name| &**name))
            );
            findings.problem(Code::CONFIG_VARIABLE_AMBIGUOUS, text);
            None
        }
        None => {
            let hint = did_you_mean(spelt, names.keys().map(String::as_str));
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let text = format!(
                "{place} is about no known {what}: none is spelt {}{hint}",
                quoted(spelt)
            );
            findings.warning(Code::CONFIG_VARIABLE_UNMATCHED, text);
            None
        }
    }
}

#[cfg(test)]
mod tests;
