//! The names that limits are found by.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The id of an instance in a registry, cheap to clone.
///
/// The id of an attribute is a `&'static str` and costs nothing to clone, so a rejection carries it without touching
/// a shared counter; an id made at run time is shared by reference count. Ids are compared exactly, letter for letter.
///
/// # Examples
///
/// ```
/// use resilience::Id;
///
/// assert_eq!(Id::from("orders"), Id::from(String::from("orders")));
/// assert_eq!(Id::from("orders").as_str(), "orders");
/// ```
pub struct Id(Repr);

enum Repr {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Id {
    /// Returns the id's text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Static(text) => text,
            Repr::Shared(text) => text,
        }
    }
}

impl Clone for Id {
    #[inline]
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Repr::Static(text) => Repr::Static(text),
            Repr::Shared(text) => Repr::Shared(text.clone()),
        })
    }
}

impl From<&'static str> for Id {
    fn from(text: &'static str) -> Self {
        Self(Repr::Static(text))
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self(Repr::Shared(text.into()))
    }
}

impl From<Arc<str>> for Id {
    fn from(text: Arc<str>) -> Self {
        Self(Repr::Shared(text))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

// As `str` hashes, so that a map keyed by ids is searched with a `&str`.
impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Borrow<str> for Id {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
