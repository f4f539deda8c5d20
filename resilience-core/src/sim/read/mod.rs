//! Scenario files: TOML, read by hand so that all mistakes are told at once, each with its line and key.

mod limit;
mod reader;
mod schedules;
mod tables;

use std::path::Path;

use reader::Reader;

use super::scenario::Scenario;
use crate::error::{Code, Error, Problem};
use crate::limit::LimitConfig;

/// The error of one mistake.
pub(super) fn mistake(text: String) -> Error {
    Error::settings(vec![Problem::new(Code::SCENARIO, text)])
}

/// Reads a scenario.
pub(super) fn scenario(file: &str, text: &str) -> Result<Scenario, Error> {
    let mut reader = Reader::new(file, text);
    let name = Path::new(file).file_stem();
    let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let document = reader.document();
    let scenario = document.and_then(|document| tables::scenario(&mut reader, document, name));
    reader.finish(scenario)
}

/// Reads the settings of a contender: `key=value;key=value`, as in a scenario's `[limit]` but without quotes.
pub(super) fn settings(contender: &str, text: &str) -> Result<LimitConfig, Error> {
    let lines = text.split(';').filter(|part| !part.trim().is_empty());
    let lines: Vec<String> = lines
        .map(|part| match part.split_once('=') {
            Some((key, value)) if needs_quotes(value.trim()) => {
                format!("{key} = {:?}", value.trim())
            }
            _ => part.to_owned(),
        })
        .collect();
    let text = lines.join("\n");
    let mut reader = Reader::new(contender, &text);
    let document = reader.document();
    let config = document.map(|mut document| {
        let config = limit::settings(&mut reader, &mut document);
        reader.done(document);
        config
    });
    reader.finish(config)
}

/// Whether a value is a word, a duration or the like, and not in quotes or brackets already.
fn needs_quotes(value: &str) -> bool {
    value.parse::<f64>().is_err()
        && !["true", "false"].contains(&value)
        && !value.starts_with(['"', '\'', '[', '{'])
}
