//! Why a limit runs with the settings that it has.

use std::fmt;

use super::layers::Layer;
use crate::config::patch::{Patch, Property};
use crate::id::Id;
use crate::limit::LimitConfig;
use crate::limit::settings::LimitSettings;

/// Where what nobody set comes from.
const BUILT_IN: &str = "built-in default";

/// Why a limit runs with the settings that it has; made by [`Registry::explain`](super::Registry::explain).
///
/// The [`Display`](fmt::Display) text is a table for people and may change. It leaves out what nobody set and the algorithm
/// has no use for.
///
/// # Examples
///
/// ```
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// let registry = Registry::builder()
///     .defaults(LimitConfig::new().max_limit(500))
///     .build()?;
/// registry.register("orders", LimitConfig::new().max_limit(100))?;
///
/// let explanation = registry.explain("orders")?;
/// let max_limit = explanation.get("maxLimit").unwrap();
/// assert_eq!(max_limit.value, "100");
/// assert!(max_limit.from.starts_with("`register` at "));
/// assert_eq!(max_limit.overridden[0].value, "500");
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The limit.
    pub id: Id,
    /// Every setting there is, in the order of the documentation.
    pub settings: Vec<Setting>,
}

/// A setting of a limit, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Setting {
    /// Its name in keys: `maxLimit`.
    pub property: &'static str,
    /// What it is, as it is written in keys; in words where nothing is set that a key could say.
    pub value: String,
    /// Where that comes from: the layer, and the place in a file, an environment or the code.
    pub from: String,
    /// What lower layers say, highest first.
    pub overridden: Vec<Overridden>,
    /// Whether the limit's algorithm has it; if not, it changes nothing.
    pub in_use: bool,
    /// When a change of it takes effect.
    pub live: &'static str,
}

/// What a layer says that another one overrides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Overridden {
    /// The value, as it is written in keys.
    pub value: String,
    /// Where it stands.
    pub from: String,
}

impl Explanation {
    /// Returns the setting of that name in keys: `maxLimit`.
    pub fn get(&self, property: &str) -> Option<&Setting> {
        self.settings
            .iter()
            .find(|setting| setting.property == property)
    }

    /// `layers` are those of the limit, lowest first.
    pub(crate) fn new(id: Id, layers: &[&Layer], settings: &LimitSettings) -> Self {
        let in_force = settings.asked();
        let preset = layers
            .iter()
            .rev()
            .find(|layer| layer.config.sets("preset"));
        let by_default = |property: &Property<LimitConfig>| {
            let of_windows = ["window", "min_window_samples"].contains(&property.field);
            let value = match (property.show)(&in_force) {
                Some(value) => value,
                None if of_windows && settings.rule_is_the_algorithms() => {
                    "as the algorithm says".to_owned()
                }
                None => property.default.to_owned(),
            };
            let from = match preset {
                Some(preset) if property.field == "deviations" => {
                    format!("the preset in {}", preset.place_of("preset"))
                }
                _ => BUILT_IN.to_owned(),
            };
            Overridden { value, from }
        };
        let explain = |property: &'static Property<LimitConfig>| {
            let mut said = layers.iter().rev().filter_map(|layer| {
                Some(Overridden {
                    value: (property.show)(&layer.config)?,
                    from: layer.place_of(property.field),
                })
            });
            let decides = said.next().unwrap_or_else(|| by_default(property));
            Setting {
                property: property.name,
                value: decides.value,
                from: decides.from,
                overridden: said.collect(),
                in_use: settings.uses(property.field),
                live: property.live,
            }
        };
        Self {
            id,
            settings: LimitConfig::properties().iter().map(explain).collect(),
        }
    }
}

impl Setting {
    /// Whether anybody set it, or it makes a difference as it is.
    fn matters(&self) -> bool {
        self.in_use || self.from != BUILT_IN
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit `{}`:", self.id)?;
        let told: Vec<&Setting> = self
            .settings
            .iter()
            .filter(|setting| setting.matters())
            .collect();
        let longest = |text: fn(&Setting) -> &str| {
            let lengths = told.iter().map(|setting| text(setting).chars().count());
            lengths.max().unwrap_or(0)
        };
        let (names, values) = (
            longest(|setting| setting.property),
            longest(|setting| &setting.value),
        );
        for Setting {
            property,
            value,
            from,
            overridden,
            in_use,
            live: _,
        } in told
        {
            write!(f, "\n  {property:names$}  {value:values$}  {from}")?;
            if !in_use {
                f.write_str(" (not used by its algorithm)")?;
            }
            for Overridden { value, from } in overridden {
                write!(f, "\n  {:names$}  {value:values$}    over {from}", "")?;
            }
        }
        Ok(())
    }
}
