//! One thing that is wrong with settings or names, with everything an operator needs to mend it.

use std::fmt;

use super::Code;

/// Where a value was written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Origin {
    /// The caller's place in the source.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        let location = std::panic::Location::caller();
        Self {
            file: location.file(),
            line: location.line(),
            column: location.column(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One problem. The text says what was given, what was expected and where it came from.
///
/// The fields' order is the order in which several problems are told.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(code: Code, text: String) -> Self {
        Self { code, text }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.text, self.code)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Names longer than this, in letters, are the same or are not: how near they are takes time that grows with the square.
const LONGEST: usize = 200;

/// Returns the candidate nearest to a misspelt name, unless none is near: one change for every three letters given, at
/// least one and at most three. The attribute's macro has the same rule.
///
/// Case and separators are what people get wrong most, so they cost nothing; of equally near ones the first in
/// alphabetical order is taken, so that the message is always the same.
fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let given = fold(given);
    let length = given.chars().count();
    let farthest = (length / 3).clamp(1, 3);
    let mut candidates: Vec<&str> = candidates.into_iter().collect();
    candidates.sort_unstable();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let folded = fold(candidate);
            if folded == given {
                return Some((0, candidate));
            }
            let apart = length.abs_diff(folded.chars().count());
            if length == 0 || length > LONGEST || apart > farthest {
                return None;
            }
            let distance = strsim::damerau_levenshtein(&given, &folded);
            (distance <= farthest).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Asks in a message whether the known name that is nearest to a misspelt one was meant, unless none is near.
pub(crate) fn did_you_mean<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(given, known).map(|near| format!("did you mean `{near}`?"))
}

/// Lists names in a message, in alphabetical order; of many the first.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let mut names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let list = list.join(", ");
    if more == 0 {
        list
    } else {
        format!("{list} and {more} more")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_ordered_and_not_longer_than_one_reads() {
        assert_eq!(listed([]), "none");
        assert_eq!(listed(["b", "a"]), "`a`, `b`");
        let many = ["h", "g", "f", "e", "d", "c", "b", "a", "x", "y"];
        assert!(
            listed(many).ends_with("`g`, `h` and 2 more"),
            "{}",
            listed(many)
        );
    }

    #[test]
    fn the_nearest_name_forgives_case_separators_and_a_typo_but_does_not_guess() {
        for line in include_str!("../../../tests/nearest.csv").lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [given, known, suggestion] = fields[..] else {
                panic!("{line}")
            };
            let suggestion = Some(suggestion).filter(|suggestion| !suggestion.is_empty());
            assert_eq!(nearest(given, known.split(' ')), suggestion, "{line}");
        }
    }
}
