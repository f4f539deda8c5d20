//! The adaptive limit: how many calls may be in flight, and how that number is found.

pub mod algorithm;
pub mod window;
