//! Where settings come from: each source hands over keys and texts with their places, and reads no value itself.

pub(crate) mod environment;
pub(crate) mod file;
mod properties;
#[cfg(feature = "config")]
pub(crate) mod tree;

use super::place::Place;

/// A key and a value as a source has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) place: Place,
}
