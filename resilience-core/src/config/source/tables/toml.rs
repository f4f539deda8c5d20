//! Reads TOML, with the tables of the `toml` crate, which know where their names stand.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};
use toml_parser::parser::{Event, EventKind, RecursionGuard};

use super::nest::Nest;
use super::{Stop, number, one_line};

/// So many faults of one file are told: each is looked for, and most of many follow from the first.
const TOLD: usize = 10;

/// Lists and tables in braces may stand this deep in each other, as the parser has it too.
const DEEPEST: u32 = 80;

pub(super) fn read(text: &str, nest: &mut Nest) -> Result<(), Stop> {
    if let Some(at) = too_deep(text) {
        return Err(Stop::new(TOO_DEEP, at));
    }
    let (table, mut errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return walk(text, table.get_ref(), nest);
    }
    errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    let mut last = None;
    let places = errors.into_iter().filter(|error| {
        // What is wrong behind the first fault of a line follows from it.
        let place = nest.place(error.span().map(|span| span.start));
        last.replace(place.clone()) != Some(place)
    });
    for error in places.take(TOLD).collect::<Vec<_>>() {
        told(text, &error, nest);
        if error.message().contains("recurs") {
            break;
        }
    }
    Ok(())
}

const TOO_DEEP: &str = "tables and lists stand too deep in each other";

/// Where more tables stand in each other than a file of ours may have, if they do anywhere.
///
/// The parser bounds the braces in each other and the dots of a name, but not both together: a few thousand tables stand in
/// each other then, and to drop them ends the process. So they are counted before there are any, by the parser's own events.
fn too_deep(text: &str) -> Option<usize> {
    let mut found = None;
    let mut depth = Depth::default();
    let mut count = |event: Event| {
        depth.count(event.kind());
        if depth.above + depth.names > super::nest::DEEPEST {
            found.get_or_insert(event.span().start());
        }
    };
    let tokens = toml_parser::Source::new(text).lex().into_vec();
    let mut guard = RecursionGuard::new(&mut count, DEEPEST);
    toml_parser::parser::parse_document(&tokens, &mut guard, &mut ());
    found
}

#[derive(Default)]
struct Depth {
    /// The names of the table's head, and for each open brace or bracket one and the names of its key.
    above: usize,
    open: Vec<usize>,
    /// The names of the last key.
    names: usize,
    goes_on: bool,
}

impl Depth {
    fn count(&mut self, event: EventKind) {
        match event {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => *self = Self::default(),
            EventKind::StdTableClose | EventKind::ArrayTableClose => {
                self.above = std::mem::take(&mut self.names);
            }
            EventKind::InlineTableOpen | EventKind::ArrayOpen => {
                self.above += self.names + 1;
                self.open.push(std::mem::take(&mut self.names));
            }
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.names = self.open.pop().unwrap_or(0);
                self.above = self.above.saturating_sub(self.names + 1);
            }
            EventKind::SimpleKey if self.goes_on => self.names += 1,
            EventKind::SimpleKey => self.names = 1,
            EventKind::Whitespace => return,
            _ => {}
        }
        self.goes_on = event == EventKind::KeySep;
    }
}

fn told(text: &str, error: &Error, nest: &mut Nest) {
    let at = error.span().map(|span| span.start);
    match error.span() {
        Some(span) if error.message() == "duplicate key" => {
            let (name, before) = first_of(text, &span).unzip();
            let name =
                name.unwrap_or_else(|| text.get(span.clone()).unwrap_or("a name").to_owned());
            nest.given_twice(&name, span.start, before);
        }
        _ if error.message().contains("recurs") => {
            nest.fault(TOO_DEEP, at);
        }
        _ => nest.fault(&one_line(error.message()), at),
    }
}

/// The name that stands at `second`, and where it stood before. The parser knows and does not tell; so it is asked what the
/// file's tables are if the second is called otherwise.
fn first_of(text: &str, second: &Range<usize>) -> Option<(String, usize)> {
    const OTHERWISE: &str = "\"otherwise than all others\"";
    let written = text.get(second.clone())?;
    let name = DeTable::parse(&format!("{written} = 1"))
        .ok()?
        .get_ref()
        .keys()
        .next()?
        .get_ref()
        .to_string();
    let renamed = format!(
        "{}{OTHERWISE}{}",
        text.get(..second.start)?,
        text.get(second.end..)?
    );
    let (tables, _) = DeTable::parse_recoverable(&renamed);
    let mut rest = vec![tables.get_ref()];
    while let Some(table) = rest.pop() {
        if table.keys().any(|key| key.span().start == second.start) {
            let (first, _) = table.iter().find(|(key, _)| *key.get_ref() == name)?;
            return Some((name, first.span().start)).filter(|(_, first)| *first < second.start);
        }
        for value in table.values() {
            push_tables(value.get_ref(), &mut rest);
        }
    }
    None
}

fn push_tables<'a, 'i>(value: &'a DeValue<'i>, rest: &mut Vec<&'a DeTable<'i>>) {
    let mut values = vec![value];
    while let Some(value) = values.pop() {
        match value {
            DeValue::Table(table) => rest.push(table),
            DeValue::Array(items) => values.extend(items.iter().map(Spanned::get_ref)),
            _ => {}
        }
    }
}

/// The rest of a table or a list that is being read.
enum Rest<'a, 'i> {
    Table(toml::map::Iter<'a, Spanned<Cow<'i, str>>, Spanned<DeValue<'i>>>),
    List(std::slice::Iter<'a, Spanned<DeValue<'i>>>),
}

fn walk(text: &str, root: &DeTable<'_>, nest: &mut Nest) -> Result<(), Stop> {
    nest.open_table(0)?;
    let mut open = vec![Rest::Table(root.iter())];
    while let Some(innermost) = open.last_mut() {
        let value = match innermost {
            Rest::Table(pairs) => pairs.next().map(|(name, value)| {
                nest.name(name.get_ref(), name.span().start);
                value
            }),
            Rest::List(items) => items.next(),
        };
        let Some(value) = value else {
            open.pop();
            nest.close()?;
            continue;
        };
        let at = value.span().start;
        let scalar = match value.get_ref() {
            DeValue::Table(table) => {
                nest.open_table(at)?;
                open.push(Rest::Table(table.iter()));
                continue;
            }
            DeValue::Array(items) => {
                nest.open_list(at)?;
                open.push(Rest::List(items.iter()));
                continue;
            }
            DeValue::String(text) => Cow::Borrowed(&**text),
            DeValue::Boolean(on) => Cow::Borrowed(if *on { "true" } else { "false" }),
            DeValue::Integer(whole) => match whole.radix() {
                10 => number::decimal(whole.as_str()),
                base => number::whole(whole.as_str(), base)
                    .map_or_else(|| as_written(text, value), Cow::Owned),
            },
            DeValue::Float(float) => number::decimal(float.as_str()),
            // No property is a date: each says so of the text.
            DeValue::Datetime(_) => as_written(text, value),
        };
        nest.value(Ok(scalar), at)?;
    }
    Ok(())
}

fn as_written<'a>(text: &'a str, value: &Spanned<DeValue<'_>>) -> Cow<'a, str> {
    Cow::Borrowed(text.get(value.span()).unwrap_or_default())
}
