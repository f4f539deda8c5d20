//! Reads the text of a file of tables.

use std::sync::Arc;

use ::config::{FileFormat, Format as _};

use super::{flatten, one_line};
use crate::config::source::Written;
use crate::error::{Code, Problem};

/// A line of YAML may begin this deep, in characters. What stands deeper may nest deeper than the parser's stack is high.
#[cfg(feature = "yaml")]
const DEEPEST: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::config::source) enum Format {
    #[cfg(feature = "toml")]
    Toml,
    #[cfg(feature = "yaml")]
    Yaml,
    #[cfg(feature = "json")]
    Json,
}

/// Reads a file's text; its settings in the order of their keys, since its own is lost.
///
/// Whoever writes YAML is trusted with memory: its parser copies what an alias names, so aliases of aliases grow without
/// bound.
pub(in crate::config::source) fn parse(
    format: Format,
    file: &Arc<str>,
    text: &str,
) -> Result<Vec<Written>, Vec<Problem>> {
    let problem = |why: &str| {
        vec![Problem::new(
            Code::CONFIG_SYNTAX,
            format!("{file}: {}", one_line(why)),
        )]
    };
    let format = match format {
        #[cfg(feature = "toml")]
        Format::Toml => FileFormat::Toml,
        #[cfg(feature = "yaml")]
        Format::Yaml => {
            shallow(text).map_err(|why| problem(&why))?;
            FileFormat::Yaml
        }
        #[cfg(feature = "json")]
        Format::Json => {
            super::unique::check(text).map_err(|error| problem(&error.to_string()))?;
            FileFormat::Json
        }
    };
    let tree = format
        .parse(None, text)
        .map_err(|error| problem(&error.to_string()))?;
    flatten(tree, file)
}

/// Refuses a text whose blocks nest too deep, which the parser answers with the end of the process.
#[cfg(feature = "yaml")]
fn shallow(text: &str) -> Result<(), String> {
    // Every block begins right of the one that it is in, or is a list below a name.
    let begins =
        |line: &str| line.len() - line.trim_start_matches([' ', '\t', '-', '?', ':']).len();
    match text.lines().position(|line| begins(line) > DEEPEST) {
        None => Ok(()),
        Some(line) => Err(format!(
            "begins deeper than {DEEPEST} characters at line {}",
            line + 1
        )),
    }
}
