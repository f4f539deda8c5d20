//! What is another thing in the edition that the attribute itself is written in.

use std::cell::RefCell;

use limits::adaptive_limit;

use crate::error::Result;

/// A word that became reserved.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = limits)]
#[allow(keyword_idents_2024)]
pub fn reserved(gen: u32) -> Result<u32> {
    Ok(gen)
}

/// The same, later, where the argument is bound anew.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = limits)]
#[allow(keyword_idents_2024)]
pub async fn reserved_later(mut gen: Vec<u32>, other: String) -> Result<usize> {
    std::future::ready(()).await;
    gen.push(0);
    Ok(gen.len() + other.len())
}

/// The name itself.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = limits)]
#[allow(keyword_idents_2024)]
pub fn gen(number: u32) -> Result<u32> {
    Ok(number)
}

/// The borrow of the last expression ends behind the local that it is from, which this edition refuses in a plain fn; here
/// the local is an argument.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = limits)]
pub async fn last_expression(cell: RefCell<Vec<u32>>) -> Result<usize> {
    std::future::ready(()).await;
    Ok(cell.borrow().len())
}

/// A panic of this edition.
///
/// # Errors
/// If the call is rejected.
///
/// # Panics
/// Always.
#[adaptive_limit(crate = limits)]
pub fn never(number: u32) -> Result<u32> {
    panic!("{number}")
}

/// The same, later.
///
/// # Errors
/// If the call is rejected.
///
/// # Panics
/// Always.
#[adaptive_limit(crate = limits)]
pub async fn never_later(number: u32) -> Result<u32> {
    std::future::ready(()).await;
    panic!("{number}")
}

#[allow(edition_2024_expr_fragment_specifier)]
mod fragments {
    use crate::error::{Failure, Result};
    use limits::adaptive_limit;
    macro_rules! made {
        ($name:ident, $expression:expr, $pattern:pat, $body:block) => {
            /// By a macro whose fragments have this edition's grammar.
            ///
            /// # Errors
            /// If the call is rejected.
            #[adaptive_limit(crate = limits, drop_on = [$pattern])]
            pub fn $name() -> Result<u32> {
                let twice = $expression * 2;
                let body: u32 = $body;
                Ok(twice + body)
            }
        };
    }

    made!(made, 1 + 2, Failure::Busy | Failure::NoNumber, { 4 });
}
pub use fragments::made;
