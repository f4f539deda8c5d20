//! Reads what is written as tables in tables: TOML, YAML and JSON files, and what a program built with the `config` crate.
//!
//! `config` parses a text and does no more: its ways of naming a key by a path, of changing case and of converting values are
//! not used, since they refuse ids with `:`, lose the case of ids and turn 10.6 into 11. A table's names are joined with
//! dots, so an id that holds dots is one name in quotes or several tables, as its writer likes.

#[cfg(any(feature = "toml", feature = "yaml", feature = "json"))]
mod text;
#[cfg(feature = "json")]
mod unique;

use std::sync::Arc;

use ::config::{Config, Map, Source, Value, ValueKind};

use super::Written;
use crate::config::place::Place;
use crate::config::quote::named;
use crate::error::{Code, Problem};
#[cfg(any(feature = "toml", feature = "yaml", feature = "json"))]
pub(super) use text::{Format, parse};

/// Reads what a program built; values whose origin it does not tell are from "a `config::Config`".
pub(crate) fn from_config(config: &Config) -> Result<Vec<Written>, Vec<Problem>> {
    let name: Arc<str> = "a `config::Config`".into();
    let tree = config.collect().map_err(|error| {
        let text = format!("{name}: {}", one_line(&error.to_string()));
        vec![Problem::new(Code::CONFIG_SYNTAX, text)]
    })?;
    flatten(tree, &name)
}

/// What a parser says in several lines with a picture, in one: where, and what.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 300;
    let mut lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("cannot be read");
    let message = match lines.next_back() {
        Some(last) => format!("{first}: {last}"),
        None => first.to_owned(),
    };
    message
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST)
        .collect()
}

fn flatten(tree: Map<String, Value>, name: &Arc<str>) -> Result<Vec<Written>, Vec<Problem>> {
    let mut written = Vec::new();
    let mut problems = Vec::new();
    let mut rest: Vec<(String, Value)> = tree.into_iter().collect();
    while let Some((key, value)) = rest.pop() {
        let file = value.origin().map_or_else(|| name.clone(), Into::into);
        let place = Place::File { file, line: None };
        let text = match value.kind {
            ValueKind::Table(table) => {
                rest.extend(
                    table
                        .into_iter()
                        .map(|(name, value)| (format!("{key}.{name}"), value)),
                );
                continue;
            }
            ValueKind::Array(items) => list(&items),
            other => Ok(scalar(&other).unwrap_or_default()),
        };
        match text {
            Ok(text) => written.push(Written { key, text, place }),
            Err(why) => {
                let text = format!("{} {why}; at {place}", named(&key));
                problems.push(Problem::new(Code::CONFIG_WRONG_VALUE, text));
            }
        }
    }
    // Tables are kept in no order that is the same twice.
    if !problems.is_empty() {
        problems.sort();
        return Err(problems);
    }
    written.sort_by(|left, right| (&left.key, &left.text).cmp(&(&right.key, &right.text)));
    Ok(written)
}

/// The text of a value that is one; nothing is an empty text.
fn scalar(value: &ValueKind) -> Option<String> {
    Some(match value {
        ValueKind::Nil => String::new(),
        ValueKind::Boolean(on) => on.to_string(),
        ValueKind::I64(number) => number.to_string(),
        ValueKind::I128(number) => number.to_string(),
        ValueKind::U64(number) => number.to_string(),
        ValueKind::U128(number) => number.to_string(),
        // A fraction is told even if it is none: 100.0 is no whole number in any format.
        ValueKind::Float(number) if number.fract() == 0.0 => format!("{number:.1}"),
        ValueKind::Float(number) => number.to_string(),
        ValueKind::String(text) => text.clone(),
        ValueKind::Table(_) | ValueKind::Array(_) => return None,
    })
}

/// The text of a list. One of a single item, or of none, ends with a comma, so that it is never taken for the item.
fn list(items: &[Value]) -> Result<String, &'static str> {
    let texts = items.iter().map(|item| match scalar(&item.kind) {
        None => Err("is a list of lists or tables, which no property is"),
        Some(text) if text.contains(',') => Err("is a list with an item that holds a comma"),
        Some(text) => Ok(text),
    });
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    Ok(match &*texts {
        [] => ",".to_owned(),
        [one] => format!("{one},"),
        several => several.join(","),
    })
}

#[cfg(all(test, feature = "toml", feature = "yaml", feature = "json"))]
mod tests;
