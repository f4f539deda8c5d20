//! Reads values. Every reader says what is wrong with a text and guesses nothing; white space around is not part of it.

use std::time::Duration;

use super::key::same_name;
use crate::error::{Code, did_you_mean, listed};
use crate::outcome::overload::KINDS;

/// A text that is no value, or none that is allowed. What is allowed is told by the property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongValue {
    pub(crate) code: Code,
    /// What may be meant, or how it is written.
    pub(crate) hint: Option<String>,
}

impl WrongValue {
    /// The text is of the wrong kind.
    pub(crate) fn kind(text: &str) -> Self {
        Self {
            code: Code::CONFIG_WRONG_VALUE,
            hint: trailing_comment(text),
        }
    }

    pub(crate) fn out_of_range() -> Self {
        Self {
            code: Code::CONFIG_OUT_OF_RANGE,
            hint: None,
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// What is written behind a value as if it were not part of it.
fn trailing_comment(text: &str) -> Option<String> {
    let comment = text.contains(" #")
        || text.contains("\t#")
        || text.contains(" //")
        || text.trim_ascii_end().ends_with(';');
    comment.then(|| {
        "what follows a value on its line is part of it: comments stand on lines of their own"
            .to_owned()
    })
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a whole number: digits and nothing else.
pub(crate) fn whole(text: &str) -> Result<u64, WrongValue> {
    let digits = text.trim_ascii();
    if !all_digits(digits) {
        return Err(WrongValue::kind(text));
    }
    // Digits alone fail for one reason.
    digits.parse().map_err(|_| WrongValue::out_of_range())
}

/// Reads a whole number that 32 bits hold.
pub(crate) fn count(text: &str) -> Result<u32, WrongValue> {
    u32::try_from(whole(text)?)
        .map_err(|_| WrongValue::out_of_range().hint(format!("the largest number is {}", u32::MAX)))
}

/// Reads a decimal number: digits, and more of them after a point if there is one.
pub(crate) fn decimal(text: &str) -> Result<f64, WrongValue> {
    let number = text.trim_ascii();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !all_digits(whole) || !all_digits(fraction) {
        return Err(match number.strip_suffix('%') {
            Some(_) => WrongValue::kind(text).hint("80% is written 0.8"),
            None if number.contains(',') => {
                WrongValue::kind(text).hint("the fraction stands behind a point")
            }
            None => WrongValue::kind(text),
        });
    }
    let value: f64 = number
        .parse()
        .expect("digits with one point between them are a number");
    if value.is_finite() {
        Ok(value)
    } else {
        Err(WrongValue::out_of_range())
    }
}

/// Reads a switch: true, on or yes, and false, off or no, in any case.
pub(crate) fn boolean(text: &str) -> Result<bool, WrongValue> {
    const WORDS: [(&str, bool); 6] = [
        ("true", true),
        ("on", true),
        ("yes", true),
        ("false", false),
        ("off", false),
        ("no", false),
    ];
    let word = text.trim_ascii();
    WORDS
        .into_iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
        .map(|(_, on)| on)
        .ok_or_else(|| nearest_of(text, WORDS.map(|(known, _)| known)))
}

fn nearest_of<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> WrongValue {
    let mut wrong = WrongValue::kind(text);
    if wrong.hint.is_none() {
        wrong.hint = did_you_mean(text.trim_ascii(), known);
    }
    wrong
}

/// Reads one of some names, ignoring case, `-` and `_`.
pub(crate) fn choice(text: &str, known: &[&'static str]) -> Result<&'static str, WrongValue> {
    let name = text.trim_ascii();
    known
        .iter()
        .copied()
        .find(|known| same_name(name, known))
        .ok_or_else(|| nearest_of(text, known.iter().copied()))
}

/// Reads a list: parted by commas, blanks and repetitions left out.
pub(crate) fn list(text: &str) -> Vec<&str> {
    let mut items: Vec<&str> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for item in text.split(',').map(str::trim_ascii) {
        if !item.is_empty() && seen.insert(item) {
            items.push(item);
        }
    }
    items
}

/// Reads a list of kinds of errors, each exactly one of those that are known everywhere or that the program added; or
/// returns those that are not.
pub(crate) fn kinds<'a>(
    text: &'a str,
    added: &[&str],
) -> Result<Vec<&'a str>, (Vec<&'a str>, WrongValue)> {
    let items = list(text);
    let known = |item: &&str| KINDS.contains(item) || added.contains(item);
    let unknown: Vec<&str> = items.iter().copied().filter(|item| !known(item)).collect();
    let Some(first) = unknown.first() else {
        return Ok(items);
    };
    let names = || KINDS.into_iter().chain(added.iter().copied());
    let wrong = WrongValue::kind(text).hint(
        did_you_mean(first, names())
            .unwrap_or_else(|| format!("\"{first}\" is none of {}", listed(names()))),
    );
    Err((unknown, wrong))
}

/// Reads the name of a config.
pub(crate) fn name(text: &str) -> Result<&str, WrongValue> {
    let name = text.trim_ascii();
    if name.is_empty() {
        return Err(WrongValue::kind(text));
    }
    if super::key::is_reserved(name) {
        return Err(
            WrongValue::kind(text).hint("defaults are below every instance and need no mention")
        );
    }
    Ok(name)
}

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// Reads a duration as the attribute does: a number and its unit with nothing between them. One table of cases,
/// tests/vectors/durations.json, holds the two together.
pub(crate) fn duration(text: &str) -> Result<Duration, WrongValue> {
    let given = text.trim_ascii();
    let digits = given
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(given.len());
    let (number, unit) = given.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !all_digits(whole) || !all_digits(fraction) {
        return Err(WrongValue::kind(text));
    }
    if unit.is_empty() {
        let hint = match number.len() {
            ..=20 => format!("a number alone has no unit: is it {given}ms or {given}s?"),
            _ => "a number alone has no unit".to_owned(),
        };
        return Err(WrongValue::kind(text).hint(hint));
    }
    let Some((_, nanos)) = UNITS.iter().find(|(known, _)| *known == unit) else {
        let mut wrong = WrongValue::kind(text);
        wrong.hint.get_or_insert_with(|| {
            "the units are ns, us, ms, s, m and h, right behind the number".to_owned()
        });
        return Err(wrong);
    };
    scale(text, whole, fraction, *nanos).map(Duration::from_nanos)
}

fn scale(text: &str, whole: &str, fraction: &str, nanos: u64) -> Result<u64, WrongValue> {
    let whole: u64 = whole.parse().map_err(|_| WrongValue::out_of_range())?;
    let inexact = || WrongValue::kind(text).hint("it is not a whole number of nanoseconds");
    let fraction = fraction.trim_end_matches('0');
    // Sixteen places of an hour are far below a nanosecond already, and 10^16 times an hour fits in 128 bits.
    if fraction.len() > 16 {
        return Err(inexact());
    }
    let parts = 10_u128.pow(fraction.len() as u32);
    let numerator = fraction.parse::<u128>().unwrap_or(0) * u128::from(nanos);
    if numerator % parts != 0 {
        return Err(inexact());
    }
    let total = u128::from(whole) * u128::from(nanos) + numerator / parts;
    u64::try_from(total).map_err(|_| WrongValue::out_of_range())
}

/// Writes a duration so that [`duration`] reads it: the largest unit that holds it whole.
pub(crate) fn show_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let (unit, size) = UNITS
        .into_iter()
        .rev()
        .find(|(_, size)| nanos.is_multiple_of(u128::from(*size)))
        .expect("every duration is a whole number of nanoseconds");
    format!("{}{unit}", nanos / u128::from(size))
}

#[cfg(test)]
mod tests;
