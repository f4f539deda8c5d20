//! Outputs in `impl` blocks that leave open what a rejected call returns.

use resilience::{Error, adaptive_limit};

struct Store;

#[adaptive_limit]
impl Store {
    fn get(&self) -> Result<u32, Error> {
        Ok(1)
    }

    fn len(&self) -> usize {
        1
    }
}

fn main() {
    Store.get().unwrap();
    Store.len();
}
