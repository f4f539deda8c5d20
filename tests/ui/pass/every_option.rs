//! Every option at once.

use resilience::registry::Registry;
use resilience::{Error, adaptive_limit};

const MOST: u32 = 50;

fn is_busy(output: &Result<u32, Error>) -> bool {
    matches!(output, Ok(503))
}

fn rejected(error: Error) -> Result<u32, Error> {
    Err(error)
}

mod names {
    pub(crate) const EVERY: &str = "every";
    pub(crate) static PARTNERS: &str = "søk/🦀 №1";
}

#[adaptive_limit(
    name = names::EVERY,
    config = names::PARTNERS,
    algorithm = "AIMD",
    initial_limit = 10,
    min_limit = 2,
    max_limit = MOST,
    window = "250ms",
    drop_on = [_],
    drop_if = is_busy,
    rejected = rejected,
    enabled = true,
    max_wait = "50ms",
    queue_limit = MOST,
    mode = "enforce",
    registry = registry,
    crate = resilience
)]
async fn every(registry: Registry) -> Result<u32, Error> {
    Ok(200)
}

#[adaptive_limit(name = concat!("a", "b"))]
fn from_a_macro() -> Result<u32, Error> {
    Ok(200)
}

fn main() {
    let _ = from_a_macro();
    drop(every(Registry::new()));
}
