//! Where settings come from: each source hands over keys and texts with their places, and reads no value itself.

#[cfg(feature = "config")]
pub(crate) mod built;
pub(crate) mod environment;
pub(crate) mod file;
#[cfg(any(
    feature = "config",
    feature = "toml",
    feature = "yaml",
    feature = "json"
))]
mod list;
mod properties;
#[cfg(any(feature = "toml", feature = "yaml", feature = "json"))]
mod tables;

use std::fmt;

use super::place::Place;

/// A key and a value as a source has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) key: String,
    pub(crate) text: String,
    /// Why the value has no text, if it has none. Somebody else's keys may have such values.
    pub(crate) unfit: Option<Unfit>,
    pub(crate) place: Place,
}

/// What may stand in a file, but is no value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // Which of them there are depends on the formats that are on.
pub(crate) enum Unfit {
    Null,
    NestedList,
    CommaInItem,
    Alias,
    Merge,
    Tag,
}

impl Unfit {
    /// Whether it stands for what would be settings, so that passing over it would lose them.
    pub(crate) fn hides_settings(self) -> bool {
        matches!(self, Self::Alias | Self::Merge | Self::Tag)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "is null, which no property is: leave it out where it says nothing",
            Self::NestedList => "is a list of lists or tables, which no property is",
            Self::CommaInItem => "is a list with an item that holds a comma",
            Self::Alias => "is an alias, which is not followed: write out what it stands for",
            Self::Merge => "merges a table, which is not done: write out what is in it",
            Self::Tag => "has a tag, which nothing here has: write the value without it",
        })
    }
}
