//! What an output says about the dependency's load, decided by the output's type and never by its name.
//!
//! The expansion calls a method on `&&&&&Probe(output)`. Method look-up takes the trait that needs the fewest
//! dereferences, so the first of these that fits is chosen, for aliases of `Result` and generic error types too: an error
//! that tells its kind, one that dereferences to a `dyn Error`, one that is an `Error`, any other error, any other output.
//!
//! There are three such methods: `…_classify` for what the library does by default, `…_rest` where `drop_if` was asked
//! before, and `…_configured` where the attribute's `drop_on` decides unless the limit's settings stand over it.

use std::error::Error as StdError;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::Error;
use crate::limit::instance::Instance;
use crate::outcome::{OfKind, Outcome, is_overload};

/// An output that is about to be classified.
#[derive(Debug)]
pub struct Probe<'a, R>(pub &'a R);

/// The limit that an output is classified for: its settings may say which errors mean overload.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a>(pub(super) &'a Instance);

impl Of<'_> {
    /// Whether an error means overload. `own` says of what kind it is by its own account. Out of line, for the calls that
    /// succeed.
    #[inline(never)]
    fn is_overload<'a>(self, error: &'a (dyn StdError + 'a), own: impl Fn(&str) -> bool) -> bool {
        if self.0.chooses_kinds() {
            self.is_of_kinds(error, &own)
        } else {
            overload_in(error)
        }
    }

    #[cold]
    fn is_of_kinds<'a>(self, error: &'a (dyn StdError + 'a), own: &dyn Fn(&str) -> bool) -> bool {
        let Some(overload) = self.0.overload() else {
            // The settings were changed this moment.
            return overload_in(error);
        };
        overload.names.iter().any(|name| own(name))
            || look(error, |error| overload.is_built_in(error))
            || error.source().is_some_and(|cause| overload.is_added(cause))
    }

    /// As [`judge`], if the settings stand over the attribute's patterns.
    fn over_patterns<T, E>(
        self,
        output: &Result<T, E>,
        is_overload: impl FnOnce(&E) -> bool,
    ) -> Option<Outcome> {
        self.0
            .chooses_kinds_over_patterns()
            .then(|| judge(output, is_overload))
    }
}

#[inline]
fn judge<T, E>(output: &Result<T, E>, is_overload: impl FnOnce(&E) -> bool) -> Outcome {
    match output {
        Ok(_) => Outcome::Success,
        Err(error) if is_overload(error) => Outcome::Drop,
        Err(_) => Outcome::Ignored,
    }
}

/// An error that tells its kind.
pub trait ViaKind {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome;
    /// Judges the output by the limit's settings, if they stand over the attribute's patterns.
    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome>;
}

#[diagnostic::do_not_recommend]
impl<T, E: OfKind + StdError> ViaKind for &&&&Probe<'_, Result<T, E>> {
    #[inline]
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome {
        judge(self.0, |error| {
            of.is_overload(error, |kind| error.is_of_kind(kind))
        })
    }

    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome {
        self.__adaptive_limit_classify(of)
    }

    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome> {
        of.over_patterns(self.0, |error| {
            of.is_overload(error, |kind| error.is_of_kind(kind))
        })
    }
}

/// `Box<dyn Error>`, `anyhow::Error`, `eyre::Report`. Before [`ViaError`], since the `source` of an `Arc<dyn Error>` skips
/// the error inside.
pub trait ViaDynError {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome;
    /// Judges the output by the limit's settings, if they stand over the attribute's patterns.
    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome>;
}

// Not recommended, so that of an output with a type that does not exist the compiler says that alone, and not also that
// its error does not dereference.
#[diagnostic::do_not_recommend]
impl<T, E: Deref<Target: DynError>> ViaDynError for &&&Probe<'_, Result<T, E>> {
    #[inline]
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome {
        judge(self.0, |error| {
            of.is_overload(error.deref().as_dyn(), |_| false)
        })
    }

    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome {
        self.__adaptive_limit_classify(of)
    }

    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome> {
        of.over_patterns(self.0, |error| {
            of.is_overload(error.deref().as_dyn(), |_| false)
        })
    }
}

/// A `dyn Error`, with and without auto traits. It may borrow.
pub trait DynError {
    /// Drops the auto traits.
    fn as_dyn(&self) -> &(dyn StdError + '_);
}

impl DynError for dyn StdError + '_ {
    fn as_dyn(&self) -> &(dyn StdError + '_) {
        self
    }
}

impl DynError for dyn StdError + Send + '_ {
    fn as_dyn(&self) -> &(dyn StdError + '_) {
        self
    }
}

impl DynError for dyn StdError + Send + Sync + '_ {
    fn as_dyn(&self) -> &(dyn StdError + '_) {
        self
    }
}

/// Any other error that implements `std::error::Error`.
pub trait ViaError {
    /// Judges the output as the library does by default.
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome;
    /// Judges the output by the limit's settings, if they stand over the attribute's patterns.
    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome>;
}

#[diagnostic::do_not_recommend]
impl<T, E: StdError> ViaError for &&Probe<'_, Result<T, E>> {
    #[inline]
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome {
        judge(self.0, |error| of.is_overload(error, |_| false))
    }

    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome {
        self.__adaptive_limit_classify(of)
    }

    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome> {
        of.over_patterns(self.0, |error| of.is_overload(error, |_| false))
    }
}

/// An error that says nothing of itself.
pub trait ViaNothing<E> {
    /// Does not compile: the error has to be told apart by the attribute.
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome
    where
        Unjudged: Judge<E>;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before and has said all there is to say.
    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome;
    /// Leaves it to the attribute's patterns.
    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome>;
}

impl<T, E> ViaNothing<E> for &Probe<'_, Result<T, E>> {
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome
    where
        Unjudged: Judge<E>,
    {
        self.__adaptive_limit_classify_rest(of)
    }

    fn __adaptive_limit_classify_rest(&self, _: Of<'_>) -> Outcome {
        judge(self.0, |_| false)
    }

    fn __adaptive_limit_configured(&self, _: Of<'_>) -> Option<Outcome> {
        None
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
    fn __adaptive_limit_classify(&self, of: Of<'_>) -> Outcome;
    /// As `__adaptive_limit_classify`, where `drop_if` was asked before.
    fn __adaptive_limit_classify_rest(&self, of: Of<'_>) -> Outcome;
    /// Judges the output by the limit's settings, if they stand over the attribute's patterns.
    fn __adaptive_limit_configured(&self, of: Of<'_>) -> Option<Outcome>;
}

impl<R> ViaOutput for Probe<'_, R> {
    fn __adaptive_limit_classify(&self, _: Of<'_>) -> Outcome {
        Outcome::Success
    }

    fn __adaptive_limit_classify_rest(&self, _: Of<'_>) -> Outcome {
        Outcome::Success
    }

    fn __adaptive_limit_configured(&self, _: Of<'_>) -> Option<Outcome> {
        None
    }
}

/// Searches an error and its source chain for the overload signals that the library knows.
#[inline]
fn overload_in<'a>(error: &'a (dyn StdError + 'a)) -> bool {
    look(error, |error| {
        // Of an error whose type it sees, the compiler knows the answers here, and only the source remains.
        if error.is::<Error>() || error.is::<io::Error>() {
            return is_overload(error);
        }
        #[cfg(feature = "tokio")]
        if error.is::<tokio::time::error::Elapsed>() {
            return is_overload(error);
        }
        error.source().is_some_and(is_overload)
    })
}

/// Looks at an error that may borrow as at one that does not, or at the error of this library in a box or behind a
/// reference count: those answer `source` with the source of the error inside, not with that error itself.
///
/// `look` is one of this module's: it asks for types without lifetimes only, and keeps nothing.
#[expect(
    unsafe_code,
    reason = "`downcast_ref` asks for `'static`, which the errors of limited functions need not be"
)]
#[inline]
fn look<'a>(
    error: &'a (dyn StdError + 'a),
    look: impl FnOnce(&(dyn StdError + 'static)) -> bool,
) -> bool {
    // SAFETY: The two differ in a lifetime, which is no part of a layout or a vtable. `'static` lets one ask for the error's
    // `TypeId`, which is that of the type with all its lifetimes made `'static` (the `typeid` crate rests on the same), and
    // so downcast it. The types asked for here, in `overload_in`, `is_overload` and `Overload::is_built_in` have no lifetime
    // parameter: one that is found is the very type, and no lifetime has been made longer. What `source` returns is
    // `'static` by itself. No code of a user's sees this reference, and nothing is kept.
    let error = unsafe {
        std::mem::transmute::<&'a (dyn StdError + 'a), &'a (dyn StdError + 'static)>(error)
    };
    if let Some(error) = error.downcast_ref::<Box<Error>>() {
        return look(&**error);
    }
    if let Some(error) = error.downcast_ref::<Arc<Error>>() {
        return look(&**error);
    }
    look(error)
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::marker::PhantomData;
    use std::time::Duration;

    use super::*;

    fn timed_out() -> Error {
        Error::timed_out("dependency", Duration::from_secs(1))
    }

    /// An error of any type, with a lifetime or without, and no cause.
    struct Of<T>(T);

    impl<T> fmt::Debug for Of<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Of")
        }
    }

    impl<T> fmt::Display for Of<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Debug::fmt(self, f)
        }
    }

    impl<T> StdError for Of<T> {}

    type Alias = Error;

    #[test]
    fn a_known_type_is_known_whatever_it_is_called_and_held_in() {
        let alias: Alias = timed_out();
        assert!(overload_in(&alias));
        assert!(overload_in(&Box::new(timed_out())));
        assert!(overload_in(&Arc::new(timed_out())));
        assert!(overload_in(&io::Error::other(timed_out())));
        assert!(!overload_in(&io::Error::other("no")));
        assert!(!overload_in(&Box::new(Error::limit_exceeded(
            "inner".into(),
            1,
            1
        ))));
        let boxed: Box<dyn StdError + '_> = Box::new(timed_out());
        assert!(overload_in(&*boxed));
    }

    #[test]
    fn a_type_is_never_taken_for_another_that_looks_like_it() {
        let text = String::from("text");
        // As large as a known type, made of one, or with a lifetime where that has none.
        assert!(!overload_in(&Of(timed_out())));
        assert!(!overload_in(&Of(Box::new(timed_out()))));
        assert!(!overload_in(&Of(&text)));
        assert!(!overload_in(&Of(PhantomData::<&'static Error>)));
        assert!(!overload_in(&Of(PhantomData::<
            dyn for<'a> Fn(&'a Error) -> &'a Error,
        >)));
        let boxed: Box<dyn StdError + Send + '_> = Box::new(Of(&*text));
        assert!(!overload_in(boxed.as_dyn()));
        // A reference is an error of its own, whose cause is that of what it points to.
        assert!(!overload_in(&&timed_out()));
    }

    #[test]
    fn the_cause_of_an_error_that_borrows_is_looked_at() {
        #[derive(Debug)]
        struct Caused<'a>(&'a str, Error);
        impl fmt::Display for Caused<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
        impl StdError for Caused<'_> {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(&self.1)
            }
        }
        let text = String::from("text");
        let error = Caused(&text, timed_out());
        assert!(overload_in(&error));
        let boxed: Box<dyn StdError + Send + Sync + '_> = Box::new(error);
        assert!(overload_in(boxed.as_dyn()));
    }
}
