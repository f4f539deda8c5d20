//! Names, macros, lints and attributes around the attribute.

use resilience::adaptive_limit;

use crate::support::{Fail, block_on, scoped};

#[adaptive_limit]
fn named_like_ours(
    site: u32,
    permit: u32,
    result: u32,
    out: u32,
    output: u32,
    error: u32,
) -> Result<u32, Fail> {
    let guard = site + permit + result;
    Ok(guard + out + output + error)
}

#[adaptive_limit]
async fn named_like_ours_later(
    site: u32,
    resolved: u32,
    output: String,
    error: u32,
    future: u32,
) -> Result<u32, Fail> {
    #[allow(non_snake_case)]
    let SITE = site + resolved;
    Ok(SITE + output.len() as u32 + error + future)
}

mod constants_named_like_ours {
    use resilience::adaptive_limit;

    use crate::support::Fail;

    const SITE: u32 = 9;

    #[adaptive_limit(min_limit = SITE)]
    pub(super) fn call() -> Result<u32, Fail> {
        Ok(SITE)
    }
}

#[allow(dead_code, non_camel_case_types, unused_macros)]
mod shadowed {
    use ::resilience::adaptive_limit;

    pub(super) struct Result;
    pub(super) struct Ok;
    pub(super) struct Err;
    pub(super) struct Some;
    pub(super) struct None;
    pub(super) struct Option;
    pub(super) struct Box;
    pub(super) struct String;
    pub(super) struct PhantomData;
    pub(super) trait Future {}
    pub(super) trait From {}
    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) mod resilience {}
    macro_rules! file {
        () => {
            compile_error!("shadowed")
        };
    }
    macro_rules! line {
        () => {
            compile_error!("shadowed")
        };
    }
    macro_rules! matches {
        ($($t:tt)*) => {
            compile_error!("shadowed")
        };
    }

    pub(super) type Answer<T> = ::std::result::Result<T, super::Fail>;

    #[adaptive_limit(drop_on = [super::Fail::Text])]
    pub(super) fn call(value: u32) -> Answer<u32> {
        Answer::Ok(value)
    }

    #[adaptive_limit]
    pub(super) async fn call_later(value: u32) -> Answer<u32> {
        Answer::Ok(value)
    }

    #[adaptive_limit]
    pub(super) fn boxed(
        value: u32,
    ) -> ::std::pin::Pin<::std::boxed::Box<dyn ::std::future::Future<Output = Answer<u32>>>> {
        ::std::boxed::Box::pin(async move { Answer::Ok(value) })
    }
}

#[no_implicit_prelude]
mod without_prelude {
    use ::resilience::adaptive_limit;

    #[adaptive_limit]
    pub(super) fn call(value: u32) -> ::std::result::Result<u32, super::Fail> {
        ::std::result::Result::Ok(value)
    }

    #[adaptive_limit(drop_on = [super::Fail::Text], drop_if = ::std::result::Result::is_err)]
    pub(super) async fn call_later(value: u32) -> ::std::result::Result<u32, super::Fail> {
        ::std::result::Result::Ok(value)
    }
}

mod reexport {
    pub(crate) use resilience as limits;
}

#[adaptive_limit(crate = crate::hygiene::reexport::limits)]
fn through_a_reexport() -> Result<u32, Fail> {
    Ok(1)
}

#[adaptive_limit(crate = self::reexport::limits)]
async fn through_a_reexport_later() -> Result<u32, Fail> {
    Ok(1)
}

macro_rules! make {
    ($name:ident, $later:ident, $arg:ident: $ty:ty, $e:expr, $max:expr, $body:block) => {
        #[adaptive_limit(max_limit = $max, initial_limit = 5)]
        fn $name($arg: &$ty, other: u32) -> Result<usize, Fail> {
            let _ = (format!("{:?}", $arg), other);
            let doubled = $e * 2;
            let body = $body;
            Ok(doubled + body)
        }
        #[adaptive_limit(max_limit = $max, initial_limit = 5)]
        async fn $later(mut $arg: Box<$ty>, other: String) -> Result<usize, Fail> {
            #![allow(unused_mut)]
            let _ = (format!("{:?}", $arg), &other);
            let doubled = $e * 2;
            let body = $body;
            Ok(doubled + body)
        }
    };
}

make!(made, made_later, it: dyn std::fmt::Debug + Send, 1 + 1, 10, { 3 });

macro_rules! named {
    ($vis:vis $name:ident, $id:literal, $error:ty, $dropped:pat, $seen:path) => {
        #[adaptive_limit(name = $id, crate = $crate::hygiene::reexport::limits, drop_on = [$dropped], drop_if = $seen)]
        $vis fn $name() -> Result<u32, $error> {
            Ok(1)
        }
    };
}

named!(pub(super) by_a_macro, "by_a_macro", Fail, Fail::Text | Fail::Status(_), Result::is_err);

macro_rules! whole_body {
    ($(#[$meta:meta])* fn $name:ident() $body:block) => {
        $(#[$meta])*
        fn $name() -> Result<u32, Fail> $body
    };
}

whole_body! {
    #[adaptive_limit]
    fn with_body() { Ok(7) }
}

#[test]
fn names_and_macros() {
    scoped(|_| {
        assert_eq!(named_like_ours(1, 2, 3, 4, 5, 6).ok(), Some(21));
        assert_eq!(
            block_on(named_like_ours_later(1, 2, "abc".into(), 4, 5)).ok(),
            Some(15)
        );
        assert_eq!(constants_named_like_ours::call().ok(), Some(9));
        assert_eq!(shadowed::call(1).ok(), Some(1));
        assert_eq!(block_on(shadowed::call_later(1)).ok(), Some(1));
        assert_eq!(block_on(shadowed::boxed(1)).ok(), Some(1));
        assert_eq!(without_prelude::call(1).ok(), Some(1));
        assert_eq!(block_on(without_prelude::call_later(1)).ok(), Some(1));
        assert_eq!(through_a_reexport().ok(), Some(1));
        assert_eq!(block_on(through_a_reexport_later()).ok(), Some(1));
        assert_eq!(made(&1, 1).ok(), Some(7));
        assert_eq!(
            block_on(made_later(Box::new(1), String::new())).ok(),
            Some(7)
        );
        assert_eq!(with_body().ok(), Some(7));
        assert_eq!(by_a_macro().ok(), Some(1));
    });
}

/// Lints that would fire in a careless expansion, in fns that give them no reason to.
#[deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    unused,
    missing_docs
)]
#[allow(unreachable_pub)]
#[forbid(unsafe_code)]
pub mod lints {
    use resilience::adaptive_limit;

    use crate::support::{Fail, pause};

    /// One expression.
    ///
    /// # Errors
    /// None.
    #[adaptive_limit]
    #[must_use = "for a reason"]
    pub fn one_expression(value: u32) -> Result<u32, Fail> {
        Ok(value)
    }

    /// One expression.
    ///
    /// # Errors
    /// None.
    #[adaptive_limit]
    pub async fn one_expression_later(value: u32) -> Result<u32, Fail> {
        pause().await;
        Ok(value)
    }

    /// Short.
    ///
    /// # Errors
    /// None.
    #[adaptive_limit]
    #[allow(clippy::unused_async)]
    pub async fn short(value: Result<u32, Fail>) -> Result<u32, Fail> {
        value
    }

    /// Diverges.
    ///
    /// # Errors
    /// None.
    ///
    /// # Panics
    /// Always.
    #[adaptive_limit]
    pub fn never(_value: u32) -> Result<u32, Fail> {
        panic!("always")
    }

    /// Diverges.
    ///
    /// # Errors
    /// None.
    ///
    /// # Panics
    /// Always.
    #[adaptive_limit]
    pub async fn never_later(name: String, _guard: String, _: String) -> Result<u32, Fail> {
        pause().await;
        panic!("{name}")
    }

    /// Nothing.
    #[adaptive_limit(rejected = nothing)]
    pub async fn unit_later() {
        pause().await;
    }

    /// Nothing.
    #[adaptive_limit(rejected = nothing)]
    pub fn unit() {}

    #[allow(clippy::needless_pass_by_value)]
    fn nothing(_: resilience::Error) {}

    /// Inner attributes.
    ///
    /// # Errors
    /// None.
    #[adaptive_limit(drop_on = [Fail::Text | Fail::Status(_), Fail::Limited(_)])]
    pub fn inner_attributes(value: u32) -> Result<u32, Fail> {
        #![allow(unused_variables, clippy::let_unit_value)]
        let unused = ();
        Ok(value)
    }

    /// Arguments.
    ///
    /// # Errors
    /// None.
    #[adaptive_limit(drop_on = [], drop_if = Result::is_err)]
    pub async fn arguments(
        mut count: u32,
        names: Vec<String>,
        _guard: std::sync::Arc<u32>,
        last: String,
    ) -> Result<u32, Fail> {
        pause().await;
        count += u32::from(names.is_empty());
        Ok(count + u32::from(last.is_empty()))
    }
}

#[test]
fn lint_witnesses_run() {
    scoped(|_| {
        assert_eq!(lints::one_expression(1).ok(), Some(1));
        assert_eq!(lints::inner_attributes(1).ok(), Some(1));
        assert_eq!(block_on(lints::one_expression_later(1)).ok(), Some(1));
        assert_eq!(block_on(lints::short(Ok(1))).ok(), Some(1));
        assert_eq!(
            block_on(lints::arguments(
                1,
                vec![String::new()],
                std::sync::Arc::default(),
                "a".into()
            ))
            .ok(),
            Some(1)
        );
        lints::unit();
        block_on(lints::unit_later());
    });
    assert!(std::panic::catch_unwind(|| scoped(|_| lints::never(1))).is_err());
    assert!(
        std::panic::catch_unwind(|| scoped(|_| block_on(lints::never_later(
            "a".into(),
            String::new(),
            String::new()
        ))))
        .is_err()
    );
}
