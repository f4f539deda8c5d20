//! Literals among expressions, also where a `macro_rules` metavariable wraps them in an invisible group.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Lit};

/// Takes invisible groups off an expression.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => bare(&group.expr),
        _ => expr,
    }
}

/// Writes an expression or a type for a message as the user wrote it, on one line.
pub(crate) fn shown(written: &impl ToTokens) -> String {
    let tokens = written.to_token_stream();
    if !proc_macro::is_available() {
        return tokens.to_string();
    }
    let mut shown = Shown::default();
    shown.write(tokens);
    shown.text
}

/// Tokens as text, with spaces where they are in the source.
#[derive(Default)]
struct Shown {
    text: String,
    last: Option<Span>,
}

impl Shown {
    fn write(&mut self, tokens: TokenStream) {
        for token in tokens {
            let TokenTree::Group(group) = token else {
                self.push(&token.to_string(), token.span());
                continue;
            };
            // Where the delimiters are is lost when `syn` puts a group together again.
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::Brace => ("{ ", " }"),
                Delimiter::None => ("", ""),
            };
            self.push(open, group.span());
            self.last = None;
            self.write(group.stream());
            self.text.push_str(close);
            self.last = Some(group.span());
        }
    }

    fn push(&mut self, piece: &str, span: Span) {
        if self.last.is_some_and(|last| !touch(last, span)) {
            self.text.push(' ');
        }
        self.text.push_str(piece);
        self.last = Some(span);
    }
}

/// Whether nothing stands between two tokens.
fn touch(before: Span, after: Span) -> bool {
    let (end, start) = (before.unwrap().end(), after.unwrap().start());
    (end.line(), end.column()) == (start.line(), start.column())
}

/// Returns the `Self` that stands somewhere in an expression.
pub(crate) fn find_self(tokens: TokenStream) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ref ident) if ident == "Self" => Some(token),
        TokenTree::Group(group) => find_self(group.stream()),
        _ => None,
    })
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
