//! What an output says about the dependency's load, decided by the output's type and never by its name.
//!
//! The expansion calls a method on `&&&&Probe(output)`. Method look-up takes the trait that needs the fewest
//! dereferences, so the first of these that fits is chosen, for aliases of `Result` and generic error types too:
//! an error that dereferences to a `dyn Error`, one that is an `Error`, any other error, any other output.

use std::any::TypeId;
use std::error::Error as StdError;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::Error;
use crate::outcome::{Outcome, is_overload};

/// An output that is about to be classified.
#[derive(Debug)]
pub struct Probe<'a, R>(pub &'a R);

fn judge<T, E>(output: &Result<T, E>, is_overload: impl FnOnce(&E) -> bool) -> Outcome {
    match output {
        Ok(_) => Outcome::Success,
        Err(error) if is_overload(error) => Outcome::Drop,
        Err(_) => Outcome::Ignored,
    }
}

/// `Box<dyn Error>`, `anyhow::Error`, `eyre::Report`. Before [`ViaError`], since the `source` of an `Arc<dyn Error>` skips
/// the error inside.
pub trait ViaDynError {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self) -> Outcome;
}

// Not recommended, so that of an output with a type that does not exist the compiler says that alone, and not also that
// its error does not dereference.
#[diagnostic::do_not_recommend]
impl<T, E: Deref<Target: DynError>> ViaDynError for &&&Probe<'_, Result<T, E>> {
    fn __adaptive_limit_classify(&self) -> Outcome {
        judge(self.0, |error| is_overload(error.deref().as_dyn()))
    }

    fn __adaptive_limit_classify_rest(&self) -> Outcome {
        self.__adaptive_limit_classify()
    }
}

/// A `dyn Error`, with and without auto traits.
pub trait DynError {
    /// Drops the auto traits.
    fn as_dyn(&self) -> &(dyn StdError + 'static);
}

impl DynError for dyn StdError {
    fn as_dyn(&self) -> &(dyn StdError + 'static) {
        self
    }
}

impl DynError for dyn StdError + Send {
    fn as_dyn(&self) -> &(dyn StdError + 'static) {
        self
    }
}

impl DynError for dyn StdError + Send + Sync {
    fn as_dyn(&self) -> &(dyn StdError + 'static) {
        self
    }
}

/// Any other error that implements `std::error::Error`.
pub trait ViaError {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self) -> Outcome;
}

#[diagnostic::do_not_recommend]
impl<T, E: StdError> ViaError for &&Probe<'_, Result<T, E>> {
    fn __adaptive_limit_classify(&self) -> Outcome {
        judge(self.0, overload_in)
    }

    fn __adaptive_limit_classify_rest(&self) -> Outcome {
        self.__adaptive_limit_classify()
    }
}

/// An error that says nothing of itself.
pub trait ViaNothing<E> {
    /// Does not compile: the error has to be told apart by the attribute.
    fn __adaptive_limit_classify(&self) -> Outcome
    where
        Unjudged: Judge<E>;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before and has said all there is to say.
    fn __adaptive_limit_classify_rest(&self) -> Outcome;
}

impl<T, E> ViaNothing<E> for &Probe<'_, Result<T, E>> {
    fn __adaptive_limit_classify(&self) -> Outcome
    where
        Unjudged: Judge<E>,
    {
        self.__adaptive_limit_classify_rest()
    }

    fn __adaptive_limit_classify_rest(&self) -> Outcome {
        judge(self.0, |_| false)
    }
}

/// Stands in for the error in the bound that fails, since of a type parameter the compiler would suggest to bound it by
/// the trait here.
#[derive(Debug)]
pub struct Unjudged;

/// Judges errors without being told how. Nothing implements it: those that can be judged are taken before.
#[diagnostic::on_unimplemented(
    message = "`#[adaptive_limit]` cannot tell which errors of type `{E}` mean overload [R4C-ATR-010]",
    label = "an error that does not implement `std::error::Error`",
    note = "implement `std::error::Error` for it, or bound the type parameter: `E: std::error::Error`; then its source chain is searched",
    note = "or say in the attribute which errors mean overload: `drop_on = [patterns]`, empty for none, or `drop_if = path`"
)]
pub trait Judge<E> {}

/// An output that is no `Result`: whatever it is, the call worked.
pub trait ViaOutput {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self) -> Outcome;
}

impl<R> ViaOutput for Probe<'_, R> {
    fn __adaptive_limit_classify(&self) -> Outcome {
        Outcome::Success
    }

    fn __adaptive_limit_classify_rest(&self) -> Outcome {
        Outcome::Success
    }
}

/// Searches an error and its source chain for overload signals.
///
/// The error itself may borrow, and then it is none of the types that are known; what caused it never does.
fn overload_in<E: StdError>(error: &E) -> bool {
    if let Some(error) = known(error) {
        return is_overload(error);
    }
    error.source().is_some_and(is_overload)
}

/// Returns an error as the library's own types, of which the source chain of other errors is made.
fn known<E: StdError>(error: &E) -> Option<&(dyn StdError + 'static)> {
    // A box or a reference count answers `source` with the source of the error inside, not with that error itself.
    if let Some(error) = cast::<E, Error>(error) {
        return Some(error);
    }
    if let Some(error) = cast::<E, Box<Error>>(error) {
        return Some(&**error);
    }
    if let Some(error) = cast::<E, Arc<Error>>(error) {
        return Some(&**error);
    }
    if let Some(error) = cast::<E, io::Error>(error) {
        return Some(error);
    }
    #[cfg(feature = "tokio")]
    if let Some(error) = cast::<E, tokio::time::error::Elapsed>(error) {
        return Some(error);
    }
    None
}

/// `Any::downcast_ref` for a type that is not known to be `'static`.
#[expect(
    unsafe_code,
    reason = "`Any` asks for `'static`, which the errors of limited functions need not be"
)]
fn cast<From, To: 'static>(value: &From) -> Option<&To> {
    if typeid::of::<From>() != TypeId::of::<To>() {
        return None;
    }
    // SAFETY: The ids are equal up to lifetimes, so both have one layout. The types that this fn is called with as `To`
    // have no lifetime parameter, so `From` is `To` itself and no lifetime is made longer.
    Some(unsafe { &*std::ptr::from_ref(value).cast::<To>() })
}
