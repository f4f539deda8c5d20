//! Options that are strings: `name`, `config`, `algorithm`, `window`, `max_wait`, `mode`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Lit, LitStr};

use super::key::{self, Key};
use super::{duration, literal};
use crate::diagnostic::{Code, error};

pub(crate) const ALGORITHMS: [&str; 4] = ["knee", "gradient2", "aimd", "vegas"];

/// Reads the string that an option is.
fn string(key: Key, value: &Expr) -> syn::Result<&LitStr> {
    match literal::of(value) {
        // The compiler refuses a suffix only where it sees the literal, and it does not see those that are read here.
        Some(Lit::Str(text)) if !text.suffix().is_empty() => {
            let given = literal::shown(value);
            let suffix = text.suffix();
            let message = format!("{key} ({given}) is no string; leave the suffix `{suffix}` out");
            Err(error(Code::WrongValue, value, message))
        }
        Some(Lit::Str(text)) => Ok(text),
        other => {
            let given = literal::shown(value);
            let kind = other.map_or("no literal", literal::kind);
            let wanted = match key {
                Key::Name | Key::Config => "a string or a constant",
                _ => "a string literal",
            };
            let example = key.example();
            let message =
                format!("{key} ({given}) is {kind}; {wanted} is wanted, as in `{example}`");
            Err(error(Code::WrongValue, value, message))
        }
    }
}

/// A name that several fns may give.
pub(crate) enum Name {
    Literal(LitStr),
    /// Known to the compiler only: a constant, or a macro's result.
    Const(Expr),
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Literal(text) => text.to_tokens(tokens),
            Self::Const(expr) => expr.to_tokens(tokens),
        }
    }
}

/// Reads a name: any string that is not blank and can be printed on a line. A constant's is checked by the compiler.
pub(crate) fn name(key: Key, value: &Expr) -> syn::Result<Name> {
    if let Expr::Path(_) | Expr::Macro(_) = literal::bare(value) {
        return Ok(Name::Const(value.clone()));
    }
    let text = string(key, value)?;
    let id = text.value();
    if id.trim().is_empty() {
        let given = quote!(#text);
        let message = match key {
            Key::Name => {
                format!("{key} ({given}) is empty; leave it out to give the fn a limit of its own")
            }
            _ => format!("{key} ({given}) is empty; leave it out to use no named configuration"),
        };
        return Err(error(Code::BadName, text, message));
    }
    if let Some(control) = id.chars().find(|c| c.is_control()) {
        let message = format!(
            "{key} ({id:?}) contains the control character {control:?}, which would garble logs and messages"
        );
        return Err(error(Code::BadName, text, message));
    }
    Ok(Name::Literal(text.clone()))
}

/// Reads the name of a built-in algorithm.
pub(crate) fn algorithm(key: Key, value: &Expr) -> syn::Result<LitStr> {
    let text = string(key, value)?;
    let given = text.value();
    if let Some(name) = ALGORITHMS
        .iter()
        .find(|name| key::canonical(name) == key::canonical(&given))
    {
        return Ok(LitStr::new(name, text.span()));
    }
    let hint = match key::nearest(&given, &ALGORITHMS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "the algorithms are {}, and one of your own is chosen by configuration (`config`)",
            key::list(&ALGORITHMS)
        ),
    };
    Err(error(
        Code::UnknownAlgorithm,
        text,
        format_args!("{key} (\"{given}\") is unknown; {hint}"),
    ))
}

/// Reads the least length of a window, in nanoseconds.
pub(crate) fn window(key: Key, value: &Expr) -> syn::Result<u64> {
    duration(key, value, "")
}

/// Reads how long a call may wait, in nanoseconds.
pub(crate) fn wait(key: Key, value: &Expr) -> syn::Result<u64> {
    duration(key, value, "; without it no call waits")
}

/// Reads a duration within the range of all of them; `hint` is for one outside.
fn duration(key: Key, value: &Expr, hint: &str) -> syn::Result<u64> {
    if let Some((digits, unit)) = number(value) {
        let given = literal::shown(value);
        let wrong = unquoted(digits, unit);
        let message = format!("{key} ({given}) {wrong}");
        return Err(error(Code::Duration, value, message));
    }
    let text = string(key, value)?;
    let given = quote!(#text);
    let nanos = duration::parse(&text.value()).map_err(|wrong| {
        error(
            Code::Duration,
            text,
            format_args!("{key} ({given}) {wrong}"),
        )
    })?;
    if !duration::RANGE.contains(&nanos) {
        return Err(error(
            Code::OutOfRange,
            text,
            format_args!("{key} ({given}) is not within 1ms and 1h{hint}"),
        ));
    }
    Ok(nanos)
}

/// Returns the digits and the suffix of a number.
fn number(value: &Expr) -> Option<(&str, &str)> {
    match literal::of(value) {
        Some(Lit::Int(int)) => Some((int.base10_digits(), int.suffix())),
        Some(Lit::Float(float)) => Some((float.base10_digits(), float.suffix())),
        _ => None,
    }
}

/// Says what is wrong with a duration that is a number and no string.
fn unquoted(digits: &str, unit: &str) -> String {
    match duration::parse(&format!("{digits}{unit}")) {
        Ok(_) => format!("is a number; write it as a string, \"{digits}{unit}\""),
        // Such as `1e3`, which no duration may be written as.
        Err(_) if unit.is_empty() && duration::parse(&format!("{digits}s")).is_err() => {
            "has no unit; write it as a string, as in \"1s\" or \"250ms\"".to_owned()
        }
        Err(_) if unit.is_empty() => {
            format!("has no unit; write it as a string, \"{digits}ms\" or \"{digits}s\"")
        }
        Err(wrong) => wrong,
    }
}

/// Reads the name of a mode: a string, or the bare word.
pub(crate) fn mode(key: Key, value: &Expr) -> syn::Result<&'static str> {
    const MODES: [&str; 2] = ["enforce", "observe"];
    let given = match literal::bare(value) {
        Expr::Path(path) if path.path.get_ident().is_some() => path.to_token_stream().to_string(),
        _ => string(key, value)?.value(),
    };
    if let Some(mode) = MODES
        .into_iter()
        .find(|mode| key::canonical(mode) == key::canonical(&given))
    {
        return Ok(mode);
    }
    let hint = match key::nearest(&given, &MODES) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the modes are {}", key::list(&MODES)),
    };
    let given = literal::shown(value);
    let message = format!("{key} ({given}) is unknown; {hint}");
    Err(error(Code::WrongValue, value, message))
}

/// Reads a truth value.
pub(crate) fn truth(key: Key, value: &Expr) -> syn::Result<bool> {
    if let Some(Lit::Bool(truth)) = literal::of(value) {
        return Ok(truth.value);
    }
    let given = literal::shown(value);
    let message = format!("{key} ({given}) is neither `true` nor `false`");
    Err(error(Code::WrongValue, value, message))
}
