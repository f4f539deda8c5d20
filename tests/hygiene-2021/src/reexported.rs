//! The library by way of this crate's own modules.

use crate::error::Result;
use crate::reexport::adaptive_limit;

/// From a module that has all of it.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = crate::reexport, name = "reexported")]
pub fn sync(number: u32) -> Result<u32> {
    Ok(number)
}

/// The same, later.
///
/// # Errors
/// If the call is rejected.
#[adaptive_limit(crate = crate::reexport, drop_on = [])]
pub async fn asynchronous(number: u32) -> Result<u32> {
    std::future::ready(()).await;
    Ok(number)
}

/// From a module that has it under yet another name.
///
/// # Errors
/// If the call is rejected.
#[crate::reexport::deeper::renamed_again::adaptive_limit(crate = super::reexport::deeper::renamed_again)]
pub fn deeper(number: u32) -> Result<u32> {
    Ok(number)
}

/// Makes a limited fn where only this crate is known.
#[macro_export]
macro_rules! limited {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($argument:ident: $type:ty) -> $output:ty $body:block) => {
        $(#[$meta])*
        #[$crate::reexport::adaptive_limit(crate = $crate::reexport)]
        $vis fn $name($argument: $type) -> $output $body
    };
}

limited! {
    /// By a macro.
    ///
    /// # Errors
    /// If the call is rejected.
    pub fn by_a_macro(number: u32) -> Result<u32> {
        Ok(number)
    }
}
