//! Reads values and collects what is wrong with them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::value;
use crate::error::{Code, Error, Problem, did_you_mean, listed};

/// What is being read, and what was wrong with it so far.
pub(super) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    /// By where they are in the text.
    mistakes: Vec<(usize, String)>,
}

/// A value, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Field<'t> {
    /// Its key with those of the tables around it: `dependency.servers`.
    pub(super) path: String,
    pub(super) at: usize,
    pub(super) value: DeValue<'t>,
}

/// A table, and which of its keys were asked for.
pub(super) struct Fields<'t> {
    pub(super) path: String,
    pub(super) at: usize,
    values: BTreeMap<String, (usize, Field<'t>)>,
    known: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    fn new(path: &str, at: usize, table: &DeTable<'t>) -> Self {
        let values = table.iter().map(|(key, value)| {
            let key_at = key.span().start;
            let key = key.get_ref().to_string();
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let field = Field {
                path,
                at: value.span().start,
                value: value.get_ref().clone(),
            };
            (key, (key_at, field))
        });
        Self {
            path: path.to_owned(),
            at,
            values: values.collect(),
            known: Vec::new(),
        }
    }

    /// Takes the value of a key, if there is one.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Field<'t>> {
        self.known.push(key);
        self.values.remove(key).map(|(_, field)| field)
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            mistakes: Vec::new(),
        }
    }

    /// Returns the whole document, unless it is no TOML.
    pub(super) fn document(&mut self) -> Option<Fields<'t>> {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let at = error.span().map_or(0, |span| span.start);
            self.mistakes
                .push((at, error.message().replace('\n', ", ")));
        }
        errors
            .is_empty()
            .then(|| Fields::new("", 0, document.get_ref()))
    }

    /// Returns what was read, or all mistakes in the order of their lines.
    pub(super) fn finish<T>(mut self, read: Option<T>) -> Result<T, Error> {
        if let Some(read) = read
            && self.mistakes.is_empty()
        {
            return Ok(read);
        }
        self.mistakes.sort();
        let problems = self.mistakes.iter().map(|(at, text)| {
            let line = self.text[..(*at).min(self.text.len())]
                .matches('\n')
                .count()
                + 1;
            Problem::new(Code::SCENARIO, format!("{}:{line}: {text}", self.file))
        });
        Err(Error::in_order(problems.collect()))
    }

    /// Notes a mistake.
    pub(super) fn fault(&mut self, at: usize, text: String) {
        self.mistakes.push((at, text));
    }

    /// Notes that a value is not what it should be.
    pub(super) fn expected(&mut self, field: &Field<'_>, what: &str) {
        let given = shown(&field.value);
        self.fault(
            field.at,
            format!("`{}` is {given}, expected {what}", field.path),
        );
    }

    /// Notes keys that nobody asked for.
    pub(super) fn done(&mut self, fields: Fields<'_>) {
        let known = fields.known;
        for (key, (at, _)) in &fields.values {
            let inside = if fields.path.is_empty() {
                String::new()
            } else {
                format!(" in `{}`", fields.path)
            };
            let hint = did_you_mean(key, known.iter().copied())
                .unwrap_or_else(|| format!("there are {}", listed(known.iter().copied())));
            self.fault(*at, format!("unknown key `{key}`{inside}; {hint}"));
        }
    }

    /// Notes that a key is missing.
    pub(super) fn missing(&mut self, fields: &Fields<'_>, key: &str, what: &str) {
        let inside = if fields.path.is_empty() {
            "the file".to_owned()
        } else {
            format!("`{}`", fields.path)
        };
        self.fault(fields.at, format!("{inside} has no `{key}`: {what}"));
    }

    /// Reads a value that has to be there; `what` says what it is.
    pub(super) fn required<'f, T>(
        &mut self,
        fields: &mut Fields<'f>,
        key: &'static str,
        what: &str,
        read: impl FnOnce(&mut Self, &Field<'f>) -> Option<T>,
    ) -> Option<T> {
        if let Some(field) = fields.take(key) {
            return read(self, &field);
        }
        self.missing(fields, key, what);
        None
    }

    pub(super) fn table<'f>(&mut self, field: &Field<'f>) -> Option<Fields<'f>> {
        if let DeValue::Table(table) = &field.value {
            return Some(Fields::new(&field.path, field.at, table));
        }
        self.expected(field, "a table");
        None
    }

    /// The elements of an array.
    pub(super) fn array<'f>(&mut self, field: &Field<'f>) -> Option<Vec<Field<'f>>> {
        let DeValue::Array(array) = &field.value else {
            self.expected(field, "an array");
            return None;
        };
        let element = |(number, value): (usize, &Spanned<DeValue<'f>>)| Field {
            path: format!("{}[{number}]", field.path),
            at: value.span().start,
            value: value.get_ref().clone(),
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    pub(super) fn text(&mut self, field: &Field<'_>) -> Option<String> {
        if let DeValue::String(text) = &field.value {
            return Some(text.to_string());
        }
        self.expected(field, "a text");
        None
    }

    /// A number in a range, whole or not.
    pub(super) fn number(&mut self, field: &Field<'_>, range: &RangeInclusive<f64>) -> Option<f64> {
        let number = match &field.value {
            DeValue::Integer(_) => whole(&field.value).map(|whole| whole as f64),
            DeValue::Float(float) => float.as_str().parse().ok(),
            _ => None,
        };
        let found = number.filter(|number| range.contains(number));
        if found.is_none() {
            let (low, high) = (range.start(), range.end());
            self.expected(field, &format!("a number from {low} to {high}"));
        }
        found
    }

    /// A whole number in a range.
    pub(super) fn whole(&mut self, field: &Field<'_>, range: &RangeInclusive<u64>) -> Option<u64> {
        let found = whole(&field.value)
            .and_then(|whole| u64::try_from(whole).ok())
            .filter(|whole| range.contains(whole));
        if found.is_none() {
            let (low, high) = (range.start(), range.end());
            self.expected(field, &format!("a whole number from {low} to {high}"));
        }
        found
    }

    /// A duration such as `"40ms"`, in nanoseconds.
    pub(super) fn duration(&mut self, field: &Field<'_>) -> Option<u64> {
        let found = field.value.as_str().and_then(nanos);
        if found.is_none() {
            self.expected(
                field,
                "a duration with its unit: \"1.5s\", \"40ms\", \"100us\", \"20ns\", \"2m\" or \"1h\"",
            );
        }
        found
    }

    /// The one of some names.
    pub(super) fn choice(
        &mut self,
        field: &Field<'_>,
        names: &[&'static str],
    ) -> Option<&'static str> {
        let given = field.value.as_str();
        let found = given.and_then(|given| names.iter().copied().find(|name| *name == given));
        if found.is_none() {
            let hint = given
                .and_then(|given| did_you_mean(given, names.iter().copied()))
                .map_or(String::new(), |hint| format!("; {hint}"));
            let one_of = format!("one of {}{hint}", listed(names.iter().copied()));
            self.expected(field, &one_of);
        }
        found
    }

    /// A table with a single key that names a variant, as `{ lognormal = { cv = 1 } }`.
    pub(super) fn variant<'f>(
        &mut self,
        field: &Field<'f>,
        names: &'static [&'static str],
    ) -> Option<(&'static str, Field<'f>)> {
        let mut fields = self.table(field)?;
        let mut found = None;
        for name in names {
            if let Some(value) = fields.take(name) {
                if found.is_some() {
                    self.fault(
                        field.at,
                        format!(
                            "`{}` is to be one of {}, not two",
                            field.path,
                            listed(names.iter().copied())
                        ),
                    );
                    return None;
                }
                found = Some((*name, value));
            }
        }
        if found.is_none() && fields.values.is_empty() {
            self.fault(
                field.at,
                format!(
                    "`{}` is empty, expected one of {}",
                    field.path,
                    listed(names.iter().copied())
                ),
            );
        }
        self.done(fields);
        found
    }
}

fn whole(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Integer(integer) = value else {
        return None;
    };
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{:?}", text.as_ref()),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The nanoseconds of a duration, up to some 31 years.
fn nanos(text: &str) -> Option<u64> {
    const LONGEST: u64 = 1_000_000_000_000_000_000;
    let nanos = value::duration(text).ok()?.as_nanos();
    u64::try_from(nanos).ok().filter(|nanos| *nanos <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        let read = ["1.5s", "40ms", "100us", "20ns", "2m", "1h", "0s"].map(nanos);
        let millis = [1500.0, 40.0, 0.1, 0.00002, 120_000.0, 3_600_000.0, 0.0];
        assert_eq!(read, millis.map(|millis| Some((millis * 1e6) as u64)));
        for wrong in [
            "",
            "5",
            "s",
            "1.2.3s",
            "-1s",
            "1 fortnight",
            "1e3s",
            "999999999h",
        ] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
    }
}
