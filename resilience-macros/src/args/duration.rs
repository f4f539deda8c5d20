//! Durations: a number and its unit, as in `"250ms"`.

use std::ops::RangeInclusive;

const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// The windows and waits that make sense, in nanoseconds: 1 ms to 1 h.
pub(crate) const RANGE: RangeInclusive<u64> = 1_000_000..=3_600 * 1_000_000_000;

/// Reads a duration in nanoseconds; the error says what is wrong with the text.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let spaced = unit.contains(char::is_whitespace);
    if spaced || !all_digits(whole) || !all_digits(fraction) {
        return Err(
            "is not a duration: a number and its unit are wanted, as in \"1s\" or \"250ms\"".into(),
        );
    }
    if unit.is_empty() {
        return Err(format!("has no unit: is it \"{text}ms\" or \"{text}s\"?"));
    }
    let Some((_, nanos)) = UNITS.iter().find(|(known, _)| *known == unit) else {
        return Err(format!(
            "has the unknown unit `{unit}`: the units are ns, us, ms, s, m and h"
        ));
    };
    scale(whole, fraction, *nanos)
}

fn scale(whole: &str, fraction: &str, nanos: u64) -> Result<u64, String> {
    let too_long = || "is longer than any duration this library knows".to_owned();
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    let fraction = fraction.trim_end_matches('0');
    // Sixteen decimal places of an hour are far below a nanosecond already, and 10^16 times an hour fits in 128 bits.
    let inexact = || "is not a whole number of nanoseconds".to_owned();
    if fraction.len() > 16 {
        return Err(inexact());
    }
    let parts = 10_u128.pow(fraction.len() as u32);
    let numerator = fraction.parse::<u128>().unwrap_or(0) * u128::from(nanos);
    if numerator % parts != 0 {
        return Err(inexact());
    }
    let total = u128::from(whole) * u128::from(nanos) + numerator / parts;
    u64::try_from(total).map_err(|_| too_long())
}

#[cfg(test)]
mod tests {
    use super::parse;

    use serde_json::Value;

    /// The table is also that of durations in files and variables: they are written alike everywhere.
    #[test]
    fn number_and_unit_and_nothing_else() {
        let cases = include_str!("../../../tests/vectors/durations.json");
        let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
        for case in &cases {
            let nanos = parse(case["text"].as_str().unwrap()).ok();
            assert_eq!(nanos, case["nanos"].as_u64(), "{case}");
        }
    }

    /// Around a value in a file white space is no part of it; a literal is all that is between its quotes.
    #[test]
    fn white_space_around_is_refused() {
        assert!(parse(" 1s").is_err());
        assert!(parse("1s ").is_err());
    }
}
