//! What a key means: `<section>[.<id>].<policy>.<property>`.
//!
//! Keys are split from the right, so an id may hold dots. Case, `-` and `_` are ignored in the names of sections, policies
//! and properties; ids are exact.

use std::sync::Arc;

use super::patch::Patch;
use super::quote::quoted;
use crate::error::{Code, did_you_mean, listed};

/// A property of instances alone: the config that they are based on.
pub(crate) const CONFIG: &str = "config";

/// Longer keys are refused, in bytes: the longest paths of functions are far below.
const LONGEST: usize = 4096;

const SECTIONS: [&str; 3] = ["configs", "defaults", "instances"];

/// Whom a value is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Defaults,
    Config(Arc<str>),
    Instance(Arc<str>),
}

/// A key in its canonical form: two keys that differ only in what is ignored are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) section: Section,
    pub(crate) policy: &'static str,
    /// One of the policy's properties, or [`CONFIG`].
    pub(crate) property: &'static str,
}

/// What came of reading a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Ours(Key),
    /// Begins as a key of ours, but is of no policy that is known here: said, and passed over.
    OtherPolicy,
    /// Somebody else's setting in the same file.
    NotOurs,
    Fault(KeyFault),
}

/// Why a key that is meant for us says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyFault {
    TooLong,
    NameMissing {
        section: &'static str,
    },
    DefaultsTakeNoName {
        name: String,
    },
    ReservedConfigName {
        name: String,
    },
    ConfigNotAllowedHere,
    UnknownSection {
        given: String,
    },
    UnknownPolicy {
        given: String,
        hint: Option<String>,
    },
    UnknownProperty {
        policy: &'static str,
        given: String,
        known: String,
        hint: Option<String>,
    },
    Incomplete,
    /// The file's separator stood inside of what was meant as the key.
    EndsEarly {
        rest: String,
    },
}

/// The policies that are known, each with its canonical name and those of its properties.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    policies: Vec<(&'static str, Vec<&'static str>)>,
}

/// The parts of a key; the id is `None` where there is no part between section and policy.
struct Parts<'a> {
    section: &'a str,
    id: Option<&'a str>,
    policy: &'a str,
    property: &'a str,
}

/// Whether two names are the same but for case, `-` and `_`.
pub(super) fn same_name(left: &str, right: &str) -> bool {
    let letters = |name: &str| -> Vec<u8> {
        name.bytes()
            .filter(|byte| !matches!(byte, b'-' | b'_'))
            .map(|byte| byte.to_ascii_lowercase())
            .collect()
    };
    // A name that is far longer is another: hostile ones are not copied.
    left.len() <= 2 * LONGEST && letters(left) == letters(right)
}

/// Whether a config may not be called this, since it would be taken for the defaults.
pub(super) fn is_reserved(name: &str) -> bool {
    ["default", "defaults"]
        .iter()
        .any(|reserved| name.eq_ignore_ascii_case(reserved))
}

fn section(name: &str) -> Option<&'static str> {
    SECTIONS.into_iter().find(|known| same_name(name, known))
}

impl Schema {
    /// Adds a policy with its properties, by their canonical names.
    pub(super) fn policy(
        mut self,
        name: &'static str,
        properties: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        self.policies.push((name, properties.into_iter().collect()));
        self
    }

    /// Adds a policy by its settings.
    pub(crate) fn with<P: Patch>(self) -> Self {
        self.policy(
            P::POLICY,
            P::properties().iter().map(|property| property.name),
        )
    }

    /// Reads the key of a file. The value helps to see that the file's separator cut the key short.
    pub(crate) fn read(&self, key: &str, value: &str) -> Meaning {
        match (self.read_whole(key), self.cut_short(key, value)) {
            (Meaning::Ours(key), _) => Meaning::Ours(key),
            (_, Some(rest)) => Meaning::Fault(KeyFault::EndsEarly { rest }),
            (meaning, None) => meaning,
        }
    }

    fn read_whole(&self, key: &str) -> Meaning {
        let Some((head, property)) = key.rsplit_once('.') else {
            return match section(key) {
                Some(_) => Meaning::OtherPolicy,
                None => Meaning::NotOurs,
            };
        };
        let (head, policy) = head.rsplit_once('.').unwrap_or(("", head));
        let (section, id) = match head.split_once('.') {
            Some((section, id)) => (section, Some(id)),
            None => (head, None),
        };
        if self.is_unfinished(key) {
            return Meaning::Fault(KeyFault::Incomplete);
        }
        if head.is_empty() && self::section(policy).is_some() {
            return Meaning::OtherPolicy;
        }
        let parts = Parts {
            section,
            id,
            policy,
            property,
        };
        if key.len() > LONGEST && self.read_parts(&parts) != Meaning::NotOurs {
            return Meaning::Fault(KeyFault::TooLong);
        }
        self.read_parts(&parts)
    }

    /// Reads the name of a variable, without its prefix, cut at `__`; whose id it is stays in the variable's spelling.
    pub(crate) fn read_variable(&self, name: &str) -> Meaning {
        let parts = name.rsplit_once("__").and_then(|(head, property)| {
            let (head, policy) = head.rsplit_once("__")?;
            let (section, id) = match head.split_once("__") {
                Some((section, id)) => (section, Some(id)),
                None => (head, None),
            };
            Some(Parts {
                section,
                id,
                policy,
                property,
            })
        });
        match parts {
            Some(_) if name.len() > LONGEST => Meaning::Fault(KeyFault::TooLong),
            Some(parts) => self.read_parts(&parts),
            None => Meaning::NotOurs,
        }
    }

    fn read_parts(&self, parts: &Parts<'_>) -> Meaning {
        let Some(section) = section(parts.section) else {
            return match self.find(parts.policy) {
                Some(_) => Meaning::Fault(KeyFault::UnknownSection {
                    given: parts.section.to_owned(),
                }),
                None => Meaning::NotOurs,
            };
        };
        let Some((policy, properties)) = self.find(parts.policy) else {
            let names = self.policies.iter().map(|(name, _)| *name);
            return match did_you_mean(parts.policy, names) {
                Some(hint) => Meaning::Fault(KeyFault::UnknownPolicy {
                    given: parts.policy.to_owned(),
                    hint: Some(hint),
                }),
                None => Meaning::OtherPolicy,
            };
        };
        let id = parts.id.filter(|id| !id.is_empty());
        let fault = match (section, id) {
            ("defaults", _) => parts.id.map(|id| KeyFault::DefaultsTakeNoName {
                name: id.to_owned(),
            }),
            (section, None) => Some(KeyFault::NameMissing { section }),
            ("configs", Some(id)) => is_reserved(id).then(|| KeyFault::ReservedConfigName {
                name: id.to_owned(),
            }),
            _ => None,
        };
        if let Some(fault) = fault {
            return Meaning::Fault(fault);
        }
        let property = if same_name(parts.property, CONFIG) {
            if section != "instances" {
                return Meaning::Fault(KeyFault::ConfigNotAllowedHere);
            }
            CONFIG
        } else if let Some(known) = properties
            .iter()
            .find(|known| same_name(parts.property, known))
        {
            known
        } else {
            let known = properties
                .iter()
                .copied()
                .chain((section == "instances").then_some(CONFIG));
            return Meaning::Fault(KeyFault::UnknownProperty {
                policy,
                given: parts.property.to_owned(),
                known: listed(known.clone()),
                hint: did_you_mean(parts.property, known),
            });
        };
        let section = match (section, id) {
            ("configs", Some(id)) => Section::Config(id.into()),
            ("instances", Some(id)) => Section::Instance(id.into()),
            _ => Section::Defaults,
        };
        Meaning::Ours(Key {
            section,
            policy,
            property,
        })
    }

    fn find(&self, policy: &str) -> Option<(&'static str, &[&'static str])> {
        self.policies
            .iter()
            .find(|(name, _)| same_name(policy, name))
            .map(|(name, properties)| (*name, properties.as_slice()))
    }

    /// What to say of a key, cut in parts, that ends in a property and has none that could be its policy.
    pub(super) fn left_out<'a>(&self, parts: impl Iterator<Item = &'a str>) -> Option<String> {
        // One more than a key without a policy can have.
        let parts: Vec<&str> = parts.take(4).collect();
        let (("defaults", [_, property]) | ("configs" | "instances", [_, _, property])) =
            (section(parts.first()?)?, parts.as_slice())
        else {
            return None;
        };
        let mut policies = self.policies.iter();
        policies.find_map(|(policy, properties)| {
            let known = properties.iter().find(|known| same_name(property, known))?;
            Some(format!(
                "`{known}` is a property of `{policy}`, which stands before it"
            ))
        })
    }

    fn has(&self, policy: &str, property: &str) -> bool {
        self.find(policy).is_some_and(|(_, properties)| {
            properties.iter().any(|known| same_name(property, known))
        })
    }

    /// Whether the key of a known section ends with a policy, or goes on after a policy and its property.
    fn is_unfinished(&self, key: &str) -> bool {
        let mut parts = key.split('.');
        if parts.next().and_then(section).is_none() {
            return false;
        }
        let mut from_right = key.rsplit('.');
        let (last, before) = (
            from_right.next().unwrap_or(""),
            from_right.next().unwrap_or(""),
        );
        if self.find(before).is_some() {
            return false;
        }
        if self.find(last).is_some() {
            return true;
        }
        let mut policy = "";
        parts.any(|part| self.has(std::mem::replace(&mut policy, part), part))
    }

    /// The rest of the key if the value holds it: `instances.a` and `:b.adaptiveLimit.maxLimit=5`.
    fn cut_short(&self, key: &str, value: &str) -> Option<String> {
        let start = key.split('.').next()?;
        if key.len() + value.len() > LONGEST || section(start).is_none() {
            return None;
        }
        let mut parts = value.split('.').skip(1).peekable();
        while let (Some(policy), Some(after)) = (parts.next(), parts.peek()) {
            let property = after.split([' ', '=', ':', '\t', '\x0c']).next()?;
            if self.has(policy, property)
                || self.find(policy).is_some() && same_name(property, CONFIG)
            {
                let end = property.as_ptr() as usize - value.as_ptr() as usize + property.len();
                return Some(value[..end].to_owned());
            }
        }
        None
    }
}

impl KeyFault {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::UnknownSection { .. } => Code::CONFIG_UNKNOWN_SECTION,
            Self::UnknownPolicy { .. } | Self::UnknownProperty { .. } => {
                Code::CONFIG_UNKNOWN_PROPERTY
            }
            _ => Code::CONFIG_MALFORMED_KEY,
        }
    }

    /// What is wrong, to follow the key in a message; and a hint on what may be meant.
    pub(crate) fn says(&self) -> (String, Option<String>) {
        match self {
            Self::TooLong => (format!("is longer than {LONGEST} bytes"), None),
            Self::NameMissing { section } => (
                format!("has no name after `{section}`"),
                Some(format!(
                    "a key there is `{section}.<name>.<policy>.<property>`"
                )),
            ),
            Self::DefaultsTakeNoName { name } => (
                format!(
                    "has the name {} after `defaults`, which are for all",
                    quoted(name)
                ),
                Some("a key there is `defaults.<policy>.<property>`".to_owned()),
            ),
            Self::ReservedConfigName { name } => (
                format!("has the config name {}, which is reserved", quoted(name)),
                Some("what is for all stands in section `defaults`".to_owned()),
            ),
            Self::ConfigNotAllowedHere => (
                "names a config, which only instances are based on".to_owned(),
                Some("configs are not based on each other".to_owned()),
            ),
            Self::UnknownSection { given } => (
                format!(
                    "has the unknown section {}, allowed is one of {}",
                    quoted(given),
                    listed(SECTIONS)
                ),
                did_you_mean(given, SECTIONS),
            ),
            Self::UnknownPolicy { given, hint } => (
                format!("has the unknown policy {}", quoted(given)),
                hint.clone(),
            ),
            Self::UnknownProperty {
                policy,
                given,
                known,
                hint,
            } => (
                format!(
                    "has the unknown property {}; `{policy}` has {known}",
                    quoted(given)
                ),
                hint.clone(),
            ),
            Self::Incomplete => (
                "is not complete".to_owned(),
                Some("a key is `<section>.<name>.<policy>.<property>`".to_owned()),
            ),
            Self::EndsEarly { rest } => (
                "ends at the first `:`, `=` or space".to_owned(),
                Some(format!(
                    "the value goes on with {}: in a key these are written `\\:`, `\\=` and `\\ `",
                    quoted(rest)
                )),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
