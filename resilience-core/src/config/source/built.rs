//! Reads what a program built with the `config` crate.
//!
//! Its ways of naming a key by a path, of changing case and of converting values are not used, since they refuse ids with
//! `:`, lose the case of ids and turn 10.6 into 11. A table's names are joined with dots, so an id that holds dots is one
//! name or several tables, as its writer likes.

use std::sync::Arc;

use ::config::{Config, Map, Source, Value, ValueKind};

use super::{Unfit, Written, list};
use crate::config::place::Place;
use crate::error::{Code, Problem};

/// Reads what a program built; values whose origin it does not tell are from "a `config::Config`".
pub(crate) fn read(config: &Config) -> Result<Vec<Written>, Vec<Problem>> {
    let name: Arc<str> = "a `config::Config`".into();
    let tree = config.collect().map_err(|error| {
        let why = error.to_string();
        let why = why.lines().next().unwrap_or("cannot be read");
        let text = format!("{name}: {}", why.replace(char::is_control, " "));
        vec![Problem::new(Code::CONFIG_SYNTAX, text)]
    })?;
    Ok(flatten(tree, &name))
}

fn flatten(tree: Map<String, Value>, name: &Arc<str>) -> Vec<Written> {
    let mut written = Vec::new();
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
            ValueKind::Array(items) => items
                .iter()
                .map(|item| scalar(&item.kind).ok_or(Unfit::NestedList))
                .collect::<Result<Vec<_>, _>>()
                .and_then(|items| list::join(&items)),
            other => Ok(scalar(&other).unwrap_or_default()),
        };
        written.push(Written {
            key,
            unfit: text.as_ref().err().copied(),
            text: text.unwrap_or_default(),
            place,
        });
    }
    // Tables are kept in no order that is the same twice.
    written.sort_by(|left, right| (&left.key, &left.text).cmp(&(&right.key, &right.text)));
    written
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables as a program's own source has them, with ids that a path of `config` cannot name.
    #[derive(Clone, Debug)]
    struct Given(Map<String, Value>);

    impl Source for Given {
        fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
            Box::new(self.clone())
        }

        fn collect(&self) -> Result<Map<String, Value>, ::config::ConfigError> {
            Ok(self.0.clone())
        }
    }

    fn value(kind: impl Into<ValueKind>) -> Value {
        Value::new(None, kind)
    }

    fn table(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        value(pairs.collect::<Map<_, _>>())
    }

    #[test]
    fn what_a_program_built_is_a_source_too() {
        let limit = table([("maxLimit", value(7))]);
        let instances = table([("A.b::c", table([("adaptiveLimit", limit)]))]);
        let servers = value(vec![table([("host", value("x"))])]);
        let drop_on = value(vec![value("timeout")]);
        let given = [
            ("instances".to_owned(), instances),
            ("servers".to_owned(), servers),
            ("dropOn".to_owned(), drop_on),
        ];
        let config = Config::builder()
            .add_source(Given(given.into_iter().collect()))
            .set_override("defaults.adaptiveLimit.backoffRatio", 0.8)
            .unwrap()
            .build()
            .unwrap();
        let written = read(&config).unwrap();
        let told: Vec<_> = written
            .iter()
            .map(|written| (&*written.key, &*written.text, written.unfit))
            .collect();
        assert_eq!(
            told,
            [
                ("defaults.adaptiveLimit.backoffRatio", "0.8", None),
                ("dropOn", "timeout,", None),
                ("instances.A.b::c.adaptiveLimit.maxLimit", "7", None),
                ("servers", "", Some(Unfit::NestedList)),
            ]
        );
        assert_eq!(written[0].place.to_string(), "a `config::Config`");
    }
}
