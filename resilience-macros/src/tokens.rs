//! What stands in tokens that are not parsed.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Expr, Type, TypePath, Visibility};

pub(crate) fn is_word(token: &TokenTree, words: &[&str]) -> bool {
    matches!(token, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))
}

pub(crate) fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether this is a pair of braces, be it in the invisible group of `$body:block`.
pub(crate) fn is_block(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => true,
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inner = group.stream().into_iter();
            inner.next().is_some_and(|token| is_block(&token)) && inner.next().is_none()
        }
        _ => false,
    }
}

/// What stands between the commas.
pub(crate) fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens
        .split(|token| is_punct(token, ','))
        .filter(|part| !part.is_empty())
        .map(<[TokenTree]>::to_vec)
        .collect()
}

/// Whether this name is among the tokens.
pub(crate) fn contains(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => contains(&group.stream(), name),
        TokenTree::Literal(_) | TokenTree::Punct(_) => false,
    })
}

/// Whether a fn's body may name this variable, be it in a format string.
pub(crate) fn mentions(body: &TokenStream, name: &str) -> bool {
    body.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        TokenTree::Literal(literal) => {
            let text = literal.to_token_stream().to_string();
            text.contains('{') && text.contains(name.trim_start_matches("r#"))
        }
        TokenTree::Punct(_) => false,
    })
}

/// Takes the invisible group off what is one metavariable.
pub(crate) fn bare(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            bare(group.stream())
        }
        _ => tokens,
    }
}

/// The tokens without the invisible groups of metavariables.
pub(crate) fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                all.extend(flat(group.stream()));
            }
            token => all.push(token),
        }
    }
    all
}

/// The tokens with parentheses for the invisible groups that hold an expression or a type together. Such a group does not
/// survive where it is handed on by itself: of `const FOUR: u32 = $e * 2` with `1 + 1` would remain 3.
pub(crate) fn settled(tokens: &[TokenTree]) -> impl Iterator<Item = TokenTree> {
    tokens.iter().cloned().map(|token| match token {
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::None && falls_apart(&group.stream()) =>
        {
            let mut parentheses = Group::new(Delimiter::Parenthesis, group.stream());
            parentheses.set_span(Span::mixed_site().located_at(group.span()));
            TokenTree::Group(parentheses)
        }
        token => token,
    })
}

fn falls_apart(tokens: &TokenStream) -> bool {
    let is_one = tokens.clone().into_iter().nth(1).is_none()
        || syn::parse2::<TypePath>(tokens.clone()).is_ok()
        || syn::parse2::<Visibility>(tokens.clone()).is_ok();
    !is_one
        && (syn::parse2::<Type>(tokens.clone()).is_ok()
            || syn::parse2::<Expr>(tokens.clone()).is_ok())
}
