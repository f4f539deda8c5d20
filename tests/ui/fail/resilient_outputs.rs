//! What the compiler says of a trait whose outputs cannot be made from a rejection, or whose supertraits the delegate lacks.

use resilience::{Error, resilient};

#[resilient]
trait Outputs {
    #[adaptive_limit]
    fn count(&self) -> u32;

    #[adaptive_limit]
    async fn text(&self) -> Result<String, std::fmt::Error>;

    #[adaptive_limit(rejected = nothing)]
    fn optional(&self) -> Option<u32>;
}

fn nothing(_: Error) -> Option<u64> {
    None
}

trait Named {
    fn name(&self) -> String;
}

#[resilient]
trait Inherits: Named {
    #[adaptive_limit]
    fn call(&self) -> Result<u32, Error>;
}

impl Named for u32 {
    fn name(&self) -> String {
        self.to_string()
    }
}

impl Inherits for u32 {
    fn call(&self) -> Result<u32, Error> {
        Ok(*self)
    }
}

fn main() {
    ResilientInherits::new(1_u32).call().unwrap();
}
