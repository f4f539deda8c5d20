//! Reads YAML 1.2, with the events of `granit-parser`.
//!
//! Aliases and merge keys are not followed and tags not obeyed: in a section of ours they are refused, elsewhere passed over.
//! Since nothing is copied, aliases of aliases cost what they take in the file.

use std::borrow::Cow;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::nest::{Nest, Value};
use super::{Stop, number, one_line};
use crate::config::source::Unfit;

/// The key by which YAML 1.1 merges a table.
const MERGE: &str = "<<";

pub(super) fn read(text: &str, nest: &mut Nest) -> Result<(), Stop> {
    let mut documents = 0;
    // Whether the next value is what a merge key names.
    let mut merges = false;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Stop {
            why: one_line(&error.info()),
            at: error.marker().byte_offset(),
        })?;
        let at = span.start.byte_offset().unwrap_or(0);
        let is_merged = std::mem::take(&mut merges);
        match event {
            Event::DocumentStart(_, version) => {
                documents += 1;
                if documents > 1 {
                    return Err(Stop::new("a second document begins, where one is read", at));
                }
                if version.is_some_and(|version| (version.major, version.minor) != (1, 2)) {
                    return Err(Stop::new(
                        "YAML of another version than 1.2 is not read",
                        at,
                    ));
                }
            }
            Event::Scalar(name, style, _, tag) if nest.wants_name() => {
                no_tag(tag.as_deref(), at)?;
                // So the parser writes nothing at all.
                if style == ScalarStyle::Plain && name == "~" {
                    return Err(Stop::new("a name is missing", at));
                }
                nest.name(&name, at);
                if style == ScalarStyle::Plain && name == MERGE {
                    merges = true;
                    // At the root it could bring sections of ours.
                    if nest.depth() == 1 {
                        let why = format!("`{MERGE}` {}", Unfit::Merge);
                        return Err(Stop::new(why, at));
                    }
                    nest.unfit(Unfit::Merge)?;
                }
            }
            _ if nest.wants_name() && begins_node(&event) => {
                return Err(Stop::new(
                    "a name is a text, and no list, table or alias",
                    at,
                ));
            }
            Event::Scalar(text, style, _, tag) => {
                let value = match tag {
                    Some(_) => Err(Unfit::Tag),
                    None => scalar(text, style),
                };
                // A document that is empty but for its mark has nothing to say.
                if nest.depth() > 0 || value != Err(Unfit::Null) {
                    nest.value(value, at)?;
                }
            }
            // That it merges is said already.
            Event::Alias(_) if is_merged => nest.skip_value(),
            Event::Alias(_) => nest.value(Err(Unfit::Alias), at)?,
            Event::MappingStart(_, _, tag) => {
                tagged(tag.as_deref(), at, nest)?;
                nest.open_table(at)?;
            }
            Event::SequenceStart(_, _, tag) => {
                tagged(tag.as_deref(), at, nest)?;
                nest.open_list(at)?;
            }
            Event::MappingEnd | Event::SequenceEnd => nest.close()?,
            _ => {}
        }
    }
    Ok(())
}

fn begins_node(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Alias(_) | Event::MappingStart(..) | Event::SequenceStart(..)
    )
}

fn no_tag(tag: Option<&Tag>, at: usize) -> Result<(), Stop> {
    match tag {
        None => Ok(()),
        Some(_) => Err(Stop::new("a name has a tag, which no name here has", at)),
    }
}

/// A table or list with a tag is noted under its name; the file itself has none.
fn tagged(tag: Option<&Tag>, at: usize, nest: &mut Nest) -> Result<(), Stop> {
    match tag {
        None => Ok(()),
        Some(_) if nest.depth() == 0 => Err(Stop::new("the file's table has a tag", at)),
        Some(_) => nest.unfit(Unfit::Tag),
    }
}

/// The text of a value, by the core schema. Words such as `on` are texts there, as every reader of values likes them.
fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value<'_> {
    if style != ScalarStyle::Plain {
        return Ok(text);
    }
    if matches!(&*text, "" | "~" | "null" | "Null" | "NULL") {
        return Err(Unfit::Null);
    }
    let other = [("0x", 16), ("0o", 8)]
        .into_iter()
        .find_map(|(prefix, base)| {
            let digits = text.strip_prefix(prefix)?;
            let only = digits.chars().all(|digit| digit.is_digit(base));
            only.then(|| number::whole(digits, base)).flatten()
        });
    if let Some(number) = other {
        return Ok(Cow::Owned(number));
    }
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if text.chars().all(numeric) && text.parse::<f64>().is_ok() {
        return Ok(Cow::Owned(number::decimal(&text).into_owned()));
    }
    Ok(text)
}
