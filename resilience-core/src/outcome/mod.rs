//! What a finished call says about the dependency's load.

mod chain;
pub(crate) mod overload;

#[cfg(all(feature = "testing", not(loom)))]
pub(crate) use chain::find as find_cause;
pub use chain::is_overload;
pub use overload::OfKind;

/// What a finished call says about the dependency's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It worked: its latency is a sample.
    Success,
    /// It failed with an overload signal, such as a time-out or a 503: a sample that asks for a lower limit.
    Drop,
    /// It failed in a way that says nothing about load, such as a 404: no sample.
    Ignored,
}
