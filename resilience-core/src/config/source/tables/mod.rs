//! Reads files that are written as tables in tables: TOML, YAML and JSON.
//!
//! Each format's parser tells names and values one by one, with where they stand, and [`nest`] collects them: what is the same
//! for all formats is there. Nothing is read by recursion and nothing is copied for an alias, so what a file costs is bounded
//! by its size.

#[cfg(feature = "json")]
mod json;
mod nest;
mod number;
#[cfg(feature = "toml")]
mod toml;
#[cfg(feature = "yaml")]
mod yaml;

use std::sync::Arc;

use super::Written;
use crate::config::place::Place;
use crate::error::{Code, Problem};
use nest::Nest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    #[cfg(feature = "toml")]
    Toml,
    #[cfg(feature = "yaml")]
    Yaml,
    #[cfg(feature = "json")]
    Json,
}

/// What ends the reading of a file.
#[derive(Debug)]
struct Stop {
    why: String,
    /// The offset in bytes where it is seen, if that is known.
    at: Option<usize>,
}

impl Stop {
    fn new(why: impl Into<String>, at: usize) -> Self {
        Self {
            why: why.into(),
            at: Some(at),
        }
    }
}

/// Reads a file's text; its settings in its order, or all that is wrong with it.
pub(super) fn parse(
    format: Format,
    file: &Arc<str>,
    text: &str,
) -> Result<Vec<Written>, Vec<Problem>> {
    let mut nest = Nest::new(file, text);
    // None of the formats allows either, and not all parsers say so.
    let foreign = text.find('\0').map(|at| (at, "a NUL character"));
    let marked = text
        .starts_with('\u{feff}')
        .then_some((0, "a second byte order mark"));
    let read = match foreign.or(marked) {
        Some((at, what)) => Err(Stop::new(format!("{what} is in the text"), at)),
        None => match format {
            #[cfg(feature = "toml")]
            Format::Toml => toml::read(text, &mut nest),
            #[cfg(feature = "yaml")]
            Format::Yaml => yaml::read(text, &mut nest),
            #[cfg(feature = "json")]
            Format::Json => json::read(text, &mut nest),
        },
    };
    if let Err(Stop { why, at }) = read {
        nest.fault(&why, at);
    }
    nest.finish()
}

/// What a parser says, in one line and as a part of a sentence.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 300;
    let line = message.lines().next().unwrap_or_default();
    let mut letters = line.chars().filter(|c| !c.is_control()).take(LONGEST);
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn syntax(why: &str, place: &Place) -> Problem {
    Problem::new(Code::CONFIG_SYNTAX, format!("{why}; at {place}"))
}

#[cfg(all(test, feature = "toml", feature = "yaml", feature = "json"))]
mod tests;
