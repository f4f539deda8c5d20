//! Where a value was written.

use std::fmt;
use std::sync::Arc;

/// Where a value was written, as messages tell it. Cheap to clone: every value has one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// "config/app.properties:3"; no line where the source has none.
    File { file: Arc<str>, line: Option<u32> },
    /// A variable, by its name.
    Variable(Arc<str>),
}

impl Place {
    /// "; at config/app.properties:3", to follow what is said about a key; nothing for a variable, which is its own place.
    pub(crate) fn after_key(&self) -> String {
        match self {
            Self::Variable(_) => String::new(),
            Self::File { .. } => format!("; at {self}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line: None } => f.write_str(file),
            Self::File {
                file,
                line: Some(line),
            } => write!(f, "{file}:{line}"),
            Self::Variable(name) => write!(f, "variable {name}"),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_editors_and_shells_name_it() {
        let file: Arc<str> = "config/app.properties".into();
        let line = Some(3);
        let shown = |place: Place| place.to_string();
        assert_eq!(
            shown(Place::File {
                file: file.clone(),
                line
            }),
            "config/app.properties:3"
        );
        assert_eq!(
            shown(Place::File { file, line: None }),
            "config/app.properties"
        );
        assert_eq!(
            shown(Place::Variable("RESILIENCE__X".into())),
            "variable RESILIENCE__X"
        );
    }
}
