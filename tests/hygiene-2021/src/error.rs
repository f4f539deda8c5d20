//! An error and an alias of `Result`.

use std::fmt;

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// The call was rejected.
    Limited(limits::Error),
    /// The dependency has too much to do.
    Busy,
    /// The text is none.
    NoNumber,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limited(error) => error.fmt(f),
            Self::Busy => f.write_str("busy"),
            Self::NoNumber => f.write_str("no number"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Limited(error) => Some(error),
            Self::Busy | Self::NoNumber => None,
        }
    }
}

impl From<limits::Error> for Failure {
    fn from(error: limits::Error) -> Self {
        Self::Limited(error)
    }
}

impl From<std::num::ParseIntError> for Failure {
    fn from(_: std::num::ParseIntError) -> Self {
        Self::NoNumber
    }
}

/// A result of this crate.
pub type Result<T, E = Failure> = std::result::Result<T, E>;
