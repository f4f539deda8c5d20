//! Waits and modes that cannot be.

use resilience::{Error, adaptive_limit};

macro_rules! waits {
    ($($name:ident: $wait:expr;)*) => {
        $(
            #[adaptive_limit(max_wait = $wait)]
            fn $name() -> Result<(), Error> {
                Ok(())
            }
        )*
    };
}

waits! {
    none: "0s";
    bare: 50;
    no_unit: "50";
    no_quotes: 50ms;
    too_short: "999us";
    too_long: "2h";
    no_literal: WAIT;
}

#[adaptive_limit(queue_limit = 10)]
fn nobody_waits() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(queue_limit = 10, config = "patient")]
fn configured() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_wait = "50ms", queue_limit = 0)]
fn no_queue() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_wait = "50ms", queue_limit = 1_000_001, mode = "watch")]
fn out_of_range() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_wait = "50ms", queue_limit = "ten", mode = observed)]
fn wrong_kind() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(mode = true)]
fn no_mode() -> Result<(), Error> {
    Ok(())
}

const NONE: u32 = 0;

#[adaptive_limit(max_wait = "50ms", queue_limit = NONE)]
fn constant() -> Result<(), Error> {
    Ok(())
}

fn main() {}
