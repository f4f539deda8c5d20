//! Every bound's mistake is told, each at its own token, and the fn is still there.

use resilience::{Error, adaptive_limit};

#[adaptive_limit(min_limit = 0, max_limit = -1, initial_limit = 1.5)]
fn not_positive() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(min_limit = "1", max_limit = 1_000_001, initial_limit = true)]
fn wrong_kinds() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(min_limit = 99999999999999999999999, max_limit = 10i64, initial_limit = 'a')]
fn overflow() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(min_limit = 10, max_limit = 5, initial_limit = 20)]
fn out_of_order() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(min_limit = 5, initial_limit = 4)]
fn initial_below() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_limit = 5, initial_limit = 6)]
fn initial_above() -> Result<(), Error> {
    Ok(())
}

const BIG: u64 = 5;

#[adaptive_limit(max_limit = BIG)]
fn constant_of_another_type() -> Result<(), Error> {
    Ok(())
}

fn main() {
    not_positive().unwrap();
    wrong_kinds().unwrap();
    overflow().unwrap();
    out_of_order().unwrap();
    initial_below().unwrap();
    initial_above().unwrap();
}
