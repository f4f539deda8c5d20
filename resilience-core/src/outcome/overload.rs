//! Which errors mean overload, chosen by name.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::chain;

/// Whether an error is of a kind; asked about each error of a source chain.
pub(crate) type Predicate = Arc<dyn Fn(&(dyn StdError + 'static)) -> bool + Send + Sync>;

/// The kinds that are known everywhere.
pub(crate) const KINDS: [&str; 3] = ["timeout", "limit-exceeded", "bulkhead-full"];

type BuiltIn = fn(&(dyn StdError + 'static)) -> bool;

/// Returns a kind that is known everywhere. It asks for types without lifetimes only.
pub(crate) fn built_in(name: &str) -> Option<BuiltIn> {
    match name {
        "timeout" => Some(chain::is_time_out),
        "limit-exceeded" => Some(chain::is_limit_exceeded),
        "bulkhead-full" => Some(chain::is_bulkhead_full),
        _ => None,
    }
}

/// The kinds of errors that mean overload to a limit.
#[derive(Clone)]
pub(crate) struct Overload {
    pub(crate) names: Vec<String>,
    built_in: Vec<BuiltIn>,
    added: Vec<Predicate>,
    /// Whether this was chosen for the one limit from outside of the code, and so stands over the patterns of attributes.
    pub(crate) over_patterns: bool,
}

impl Overload {
    /// `names` are known, built in or among the `added`. Their order and how often they come say nothing.
    pub(crate) fn new<'a>(
        names: impl Iterator<Item = &'a str>,
        added: &BTreeMap<String, Predicate>,
        over_patterns: bool,
    ) -> Self {
        let names: BTreeSet<&str> = names.collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Self {
            built_in: names.iter().filter_map(|name| built_in(name)).collect(),
            added: names
                .iter()
                .filter_map(|name| added.get(name).cloned())
                .collect(),
            over_patterns,
            names,
        }
    }

    /// Whether an error, or what caused it, is of one of the kinds that are known everywhere.
    pub(crate) fn is_built_in(&self, error: &(dyn StdError + 'static)) -> bool {
        chain::any(error, |error| self.built_in.iter().any(|is| is(error)))
    }

    /// Whether an error, or what caused it, is of one of the kinds that the program added.
    pub(crate) fn is_added(&self, error: &(dyn StdError + 'static)) -> bool {
        chain::any(error, |error| self.added.iter().any(|is| is(error)))
    }
}

/// An error that tells by itself whether it is of a kind, for limits whose settings choose kinds by name.
///
/// The kinds of a program are added to the registry with [`Builder::kind`](crate::registry::Builder::kind), which also says
/// what a cause of that kind is. Of the error itself it says nothing, unless that implements this.
///
/// # Examples
///
/// ```
/// use resilience::outcome::OfKind;
/// use std::fmt;
///
/// #[derive(Debug)]
/// enum SearchError {
///     Status(u16),
///     NotFound,
/// }
///
/// impl OfKind for SearchError {
///     fn is_of_kind(&self, kind: &str) -> bool {
///         kind == "busy" && matches!(self, Self::Status(429 | 503))
///     }
/// }
/// # assert!(SearchError::Status(503).is_of_kind("busy") && !SearchError::NotFound.is_of_kind("busy"));
/// ```
pub trait OfKind {
    /// Returns whether this error is of the kind of that name.
    fn is_of_kind(&self, kind: &str) -> bool;
}

impl fmt::Debug for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.names).finish()?;
        if self.over_patterns {
            f.write_str(" over the patterns of attributes")?;
        }
        Ok(())
    }
}
