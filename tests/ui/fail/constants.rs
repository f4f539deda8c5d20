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

struct Orders;

impl Orders {
    const NAME: &str = "orders";
    const MOST: u32 = 5;

    #[adaptive_limit(name = Self::NAME, max_limit = 2 * Self::MOST)]
    fn by_self(&self) -> Result<(), Error> {
        Ok(())
    }

    #[adaptive_limit(name = Orders::NAME, max_limit = 2 * Orders::MOST)]
    fn by_type(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[adaptive_limit(config = <Self as Named>::NAME)]
impl Orders {
    fn of_a_block(&self) -> Result<(), Error> {
        Ok(())
    }
}

fn main() {
    let _ = (Orders.by_self(), Orders.by_type(), Orders.of_a_block());
}
