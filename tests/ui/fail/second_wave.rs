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

fn main() {}
