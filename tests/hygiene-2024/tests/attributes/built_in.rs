//! The attributes of the compiler.

use std::panic::Location;

use resilience::{Error, adaptive_limit};

use crate::{counters, now, scoped};

// That the body of a limited fn does not see its caller's place is documented. It sees its own.
#[track_caller]
#[adaptive_limit]
fn tracked_above() -> Result<(&'static Location<'static>, u32), Error> {
    Ok((Location::caller(), line!()))
}

#[adaptive_limit]
#[track_caller]
fn tracked_below() -> Result<(&'static Location<'static>, u32), Error> {
    Ok((Location::caller(), line!()))
}

/// The way around: a fn that is not limited sees the caller's place and hands it on.
#[adaptive_limit]
fn told(caller: &'static Location<'static>) -> Result<&'static Location<'static>, Error> {
    Ok(caller)
}

#[track_caller]
fn tells() -> Result<&'static Location<'static>, Error> {
    told(Location::caller())
}

#[test]
fn the_tracked_caller_of_the_body_is_the_body() {
    scoped(|_| {
        for (place, own_line) in [tracked_above().unwrap(), tracked_below().unwrap()] {
            assert_eq!((place.file(), place.line()), (file!(), own_line));
        }
        assert_eq!(tells().unwrap().line(), line!());
    });
}

#[must_use = "above"]
#[adaptive_limit(rejected = none)]
fn must_use_above() -> Option<u32> {
    Some(1)
}

#[adaptive_limit(rejected = none)]
#[must_use = "below"]
async fn must_use_below() -> Option<u32> {
    Some(1)
}

fn none(_: Error) -> Option<u32> {
    None
}

#[test]
fn must_use_stays_with_the_fn() {
    scoped(|_| {
        #[expect(unused_must_use)]
        {
            must_use_above();
        }
        #[expect(unused_must_use)]
        {
            now(async {
                must_use_below().await;
            });
        }
    });
}

#[deprecated = "above"]
#[adaptive_limit]
fn deprecated_above() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
#[deprecated = "below"]
async fn deprecated_below() -> Result<u32, Error> {
    Ok(1)
}

mod old {
    #[deprecated]
    #[derive(Debug, PartialEq)]
    pub(super) struct Old;
}

// What the fn is allowed to name, its expansion is too.
#[allow(deprecated)]
#[adaptive_limit]
fn of_a_deprecated_type(old: old::Old) -> Result<old::Old, Error> {
    Ok(old)
}

#[test]
fn deprecated_stays_with_the_fn() {
    scoped(|_| {
        #[expect(deprecated)]
        let above = deprecated_above();
        assert_eq!(above.unwrap(), 1);
        #[expect(deprecated)]
        let below = deprecated_below();
        assert_eq!(now(below).unwrap(), 1);
        #[expect(deprecated)]
        let old = of_a_deprecated_type(old::Old).unwrap() == old::Old;
        assert!(old);
    });
}

#[inline(always)]
#[allow(clippy::inline_always)]
#[adaptive_limit]
fn inline_above() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
#[inline(never)]
fn inline_below() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
#[inline]
async fn inline_later() -> Result<u32, Error> {
    Ok(1)
}

#[cold]
#[adaptive_limit]
fn cold() -> Result<u32, Error> {
    Ok(1)
}

#[test]
fn inline_and_cold() {
    scoped(|registry| {
        assert_eq!(inline_above().unwrap() + inline_below().unwrap(), 2);
        assert_eq!(now(inline_later()).unwrap() + cold().unwrap(), 2);
        assert_eq!(registry.snapshot().limits.len(), 4);
    });
}

#[adaptive_limit]
fn configured(
    #[cfg(test)] there: u32,
    #[cfg(not(test))] absent: NoSuchType,
    #[cfg_attr(test, allow(unused))] quiet: u32,
) -> Result<u32, Error> {
    #[cfg(not(test))]
    absent.no_such_method();
    Ok(there)
}

#[adaptive_limit]
async fn configured_later(
    #[cfg(test)] mut there: Vec<u32>,
    #[cfg(not(test))] mut there: NoSuchType,
    #[cfg(not(test))] absent: NoSuchType,
    #[cfg_attr(test, allow(unused))] quiet: String,
    #[cfg(test)] _: String,
    #[cfg(not(test))] _: NoSuchType,
) -> Result<usize, Error> {
    #[cfg(not(test))]
    absent.no_such_method();
    there.push(1);
    Ok(there.len())
}

#[adaptive_limit]
fn configured_future(
    #[cfg(test)] there: u32,
    #[cfg(not(test))] there: NoSuchType,
) -> impl Future<Output = Result<u32, Error>> {
    async move { Ok(there) }
}

#[cfg_attr(test, adaptive_limit(name = "by_cfg_attr"))]
#[cfg_attr(not(test), no_such_attribute)]
fn by_cfg_attr() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit]
#[cfg(not(test))]
fn not_there() -> NoSuchType {}

#[test]
fn arguments_that_are_not_there() {
    scoped(|registry| {
        assert_eq!(configured(1, 2).unwrap(), 1);
        let later = configured_later(vec![], String::new(), String::new());
        assert_eq!(now(later).unwrap(), 1);
        assert_eq!(now(configured_future(1)).unwrap(), 1);
        assert_eq!(by_cfg_attr().unwrap(), 1);
        assert_eq!(counters(registry, "by_cfg_attr").succeeded, 1);
    });
}
