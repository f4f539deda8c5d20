//! The settings of a limit: those of the configuration, by the same rules for their values.

use std::collections::HashMap;

use toml::de::DeValue;

use super::reader::{Fields, Reader, shown};
use crate::config::patch::{Context, Patch as _};
use crate::limit::LimitConfig;

/// Reads settings by the names they have in code; what is wrong with them is noted.
pub(super) fn settings(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> LimitConfig {
    let mut config = LimitConfig::new();
    // Where each property stands, for what turns out to be wrong with all of them.
    let mut places = HashMap::new();
    for property in LimitConfig::properties() {
        let Some(field) = fields.take(property.field) else {
            continue;
        };
        places.insert(property.field, (field.at, field.path.clone()));
        if property.field == "algorithm" {
            // It may be one of the registry's own, which is not known here.
            if let Some(name) = reader.text(&field) {
                config = config.algorithm(name);
            }
            continue;
        }
        let read = match written(&field.value) {
            Some(text) => (property.set)(&mut config, &text, &Context::default())
                .map_err(|wrong| wrong.hint.map(|hint| format!("; {hint}"))),
            None => Err(None),
        };
        if let Err(hint) = read {
            let hint = hint.unwrap_or_default();
            reader.expected(&field, &format!("{}{hint}", property.allowed()));
        }
    }
    if let Err(found) = config.bounds() {
        // The default of a bound has no place: the other one has.
        let place = places.get(found.property).or(places.get(found.other));
        let (at, path) = place.cloned().unwrap_or_default();
        let text = format!(
            "`{path}`: `{}` ({}) is {} `{}` ({})",
            found.property, found.value, found.relation, found.other, found.other_value
        );
        reader.fault(at, text);
    }
    config
}

/// The text that a file of settings would have for the value. A list stands for its items, parted by commas.
fn written(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| match item.get_ref() {
                DeValue::String(text) if !text.contains(',') => Some(text.to_string()),
                _ => None,
            });
            let items: Option<Vec<String>> = items.collect();
            Some(items?.join(","))
        }
        DeValue::Table(_) | DeValue::Datetime(_) => None,
        plain => Some(shown(plain)),
    }
}
