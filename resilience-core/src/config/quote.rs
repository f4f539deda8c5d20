//! Text from outside, as messages quote it.

/// Longer texts are cut, in letters: a message is read in a terminal.
const LONGEST: usize = 120;

/// Returns the text in quotation marks, with control characters escaped and cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

/// Returns the text in backquotes, as names and keys are told.
pub(crate) fn named(text: &str) -> String {
    let quoted = quoted(text);
    let (inner, rest) = quoted[1..]
        .rsplit_once('"')
        .expect("`quoted` closes what it opens");
    format!("`{}`{rest}", inner.replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_short_and_on_one_line() {
        assert_eq!(quoted("20 # a"), "\"20 # a\"");
        assert_eq!(quoted("a\nb\0"), "\"a\\nb\\0\"");
        assert_eq!(named("instances.a\nb"), "`instances.a\\nb`");
        assert_eq!(named("say \"hi\""), "`say \"hi\"`");
        let long = "é".repeat(200_000);
        assert!(quoted(&long).len() < 300);
        assert!(named(&long).ends_with("`… (400000 bytes)"));
    }
}
