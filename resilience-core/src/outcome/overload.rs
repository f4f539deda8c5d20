//! Which errors mean overload, chosen by name.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::chain;

/// Whether an error is of a kind; asked about each error of a source chain.
pub(crate) type Predicate = Arc<dyn Fn(&(dyn StdError + 'static)) -> bool + Send + Sync>;

/// The kinds that are known everywhere.
pub(crate) const KINDS: [&str; 3] = ["timeout", "limit-exceeded", "bulkhead-full"];

/// Returns a kind that is known everywhere.
pub(crate) fn kind(name: &str) -> Option<Predicate> {
    let is: fn(&(dyn StdError + 'static)) -> bool = match name {
        "timeout" => chain::is_time_out,
        "limit-exceeded" => chain::is_limit_exceeded,
        "bulkhead-full" => chain::is_bulkhead_full,
        _ => return None,
    };
    Some(Arc::new(is))
}

/// The kinds of errors that mean overload to a limit.
#[derive(Clone)]
pub(crate) struct Overload {
    pub(crate) names: Vec<String>,
    pub(crate) kinds: Vec<Predicate>,
    /// Whether this was chosen for the one limit from outside of the code, and so stands over the patterns of attributes.
    pub(crate) over_patterns: bool,
}

impl Overload {
    /// Whether an error, or what caused it, is of one of the kinds.
    pub(crate) fn is(&self, error: &(dyn StdError + 'static)) -> bool {
        chain::any(error, |error| self.kinds.iter().any(|kind| kind(error)))
    }
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
