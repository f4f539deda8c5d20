//! Collects what a parser tells of tables in tables into keys and texts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Stop, syntax};
use crate::config::place::Place;
use crate::config::quote::named;
use crate::config::source::{Unfit, Written, list};
use crate::error::Problem;

/// Tables and lists may stand this deep in each other.
pub(super) const DEEPEST: usize = 128;

/// All keys of a file may have this many bytes together. They are written out here, and a file that has one long name with
/// many short ones in it would come to far more than its size.
const MOST: usize = 16 * 1024 * 1024;

/// So many faults of one file are told.
const TOLD: usize = 100;

/// What a value says: its text, or why it has none.
pub(super) type Value<'a> = Result<Cow<'a, str>, Unfit>;

/// The tables and lists that are open, and what was found so far.
pub(super) struct Nest {
    file: Arc<str>,
    /// The offset at which each line begins, but for the first.
    lines: Vec<usize>,
    open: Vec<Open>,
    /// The names of all open tables, joined with dots.
    path: String,
    /// Where the last name stands.
    named_at: usize,
    /// How many of the open ones are lists.
    in_lists: usize,
    spent: usize,
    written: Vec<Written>,
    problems: Vec<Problem>,
    /// How many more names are given twice.
    untold: usize,
}

enum Open {
    Table {
        /// With the offset of each.
        names: BTreeMap<String, usize>,
        /// The length of the path in front of this table's names.
        path: usize,
        /// Where the name stands whose value comes next.
        name: Option<usize>,
    },
    List {
        items: Result<Vec<String>, Unfit>,
    },
}

impl Nest {
    pub(super) fn new(file: &Arc<str>, text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Self {
            file: file.clone(),
            lines: ends.map(|(at, _)| at + 1).collect(),
            open: Vec::new(),
            path: String::new(),
            named_at: 0,
            in_lists: 0,
            spent: 0,
            written: Vec::new(),
            problems: Vec::new(),
            untold: 0,
        }
    }

    pub(super) fn place(&self, at: Option<usize>) -> Place {
        let line = at.map(|at| 1 + self.lines.partition_point(|begin| *begin <= at) as u32);
        Place::File {
            file: self.file.clone(),
            line,
        }
    }

    /// Notes what is wrong with the text.
    pub(super) fn fault(&mut self, why: &str, at: Option<usize>) {
        let problem = syntax(why, &self.place(at));
        self.problems.push(problem);
    }

    pub(super) fn given_twice(&mut self, name: &str, at: usize, before: Option<usize>) {
        if self.problems.len() == TOLD {
            self.untold += 1;
            return;
        }
        let mut why = format!("{} is given twice", named(name));
        if let Some(before) = before {
            why = format!("{why}: before at {}", self.place(Some(before)));
        }
        let problem = syntax(&why, &self.place(Some(at)));
        self.problems.push(problem);
    }

    /// How many tables and lists are open.
    #[cfg(feature = "yaml")]
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether a name comes next.
    #[cfg(feature = "yaml")]
    pub(super) fn wants_name(&self) -> bool {
        matches!(self.open.last(), Some(Open::Table { name: None, .. }))
    }

    pub(super) fn open_table(&mut self, at: usize) -> Result<(), Stop> {
        self.enter(at)?;
        if self.in_lists > 0 {
            self.spoil();
        }
        self.open.push(Open::Table {
            names: BTreeMap::new(),
            path: self.path.len(),
            name: None,
        });
        Ok(())
    }

    pub(super) fn open_list(&mut self, at: usize) -> Result<(), Stop> {
        self.enter(at)?;
        if self.open.is_empty() {
            return Err(Stop::new(
                "a list is in the place of a table of names and values",
                at,
            ));
        }
        if self.in_lists > 0 {
            self.spoil();
        }
        self.open.push(Open::List {
            items: Ok(Vec::new()),
        });
        self.in_lists += 1;
        Ok(())
    }

    fn enter(&self, at: usize) -> Result<(), Stop> {
        if self.open.len() < DEEPEST {
            return Ok(());
        }
        let why = format!("tables and lists stand more than {DEEPEST} deep in each other");
        Err(Stop::new(why, at))
    }

    /// The innermost list holds more than texts.
    fn spoil(&mut self) {
        if let Some(Open::List { items }) = self.open.last_mut() {
            *items = Err(Unfit::NestedList);
        }
    }

    /// Takes the end of the innermost table or list.
    pub(super) fn close(&mut self) -> Result<(), Stop> {
        match self.open.pop() {
            None => {}
            Some(Open::Table { path, .. }) => {
                self.path.truncate(path);
                self.had_value();
            }
            Some(Open::List { items }) => {
                self.in_lists -= 1;
                if self.in_lists == 0 {
                    self.write(items.and_then(|items| list::join(&items)).map(Cow::Owned))?;
                }
                self.had_value();
            }
        }
        Ok(())
    }

    pub(super) fn name(&mut self, text: &str, at: usize) {
        self.named_at = at;
        let is_root = self.open.len() == 1;
        let Some(Open::Table { names, path, name }) = self.open.last_mut() else {
            debug_assert!(false, "a name stands in a table");
            return;
        };
        *name = Some(at);
        self.path.truncate(*path);
        if !is_root {
            self.path.push('.');
        }
        self.path.push_str(text);
        match names.get(text).copied() {
            Some(before) => self.given_twice(text, at, Some(before)),
            None => {
                names.insert(text.to_owned(), at);
            }
        }
    }

    pub(super) fn value(&mut self, value: Value<'_>, at: usize) -> Result<(), Stop> {
        match self.open.last_mut() {
            None => {
                return Err(Stop::new(
                    "a value is in the place of a table of names and values",
                    at,
                ));
            }
            Some(Open::List { items }) => {
                if let Ok(texts) = items {
                    match value {
                        Ok(text) => texts.push(text.into_owned()),
                        Err(unfit) => *items = Err(unfit),
                    }
                }
            }
            Some(Open::Table { .. }) => {
                if self.in_lists == 0 {
                    self.write(value)?;
                }
                self.had_value();
            }
        }
        Ok(())
    }

    /// Writes down that what stands under the last name is more than its value says.
    #[cfg(feature = "yaml")]
    pub(super) fn unfit(&mut self, unfit: Unfit) -> Result<(), Stop> {
        match self.open.last_mut() {
            Some(Open::Table { .. }) if self.in_lists == 0 => self.write(Err(unfit)),
            Some(Open::List { items }) => {
                *items = Err(unfit);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, value: Value<'_>) -> Result<(), Stop> {
        let at = match self.open.last() {
            Some(Open::Table { name: Some(at), .. }) => *at,
            _ => self.named_at,
        };
        self.spent += self.path.len();
        if self.spent > MOST {
            let why = format!("the keys are longer than {MOST} bytes, written out");
            return Err(Stop::new(why, at));
        }
        let place = self.place(Some(at));
        let (text, unfit) = match value {
            Ok(text) => (text.into_owned(), None),
            Err(unfit) => (String::new(), Some(unfit)),
        };
        self.written.push(Written {
            key: self.path.clone(),
            text,
            unfit,
            place,
        });
        Ok(())
    }

    /// Passes over the value of the last name.
    #[cfg(feature = "yaml")]
    pub(super) fn skip_value(&mut self) {
        self.had_value();
    }

    fn had_value(&mut self) {
        if let Some(Open::Table { name, .. }) = self.open.last_mut() {
            *name = None;
        }
    }

    /// All that was found, in the order of the file.
    pub(super) fn finish(mut self) -> Result<Vec<Written>, Vec<Problem>> {
        if self.untold > 0 {
            let why = format!("{} more names are given twice", self.untold);
            self.fault(&why, None);
        }
        if self.problems.is_empty() {
            // Of one file, so this is by line.
            self.written
                .sort_by(|left, right| left.place.cmp(&right.place));
            Ok(self.written)
        } else {
            Err(self.problems)
        }
    }
}
