//! The mistake is the user's alone, and so is the message.

use resilience::{Error, adaptive_limit};

#[adaptive_limit]
fn unknown_output() -> Result<Nowhere, Error> {
    Ok(1)
}

#[adaptive_limit]
async fn unknown_output_later() -> Result<Nowhere, Error> {
    Ok(1)
}

#[adaptive_limit]
fn unknown_error() -> Result<u32, Nowhere> {
    Ok(1)
}

#[adaptive_limit]
async fn used_after_move(text: String, rest: String) -> Result<String, Error> {
    drop(text);
    Ok(text + &rest)
}

const NUMBER: u32 = 1;

#[adaptive_limit(name = NUMBER)]
fn no_string() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = orders)]
fn no_quotes() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(config = argument)]
fn argument(argument: &'static str) -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit]
fn no_value() -> Result<u32, Error> {
    Ok(1);
}

#[adaptive_limit]
async fn no_value_later() -> Result<u32, Error> {
    Ok(1);
}

#[adaptive_limit]
fn no_value_with_attribute() -> Result<u32, Error> {
    #![allow(unused)]
    let value = 1;
}

#[adaptive_limit]
fn no_items() -> Result<impl Iterator<Item = u32>, Error> {
    Ok([1].into_iter());
}

fn main() {}
