//! What the attribute's options ask of an output: `drop_on`, `drop_if`, and the output of a rejected call.

use std::marker::PhantomData;

use crate::error::Error;
use crate::outcome::Outcome;

/// Judges by the patterns of `drop_on`, which are matched on the error, unless the limit's settings stand over them.
#[inline]
pub fn drop_on<R: ResultLike>(
    output: &R,
    matches: impl FnOnce(&R::Error) -> bool,
    configured: impl FnOnce() -> Option<Outcome>,
) -> Outcome {
    let Some(error) = output.error() else {
        return Outcome::Success;
    };
    match configured() {
        Some(outcome) => outcome,
        None if matches(error) => Outcome::Drop,
        None => Outcome::Ignored,
    }
}

/// Asks the path of `drop_if`, then the rest.
#[inline]
pub fn drop_if<R>(
    output: &R,
    is_overload: impl FnOnce(&R) -> bool,
    rest: impl FnOnce(&R) -> Outcome,
) -> Outcome {
    if is_overload(output) {
        Outcome::Drop
    } else {
        rest(output)
    }
}

/// Makes the output of a rejected call. Not cold: under overload most calls come here.
#[inline]
pub fn reject<R: Rejection>(error: Error) -> R {
    R::rejected(error)
}

/// Names the type of a call's output. A fn, since lifetimes may be left out in its type argument but not in that of
/// `PhantomData::<fn() -> R>`.
pub const fn output<R>() -> PhantomData<fn() -> R> {
    PhantomData
}

/// Stands for an output in code that never runs, to tell the compiler the output's type before it sees the body.
pub fn absent<R>() -> R {
    unreachable!("the expansion calls this where control never comes")
}

/// A `Result`.
#[diagnostic::on_unimplemented(
    message = "`drop_on` needs a fn that returns a `Result`, and this one returns `{Self}` [R4C-ATR-010]",
    label = "has no error to match patterns on",
    note = "use `drop_if = path` with a `fn(&{Self}) -> bool`"
)]
pub trait ResultLike {
    /// What the patterns are matched on.
    type Error;
    /// Returns the error, if it is one.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> ResultLike for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// An output that a rejected call can have.
#[diagnostic::on_unimplemented(
    message = "a rejected call has nothing to return as `{Self}` [R4C-ATR-010]",
    label = "cannot be made from a `resilience::Error`",
    note = "return a `Result` whose error type implements `From<resilience::Error>`",
    note = "or add `rejected = path` with a `fn(resilience::Error) -> {Self}` to the attribute",
    note = "or do not limit it, if it makes no call: in a limited `impl` block write `#[adaptive_limit(skip)]` on it, elsewhere take the attribute off"
)]
pub trait Rejection {
    /// Makes the output.
    fn rejected(error: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<Error>> Rejection for Result<T, E> {
    fn rejected(error: Error) -> Self {
        Err(error.into())
    }
}
