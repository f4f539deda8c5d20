//! What all sources say together: for every section and id one patch of settings, and where each value is from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::key::{CONFIG, Key, Meaning, Schema, Section};
use super::patch::{Context, Patch, Property};
use super::place::Place;
use super::quote::{named, quoted};
use super::source::{Unfit, Written};
use super::value::{self, WrongValue};
use crate::error::{Code, Problem};

/// A value under a key that is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    /// The key as it was written, for messages.
    pub(crate) written: Arc<str>,
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// What is wrong, and what is merely worth a word.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

impl Findings {
    pub(super) fn problem(&mut self, code: Code, text: String) {
        self.problems.push(Problem::new(code, text));
    }

    pub(super) fn warning(&mut self, code: Code, text: String) {
        self.warnings.push(Problem::new(code, text));
    }

    /// Says what a key that is of no use means; hands back the one that is. `left_out` is said of one without a policy.
    pub(super) fn sift(
        &mut self,
        meaning: Meaning,
        written: &str,
        place: &Place,
        left_out: impl FnOnce() -> Option<String>,
    ) -> Option<Key> {
        match meaning {
            Meaning::Ours(key) => return Some(key),
            Meaning::NotOurs => {}
            Meaning::OtherPolicy => {
                let hint = left_out().map(|hint| format!("; {hint}"));
                let text = format!(
                    "{} is of no policy that is known, and has no effect{}{}",
                    named(written),
                    place.after_key(),
                    hint.unwrap_or_default()
                );
                self.warning(Code::CONFIG_OTHER_POLICY, text);
            }
            Meaning::Fault(fault) => {
                let (says, hint) = fault.says();
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                self.problem(
                    fault.code(),
                    format!("{} {says}{}{hint}", named(written), place.after_key()),
                );
            }
        }
        None
    }
}

/// Reads the keys of a source.
pub(crate) fn understand(
    schema: &Schema,
    written: Vec<Written>,
    findings: &mut Findings,
) -> Vec<Entry> {
    let entries = written.into_iter().filter_map(
        |Written {
             key: written,
             text,
             unfit,
             place,
         }| {
            let meaning = schema.read(&written, &text);
            let is_wrong = |unfit: &Unfit| match meaning {
                Meaning::NotOurs => false,
                Meaning::Ours(_) => true,
                Meaning::OtherPolicy | Meaning::Fault(_) => unfit.hides_settings(),
            };
            if let Some(unfit) = unfit.filter(is_wrong) {
                let text = format!("{} {unfit}{}", named(&written), place.after_key());
                findings.problem(Code::CONFIG_WRONG_VALUE, text);
                return None;
            }
            let left_out = || schema.left_out(written.split('.'));
            let key = findings.sift(meaning, &written, &place, left_out)?;
            Some(Entry {
                key,
                written: written.into(),
                text,
                place,
            })
        },
    );
    entries.collect()
}

/// A value that is set, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// What all sources set for one section and id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Patched<P> {
    pub(crate) patch: P,
    /// By canonical name, and only those that are valid.
    pub(crate) settings: BTreeMap<&'static str, Setting>,
    /// The config that an instance is based on.
    pub(crate) config: Option<Setting>,
}

/// The settings of one policy from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct External<P> {
    pub(crate) defaults: Patched<P>,
    pub(crate) configs: BTreeMap<Arc<str>, Patched<P>>,
    pub(crate) instances: BTreeMap<Arc<str>, Patched<P>>,
}

impl<P: Patch> External<P> {
    /// Lays the sources over each other, lowest first. Every value is checked, also one that a later source covers; those
    /// that are wrong are left out.
    pub(crate) fn collect(
        sources: &[Vec<Entry>],
        context: &Context<'_>,
        findings: &mut Findings,
    ) -> Self {
        let mut external = Self::default();
        for source in sources {
            let mut seen: BTreeMap<&Key, &Entry> = BTreeMap::new();
            for entry in source.iter().filter(|entry| entry.key.policy == P::POLICY) {
                if let Some(first) = seen.get(&entry.key) {
                    findings.problem(Code::CONFIG_GIVEN_TWICE, given_twice(first, entry));
                    continue;
                }
                seen.insert(&entry.key, entry);
                external.take(entry, context, findings);
            }
        }
        external
    }

    fn take(&mut self, entry: &Entry, context: &Context<'_>, findings: &mut Findings) {
        let patched = match &entry.key.section {
            Section::Defaults => &mut self.defaults,
            Section::Config(name) => self.configs.entry(name.clone()).or_default(),
            Section::Instance(id) => self.instances.entry(id.clone()).or_default(),
        };
        let setting = |text: &str| Setting {
            text: text.to_owned(),
            place: entry.place.clone(),
        };
        if entry.key.property == CONFIG {
            match value::name(&entry.text) {
                Ok(name) => patched.config = Some(setting(name)),
                Err(wrong) => {
                    let allowed = "the name of a config";
                    findings.problem(wrong.code, wrong_value(entry, allowed, &wrong));
                }
            }
            return;
        }
        let Some(property) = Property::<P>::find(entry.key.property) else {
            debug_assert!(false, "the schema has a property that the patch has not");
            return;
        };
        // Over a fresh one, so that a text never completes what an earlier one began.
        let mut higher = P::default();
        match (property.set)(&mut higher, &entry.text, context) {
            Ok(()) => {
                patched.patch.overlay(&higher);
                patched
                    .settings
                    .insert(property.name, setting(entry.text.trim_ascii()));
            }
            Err(wrong) => {
                findings.problem(wrong.code, wrong_value(entry, &property.allowed(), &wrong));
            }
        }
    }
}

fn given_twice(first: &Entry, second: &Entry) -> String {
    let spelt = if first.written == second.written {
        String::new()
    } else {
        format!(" as {}", named(&first.written))
    };
    format!(
        "{} is given twice: {} at {}, before{spelt} {} at {}",
        named(&second.written),
        quoted(&second.text),
        second.place,
        quoted(&first.text),
        first.place,
    )
}

fn wrong_value(entry: &Entry, allowed: &str, wrong: &WrongValue) -> String {
    let hint = wrong
        .hint
        .as_deref()
        .map(|hint| format!("; {hint}"))
        .unwrap_or_default();
    format!(
        "{} is {}, allowed is {allowed}{}{hint}",
        named(&entry.written),
        quoted(&entry.text),
        entry.place.after_key(),
    )
}

#[cfg(test)]
mod tests;
