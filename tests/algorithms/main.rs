//! The algorithms that come from elsewhere: against recordings of the reference, against the rules that hold for
//! all, each deviation from the reference against the reference, and what each of them is good and bad at.

#![expect(clippy::float_cmp, reason = "the limits are exact")]

mod character;
mod deviations;
mod knee;
mod options;
mod properties;
mod vectors;
