//! The texts of numbers, as every reader of values knows them: digits, and more behind a point.

use std::borrow::Cow;

/// Writes out a decimal number without plus and exponent; one that would lose something by that stays as it is, and is
/// refused as what it is.
pub(super) fn decimal(text: &str) -> Cow<'_, str> {
    let number = text.strip_prefix('+').unwrap_or(text);
    let Some(mantissa) = number.split(['e', 'E']).next().filter(|m| *m != number) else {
        return Cow::Borrowed(number);
    };
    let zero = mantissa.bytes().all(|byte| !matches!(byte, b'1'..=b'9'));
    match number.parse::<f64>() {
        Ok(value) if !value.is_finite() || value == 0.0 && !zero => Cow::Borrowed(text),
        // With an exponent it is no whole number, in any format.
        Ok(value) if value.fract() == 0.0 => Cow::Owned(format!("{value:.1}")),
        Ok(value) => Cow::Owned(value.to_string()),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Writes out a whole number of another base in decimal digits.
#[cfg(any(feature = "toml", feature = "yaml"))]
pub(super) fn whole(digits: &str, base: u32) -> Option<String> {
    u128::from_str_radix(digits, base)
        .ok()
        .map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_out_or_left() {
        for (text, written) in [
            ("10.6", "10.6"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("100.0", "100.0"),
            ("+5", "5"),
            ("-1", "-1"),
            ("1e3", "1000.0"),
            ("1E-7", "0.0000001"),
            ("0e9", "0.0"),
            ("1e400", "1e400"),
            ("1e-400", "1e-400"),
            ("99999999999999999999999", "99999999999999999999999"),
        ] {
            assert_eq!(decimal(text), written);
        }
    }
}
