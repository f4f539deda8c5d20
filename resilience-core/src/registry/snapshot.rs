//! What a registry holds at one moment.

use super::KeyedSnapshot;
use crate::limit::Snapshot;

/// All limits of a registry at one moment, ordered by id.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RegistrySnapshot {
    /// One for each adaptive limit.
    pub limits: Vec<Snapshot>,
    /// One for each family of limits by key, ordered by id.
    pub keyed: Vec<KeyedSnapshot>,
    /// What is wrong with the settings from outside of the code that were read last, if they are not in force.
    pub stale: Option<String>,
}
