//! `drop_on = [patterns]`: real patterns, matched on the error's reference.

use syn::parse::ParseStream;
use syn::{Pat, Token, bracketed, token};

use super::key::Key;
use crate::diagnostic::{Code, error, error_at};

/// Reads the bracketed list; a bracket that does not parse as patterns is consumed all the same.
pub(crate) fn parse(key: Key, input: ParseStream<'_>) -> syn::Result<Vec<Pat>> {
    if !input.peek(token::Bracket) {
        let message = format!(
            "{key} is a list of patterns in brackets, as in `{}`",
            key.example()
        );
        return Err(error(
            Code::WrongValue,
            input.cursor().token_stream().into_iter().next(),
            message,
        ));
    }
    let content;
    bracketed!(content in input);
    // Looked at ahead, so that the end of the list is the closing bracket, and what is wrong there is shown there.
    let patterns = list(&content.fork());
    content.parse::<proc_macro2::TokenStream>()?;
    patterns.map_err(|wrong| {
        let message = format!("{key} is a list of patterns: {wrong}");
        error_at(Code::WrongValue, wrong.span(), message)
    })
}

fn list(input: ParseStream<'_>) -> syn::Result<Vec<Pat>> {
    let mut patterns = Vec::new();
    while !input.is_empty() {
        patterns.push(Pat::parse_multi_with_leading_vert(input)?);
        if input.peek(Token![if]) {
            let message = "they take no `if`; use a range, as in `ApiError::Status(500..)`, or `drop_if = path` instead";
            return Err(input.error(message));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(patterns)
}
