//! All shapes of fns, without the prelude and among items and arguments that are called as what the expansion uses.
#![no_implicit_prelude]

use ::core::future::Future;
use ::core::option::Option as Maybe;
use ::core::pin::Pin;
use ::core::result::Result as Either;
use ::resilience::adaptive_limit;
use ::std::boxed::Box as Heap;
use ::std::string::String as Text;

pub struct Result;
pub struct Ok;
pub struct Err;
pub struct Some;
pub struct None;
pub struct Option;
pub struct String;
pub struct PhantomData;
pub struct Error;
pub struct Outcome;
pub struct CallSite;
pub struct Probe;
pub struct Limited;
pub struct u32;
pub struct bool;
pub trait From {}
pub trait Into {}
pub trait FnOnce {}
pub trait Send {}
pub trait Drop {}
pub mod core {}
pub mod std {}
pub mod resilience {}
pub mod __private {}
pub fn limit_sync() {}
pub fn limit_async() {}
pub fn made() {}
pub fn drop() {}
pub fn here() {}
pub fn absent() {}
pub fn reject() {}
pub fn site() {}
pub fn resolved() {}
pub fn output() {}
pub fn error() {}

#[allow(unused_macros)]
macro_rules! file {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! line {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! column {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! matches {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! panic {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! unreachable {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! assert {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! concat {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}
#[allow(unused_macros)]
macro_rules! module_path {
    ($($t:tt)*) => {
        ::core::compile_error!("shadowed")
    };
}

type Number = ::core::primitive::u32;
type Answer<T> = Either<T, ::resilience::Error>;
/// A name by which a boxed future goes.
pub type BoxFuture<'a, T> = Pin<Heap<dyn Future<Output = T> + ::core::marker::Send + 'a>>;

#[adaptive_limit]
pub fn sync(
    site: Number,
    permit: Number,
    result: Number,
    guard: Number,
    out: Number,
    output: Number,
    error: Number,
    body: Number,
    resolved: Number,
) -> Answer<Number> {
    let registry = site + permit + result + guard;
    let private = out + output + error + body + resolved;
    Answer::Ok(registry + private)
}

#[adaptive_limit]
pub async fn asynchronous(
    site: Text,
    mut permit: Number,
    result: Text,
    guard: Text,
    out: Number,
    output: Text,
    error: Number,
    body: Text,
    resolved: Number,
) -> Answer<usize> {
    ::core::future::ready(()).await;
    permit += out + error + resolved;
    let held = site.len() + result.len() + guard.len() + output.len() + body.len();
    Answer::Ok(held + permit as usize)
}

/// The names of the standard library as type parameters.
#[adaptive_limit(drop_on = [], drop_if = Either::is_err)]
pub fn generic<R, F, C, J, E>(make: F, _more: Maybe<(C, J)>) -> Either<R, E>
where
    F: ::core::ops::FnOnce() -> Either<R, E>,
    E: ::core::convert::From<::resilience::Error>,
{
    make()
}

#[adaptive_limit(rejected = nothing)]
pub async fn generic_later<T, U: Future<Output = T>>(output: U) -> Maybe<T> {
    Maybe::Some(output.await)
}

fn nothing<T>(_: ::resilience::Error) -> Maybe<T> {
    Maybe::None
}

#[adaptive_limit]
pub fn future(output: &str) -> impl Future<Output = Answer<usize>> {
    async move { Answer::Ok(output.len()) }
}

#[adaptive_limit]
pub fn boxed(output: &str) -> BoxFuture<'_, Answer<usize>> {
    Heap::pin(async move { Answer::Ok(output.len()) })
}

/// `Box` is taken by its last name, wherever that is from.
pub mod boxes {
    use ::std::boxed::Box;

    #[super::adaptive_limit]
    pub fn boxed(
        output: &str,
    ) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = super::Answer<usize>> + '_>> {
        Box::pin(async move { super::Answer::Ok(output.len()) })
    }
}

pub struct Box;

/// With the attribute's own names for methods.
pub trait Calls {
    fn resolve(&self) -> Number;

    #[adaptive_limit]
    fn named(&self, output: Number) -> Answer<Number> {
        Answer::Ok(self.resolve() + output)
    }

    #[adaptive_limit]
    fn poll(&self, error: Number) -> impl Future<Output = Answer<Number>> {
        async move { Answer::Ok(self.resolve() + error) }
    }
}

impl Calls for Box {
    #[adaptive_limit(rejected = none)]
    fn resolve(&self) -> Number {
        1
    }
}

fn none(_: ::resilience::Error) -> Number {
    0
}

impl Box {
    #[adaptive_limit]
    pub async fn pin(self: Heap<Self>, output: Number) -> Answer<Number> {
        ::core::future::ready(()).await;
        Answer::Ok(self.resolve() + output)
    }
}

/// Names that are not even words elsewhere.
#[adaptive_limit]
pub async fn raw(r#type: Text, mut r#gen: Text, r#async: Number) -> Answer<usize> {
    ::core::future::ready(()).await;
    r#gen.push('!');
    Answer::Ok(r#type.len() + r#gen.len() + r#async as usize)
}

pub trait Clone {}
pub trait Debug {}
pub struct Registry;
pub fn derive() {}
pub fn map() {}

#[::resilience::resilient]
#[allow(async_fn_in_trait)]
pub trait T<Inner>: ::core::clone::Clone {
    #[adaptive_limit]
    fn sync(&self, inner: Number, registry: Inner, output: Number) -> Answer<Number>;

    #[adaptive_limit]
    async fn asynchronous(
        self,
        error: Number,
        registry: Inner,
    ) -> ::core::result::Result<Self, ::resilience::Error>;

    #[adaptive_limit]
    fn boxed(&self, inner: Number) -> BoxFuture<'_, Answer<Number>>;

    #[adaptive_limit(rejected = nobody)]
    fn optional(&mut self, registry: &Self) -> ::core::option::Option<Self>;

    fn whole(inner: Number, registry: Number) -> Self;

    fn taken(self: ::std::boxed::Box<Self>) -> Number;
}

fn nobody<O>(_: ::resilience::Error) -> Maybe<O> {
    Maybe::None
}

#[derive(::core::clone::Clone, ::core::fmt::Debug)]
pub struct Implementor(pub Number);

impl T<Text> for Implementor {
    fn sync(&self, inner: Number, registry: Text, output: Number) -> Answer<Number> {
        Answer::Ok(self.0 + inner + output + registry.len() as Number)
    }

    async fn asynchronous(self, error: Number, _: Text) -> Answer<Self> {
        Answer::Ok(Self(self.0 + error))
    }

    fn boxed(&self, inner: Number) -> BoxFuture<'_, Answer<Number>> {
        Heap::pin(async move { Answer::Ok(self.0 + inner) })
    }

    fn optional(&mut self, registry: &Self) -> Maybe<Self> {
        Maybe::Some(Self(registry.0 + 1))
    }

    fn whole(inner: Number, registry: Number) -> Self {
        Self(inner + registry)
    }

    fn taken(self: Heap<Self>) -> Number {
        self.0
    }
}
