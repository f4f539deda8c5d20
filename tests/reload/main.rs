//! Settings from outside of the code: where they come from, what happens when they change, and what is told about them.

mod explained;
mod files;
mod foreign;
mod formats;
mod kinds;
mod live;
mod mistakes;
mod precedence;
mod storm;
mod support;
mod watched;
