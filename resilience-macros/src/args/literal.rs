//! Literals among expressions, also where a `macro_rules` metavariable wraps them in an invisible group.

use quote::ToTokens as _;
use syn::{Expr, Lit};

/// Takes invisible groups off an expression.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => bare(&group.expr),
        _ => expr,
    }
}

/// Writes an expression for a message, more like the user wrote it than the compiler does.
pub(crate) fn shown(expr: &Expr) -> String {
    let text = expr.to_token_stream().to_string();
    let text = text.replace(" :: ", "::").replace(":: ", "::");
    text.strip_prefix("- ")
        .map_or_else(|| text.clone(), |rest| format!("-{rest}"))
}

/// Returns the literal that an expression is.
pub(crate) fn of(expr: &Expr) -> Option<&Lit> {
    match bare(expr) {
        Expr::Lit(lit) => Some(&lit.lit),
        _ => None,
    }
}

/// Says for a message what kind of literal this is.
pub(crate) fn kind(lit: &Lit) -> &'static str {
    match lit {
        Lit::Str(_) => "a string",
        Lit::Int(_) => "a whole number",
        Lit::Float(_) => "a fraction",
        Lit::Bool(_) => "a truth value",
        Lit::Char(_) => "a character",
        Lit::ByteStr(_) => "a byte string",
        Lit::Byte(_) => "a byte",
        Lit::CStr(_) => "a C string",
        _ => "another kind of literal",
    }
}
