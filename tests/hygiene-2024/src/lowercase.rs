//! Constants and statics in lower case, as bindings to C have them, and a trait of everything with methods like ours.
#![expect(
    non_upper_case_globals,
    dead_code,
    reason = "their names are what is tested"
)]

use ::resilience::Error;
use ::resilience::adaptive_limit;

const error: u32 = 1;
const resolved: u32 = 2;
static output: u32 = 3;
struct permit;

/// On every type there is.
trait Everything {
    fn classify(&self) -> u8 {
        1
    }
    fn classify_rest(&self) -> u8 {
        2
    }
}

impl<T: ?Sized> Everything for T {}

fn is_busy(found: &Result<u32, Error>) -> bool {
    found.is_err()
}

/// Judged by default.
#[adaptive_limit]
pub fn plain() -> Result<u32, Error> {
    Ok(error + resolved + output)
}

/// Judged by patterns.
#[adaptive_limit(drop_on = [_])]
pub async fn patterns() -> Result<u32, Error> {
    Ok(error)
}

/// Judged by a fn, and by default for the rest.
#[adaptive_limit(drop_if = is_busy)]
pub fn by_a_fn() -> Result<u32, Error> {
    Ok(u32::from(1.classify()))
}

/// A future in a box of its own.
#[adaptive_limit(registry = ::resilience::registry::Registry::global())]
#[must_use]
pub fn boxed() -> ::core::pin::Pin<Box<dyn Future<Output = Result<u32, Error>> + Send>> {
    Box::pin(async move { Ok(output) })
}
