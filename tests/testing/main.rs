//! What helps users to test: scripts, calls on the manual clock, assertions, recordings; and the names that serde writes.

mod assertions;
mod calls;
mod formats;
mod recordings;
mod scripts;
