//! The algorithms that come from elsewhere: against recordings of the reference, against the rules that hold for
//! all, and each deviation from the reference against the reference.

#![expect(clippy::float_cmp, reason = "the limits are exact")]

mod deviations;
mod options;
mod properties;
mod vectors;
