//! Bounds that are constants: their values are known to the compiler, and checked by it.

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

fn main() {}
