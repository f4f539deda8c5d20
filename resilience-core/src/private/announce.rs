//! How an expansion announces its call site. A macro, since a macro cannot see the library's features.

/// Leaves a site in the list.
#[cfg(feature = "sites")]
#[doc(hidden)]
#[macro_export]
macro_rules! __announce {
    ($how:ident $site:ident) => {
        $crate::__private::inventory::submit! {
            $crate::__private::Announced::$how(&$site)
        }
    };
}

/// Leaves nothing.
#[cfg(not(feature = "sites"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __announce {
    ($how:ident $site:ident) => {};
}
