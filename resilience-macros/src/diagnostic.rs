//! What is wrong with an attribute: all of it at once, each mistake at its own token and with its stable code.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The codes of the attribute's mistakes. They are stable: the documentation has a page for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Duration,
    UnknownOption,
    BoundBelowOne,
    WrongValue,
    DuplicateOption,
    UnknownAlgorithm,
    BadName,
    NotLimitable,
    OutOfRange,
    WithoutEffect,
}

impl Code {
    fn as_str(self) -> &'static str {
        match self {
            Self::Duration => "R4C-ATR-001",
            Self::UnknownOption => "R4C-ATR-002",
            Self::BoundBelowOne => "R4C-ATR-003",
            Self::WrongValue => "R4C-ATR-004",
            Self::DuplicateOption => "R4C-ATR-005",
            Self::UnknownAlgorithm => "R4C-ATR-006",
            Self::BadName => "R4C-ATR-007",
            Self::NotLimitable => "R4C-ATR-008",
            Self::OutOfRange => "R4C-ATR-009",
            Self::WithoutEffect => "R4C-ATR-011",
        }
    }
}

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diagnostics(Vec<syn::Error>);

impl Diagnostics {
    /// Notes a mistake at `at`.
    pub(crate) fn report(&mut self, code: Code, at: impl ToTokens, message: impl fmt::Display) {
        self.0.push(error(code, at, message));
    }

    /// Notes a mistake that was found while parsing.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// Returns the mistakes as `compile_error!` calls, nothing if there are none.
    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.iter().map(syn::Error::to_compile_error).collect())
    }
}

/// Makes a mistake that is handed on instead of noted.
pub(crate) fn error(code: Code, at: impl ToTokens, message: impl fmt::Display) -> syn::Error {
    syn::Error::new_spanned(at, format_args!("{message} [{}]", code.as_str()))
}

/// As [`error`], where there is a place and no token.
pub(crate) fn error_at(code: Code, at: Span, message: impl fmt::Display) -> syn::Error {
    syn::Error::new(at, format_args!("{message} [{}]", code.as_str()))
}
