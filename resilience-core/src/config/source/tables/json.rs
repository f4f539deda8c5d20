//! Reads JSON, with the events of `json-event-parser`.

use std::borrow::Cow;

use json_event_parser::{JsonEvent, LowLevelJsonParser};

use super::nest::Nest;
use super::{Stop, number, one_line};
use crate::config::source::Unfit;

pub(super) fn read(text: &str, nest: &mut Nest) -> Result<(), Stop> {
    let bytes = text.as_bytes();
    let mut parser = LowLevelJsonParser::new();
    let mut end = 0;
    let mut named = false;
    loop {
        let step = parser.parse_next(&bytes[end..], true);
        end += step.consumed_bytes;
        let Some(event) = step.event else { continue };
        let event = event.map_err(|error| {
            let at = (error.location().start.offset as usize).min(bytes.len());
            // The parser says that names are strings, which this one is.
            if named && !error.message().contains("end of file") {
                Stop::new("what follows a name is not `:` and a value", at)
            } else {
                Stop::new(one_line(error.message()), at)
            }
        })?;
        named = matches!(event, JsonEvent::ObjectKey(_));
        // No token spans lines: where it ends is the line where it stands.
        let at = end.saturating_sub(1);
        match event {
            JsonEvent::StartObject => nest.open_table(at)?,
            JsonEvent::StartArray => nest.open_list(at)?,
            JsonEvent::EndObject | JsonEvent::EndArray => nest.close()?,
            JsonEvent::ObjectKey(name) => nest.name(&name, at),
            JsonEvent::String(text) => nest.value(Ok(text), at)?,
            JsonEvent::Number(text) => nest.value(Ok(number::decimal(&text)), at)?,
            JsonEvent::Boolean(on) => {
                nest.value(Ok(Cow::Borrowed(if on { "true" } else { "false" })), at)?;
            }
            JsonEvent::Null => nest.value(Err(Unfit::Null), at)?,
            JsonEvent::Eof => return Ok(()),
        }
    }
}
