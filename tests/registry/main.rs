//! The registry: settings laid over each other, names shared, mistakes told.

mod keyed;
mod layers;
mod mistakes;
mod scopes;
mod sharing;
