//! `initial_limit`, `min_limit`, `max_limit`, `queue_limit`: numbers of calls.

use proc_macro2::{Literal, Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, Lit, UnOp};

use super::key::Key;
use super::literal;
use crate::diagnostic::{Code, Diagnostics, error};

/// More calls in flight than any one limit is meant for.
pub(crate) const MOST: u64 = 1_000_000;

/// A number of calls.
pub(crate) enum Bound {
    /// Known here, so that its order with the others can be checked.
    Literal(u32, Span),
    /// Known to the compiler only: a constant, or a macro's result.
    Const(Expr),
}

impl ToTokens for Bound {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Literal(calls, span) => {
                let mut literal = Literal::u32_unsuffixed(*calls);
                literal.set_span(*span);
                literal.to_tokens(tokens);
            }
            Self::Const(expr) => expr.to_tokens(tokens),
        }
    }
}

/// Reads a bound; an integer is checked here, any other expression by the compiler.
pub(crate) fn parse(key: Key, value: &Expr) -> syn::Result<Bound> {
    let given = literal::shown(value);
    if let Expr::Unary(unary) = literal::bare(value)
        && matches!(unary.op, UnOp::Neg(_))
    {
        return Err(error(
            Code::WrongValue,
            value,
            format_args!("{key} ({given}) is negative; it counts calls, from 1"),
        ));
    }
    let Some(lit) = literal::of(value) else {
        return Ok(Bound::Const(value.clone()));
    };
    let Lit::Int(int) = lit else {
        let kind = literal::kind(lit);
        return Err(error(
            Code::WrongValue,
            value,
            format_args!("{key} ({given}) is {kind}; a whole number is wanted"),
        ));
    };
    if !matches!(int.suffix(), "" | "u32") {
        let suffix = int.suffix();
        return Err(error(
            Code::WrongValue,
            value,
            format_args!("{key} ({given}) is no `u32`; leave the suffix `{suffix}` out"),
        ));
    }
    // Digits that no `u64` holds are too many all the more.
    let calls = int.base10_parse::<u64>().unwrap_or(u64::MAX);
    if calls == 0 {
        let hint = match key {
            Key::QueueLimit => "without `max_wait` no call waits",
            _ => "at least one call must pass",
        };
        return Err(error(
            Code::BoundBelowOne,
            value,
            format_args!("{key} ({given}) is below 1; {hint}"),
        ));
    }
    if calls > MOST {
        return Err(error(
            Code::OutOfRange,
            value,
            format_args!("{key} ({given}) is above {MOST}, the most calls of one limit"),
        ));
    }
    Ok(Bound::Literal(calls as u32, lit.span()))
}

/// Checks that min <= initial <= max, as far as they are known.
pub(crate) fn check_order(
    initial: Option<&Bound>,
    min: Option<&Bound>,
    max: Option<&Bound>,
    diagnostics: &mut Diagnostics,
) {
    let known = |bound: Option<&Bound>| match bound {
        Some(Bound::Literal(calls, _)) => Some(*calls),
        _ => None,
    };
    let (initial_calls, min_calls, max_calls) = (known(initial), known(min), known(max));
    if let (Some(low), Some(high)) = (min_calls, max_calls)
        && low > high
    {
        let message = format!("`min_limit` ({low}) is above `max_limit` ({high})");
        diagnostics.report(Code::OutOfRange, min, message);
        // With the bounds out of order nothing can be said about the initial limit.
        return;
    }
    let Some(calls) = initial_calls else { return };
    if let Some(low) = min_calls
        && calls < low
    {
        diagnostics.report(
            Code::OutOfRange,
            initial,
            format!("`initial_limit` ({calls}) is below `min_limit` ({low})"),
        );
    }
    if let Some(high) = max_calls
        && calls > high
    {
        diagnostics.report(
            Code::OutOfRange,
            initial,
            format!("`initial_limit` ({calls}) is above `max_limit` ({high})"),
        );
    }
}
