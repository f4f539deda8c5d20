//! Settings from outside: files, variables and what a program brings, read into the same keys and values.
//!
//! Sources hand over keys and texts with their places ([`source`]); a [`Schema`](key::Schema) says what a key means;
//! [`layers`] reads the values and has for every section and id one patch of settings. Which policies there are is not
//! known here: each brings its properties ([`patch`]).

pub(crate) mod key;
pub(crate) mod layers;
pub(crate) mod patch;
pub(crate) mod place;
pub(crate) mod quote;
pub(crate) mod source;
pub(crate) mod sources;
pub(crate) mod value;
