//! Names that cannot be told in a line of text.

use resilience::{Error, adaptive_limit};

#[adaptive_limit(name = "two\nlines", config = "a\u{1b}[31m")]
fn escaped() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "two
lines")]
fn literal() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "søk/🦀 №1")]
fn other_alphabets() -> Result<(), Error> {
    Ok(())
}

fn main() {
    let _ = other_alphabets();
}
