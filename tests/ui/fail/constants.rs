//! Bounds and names that are constants: their values are known to the compiler, and checked by it.

use resilience::{Error, adaptive_limit};

const NONE: u32 = 0;
const MANY: u32 = 1_000_001;

#[adaptive_limit(min_limit = NONE)]
fn none() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_limit = MANY)]
async fn many() -> Result<(), Error> {
    Ok(())
}

const EMPTY: &str = "";
static BLANK: &str = " \t ";
const LINES: &str = "two\nlines";
const BEYOND_ASCII: &str = "\u{85}";

#[adaptive_limit(name = EMPTY)]
fn empty() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(config = BLANK)]
fn blank() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = LINES)]
fn lines() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(config = BEYOND_ASCII)]
fn beyond_ascii() -> Result<(), Error> {
    Ok(())
}

fn main() {}
