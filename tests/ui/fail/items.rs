//! Items that cannot be limited.

use resilience::{Error, adaptive_limit};

#[adaptive_limit]
const fn constant() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit]
struct Struct;

#[adaptive_limit]
pub enum Enum {}

#[adaptive_limit]
mod module {}

#[adaptive_limit]
const CONST: u32 = 1;

impl Struct {
    #[adaptive_limit(skip)]
    fn method(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[adaptive_limit]
unsafe impl Send for Enum {}

#[adaptive_limit]
trait Trait {
    #[adaptive_limit]
    fn required(&self) -> Result<(), Error>;
}

unsafe extern "C" {
    #[adaptive_limit]
    fn foreign();
}

#[adaptive_limit]
unsafe extern "C" {}

#[adaptive_limit]
fn never() -> ! {
    loop {}
}

// Two mistakes in one attribute and one in the item.
#[adaptive_limit(max_limit = 0, nmae = "a")]
const fn several() -> Result<(), Error> {
    Ok(())
}

fn main() {
    constant().unwrap();
    Struct.method().unwrap();
    several().unwrap();
    let _ = CONST;
}
