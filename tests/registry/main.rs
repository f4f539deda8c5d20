//! The registry: settings laid over each other, names shared, mistakes told.

mod layers;
mod mistakes;
mod scopes;
mod sharing;
