//! A body that ends in a literal `async` block, bare or as `Box::pin(async …)`.
//!
//! Attributes such as `#[tracing::instrument]` look for this form to tell the making of a future from the future, as it
//! comes from `async_trait` or from a user's hand. The form costs nothing if there is no such attribute to see it.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use crate::item::Function;
use crate::tokens::{is_punct, is_word};

/// A body of the form `before async …` or `before Box::pin(async …)`.
pub(crate) struct AsyncBlock {
    /// The statements before, and the path of `pin`.
    pub(crate) before: TokenStream,
    /// `async` or `async move`.
    pub(crate) keywords: TokenStream,
    pub(crate) block: Group,
    /// Where the parentheses around the block are, if any.
    pub(crate) parentheses: Option<Span>,
    /// Whether another macro is about to look for the block.
    pub(crate) looked_for: bool,
}

impl AsyncBlock {
    /// Looks for `async …` at the body's end, if another macro is about to do the same. If none is, one future inside of
    /// another would only make it larger.
    pub(crate) fn bare(function: &Function) -> Option<Self> {
        let mut before: Vec<TokenTree> = function.body.group.stream().into_iter().collect();
        let keyword = before
            .iter()
            .rposition(|token| is_word(token, &["async"]))?;
        let (keywords, block) = async_block(before.drain(keyword..))?;
        if !looked_for(&function.attrs) || !are_statements(&before) {
            return None;
        }
        Some(Self {
            before: before.into_iter().collect(),
            keywords,
            block,
            parentheses: None,
            looked_for: true,
        })
    }

    /// Looks for `Box::pin(async …)` at the body's end.
    pub(crate) fn boxed(function: &Function) -> Option<Self> {
        let mut before: Vec<TokenTree> = function.body.group.stream().into_iter().collect();
        let TokenTree::Group(argument) = before.pop()? else {
            return None;
        };
        if argument.delimiter() != Delimiter::Parenthesis {
            return None;
        }
        let (keywords, block) = async_block(argument.stream())?;
        let mut rest = before.as_slice();
        for segment in ["pin", "Box"] {
            let [start @ .., TokenTree::Ident(ident)] = rest else {
                return None;
            };
            if ident != segment {
                return None;
            }
            rest = without_colons(start).unwrap_or(start);
        }
        // The rest of `::std::boxed::Box`.
        while let [start @ .., TokenTree::Ident(ident)] = rest {
            if ident == "return" {
                return None;
            }
            rest = without_colons(start).unwrap_or(start);
        }
        if !are_statements(rest) {
            return None;
        }
        Some(Self {
            keywords,
            block,
            parentheses: Some(argument.span()),
            looked_for: looked_for(&function.attrs),
            before: before.into_iter().collect(),
        })
    }

    /// Whether the statements before declare something that what is put before them could name by mistake.
    pub(crate) fn declares_items(&self) -> bool {
        const ITEMS: [&str; 12] = [
            "const", "enum", "extern", "fn", "impl", "mod", "static", "struct", "trait", "type",
            "union", "use",
        ];
        self.before
            .clone()
            .into_iter()
            .any(|token| is_word(&token, &ITEMS))
    }
}

/// Whether one of a fn's attributes may be a macro, which then reads the fn as it is now. Names do not tell for certain; a
/// built-in attribute taken for a macro makes the future larger, a macro taken for a built-in attribute misses the block.
fn looked_for(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| may_be_macro(&attr.meta))
}

fn may_be_macro(attr: &Meta) -> bool {
    const BUILT_IN: [&str; 19] = [
        "allow",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "export_name",
        "forbid",
        "ignore",
        "inline",
        "instruction_set",
        "link_section",
        "must_use",
        "no_mangle",
        "should_panic",
        "target_feature",
        "track_caller",
        "unsafe",
        "warn",
    ];
    const TOOLS: [&str; 4] = ["clippy", "diagnostic", "rustfmt", "rust_analyzer"];
    let path = attr.path();
    if path.is_ident("cfg") {
        return false;
    }
    if path.is_ident("cfg_attr") {
        // What comes behind the condition.
        let attrs = attr
            .require_list()
            .and_then(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated));
        return attrs.map_or(true, |attrs| attrs.iter().skip(1).any(may_be_macro));
    }
    let of_a_tool = path.segments.len() > 1
        && TOOLS.iter().any(|tool| {
            path.segments
                .first()
                .is_some_and(|first| first.ident == tool)
        });
    !of_a_tool && !BUILT_IN.iter().any(|name| path.is_ident(name))
}

/// Whether this is complete before what follows. What ends in neither `;` nor braces is part of the expression; a `return`
/// or a macro may be a second way out.
fn are_statements(tokens: &[TokenTree]) -> bool {
    let complete = match tokens {
        [] => true,
        [.., last @ TokenTree::Punct(_)] => is_punct(last, ';'),
        [.., TokenTree::Group(group)] => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    complete && !has_way_out(tokens.iter().cloned())
}

fn without_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [start @ .., first, second] if is_punct(first, ':') && is_punct(second, ':') => Some(start),
        _ => None,
    }
}

/// Takes `async move { .. }` apart, if this is all there is.
fn async_block(tokens: impl IntoIterator<Item = TokenTree>) -> Option<(TokenStream, Group)> {
    let mut keywords: Vec<TokenTree> = tokens.into_iter().take(4).collect();
    let TokenTree::Group(block) = keywords.pop()? else {
        return None;
    };
    let all = match keywords.as_slice() {
        [first] => is_word(first, &["async"]),
        [first, second] => is_word(first, &["async"]) && is_word(second, &["move"]),
        _ => false,
    };
    (all && block.delimiter() == Delimiter::Brace).then(|| (keywords.into_iter().collect(), block))
}

fn has_way_out(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "return",
        TokenTree::Punct(punct) => matches!(punct.as_char(), '!' | '?'),
        TokenTree::Group(group) => has_way_out(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn looked_for_under(attr: &TokenStream) -> bool {
        let item = quote!(#attr fn find(id: u32) -> BoxFuture<'static, Result<Row, Lost>> {
            Box::pin(async move { row(id).await })
        });
        let function = syn::parse2(item).expect("a fn");
        AsyncBlock::boxed(&function)
            .expect("a block in a box")
            .looked_for
    }

    #[test]
    fn only_macros_look_for_the_block() {
        for attr in [
            quote!(),
            quote!(#[inline] #[must_use = "why"] #[doc = "text"] #[cfg(unix)]),
            quote!(#[clippy::cognitive_complexity = "1"]),
            quote!(#[cfg_attr(unix, inline, cfg_attr(test, allow(unused)))]),
            quote!(#[unsafe(no_mangle)]),
        ] {
            assert!(!looked_for_under(&attr), "{attr}");
        }
        for attr in [
            quote!(#[instrument]),
            quote!(#[inline] #[tracing::instrument(skip_all)]),
            quote!(#[cfg_attr(feature = "trace", inline, tracing::instrument)]),
        ] {
            assert!(looked_for_under(&attr), "{attr}");
        }
    }

    #[test]
    fn what_may_leave_before_the_block_is_no_statement() {
        let found = |body: TokenStream| {
            let item = quote!(#[instrument] fn find() -> impl Future<Output = Row> { #body });
            AsyncBlock::bare(&syn::parse2(item).expect("a fn")).is_some()
        };
        assert!(found(quote!(async {})));
        assert!(found(
            quote!(let id = id(); if id { log(id) } async move { row(id) })
        ));
        for body in [
            quote!(log!(); async {}),
            quote!(if id { return early() } async {}),
            quote!(return async {};),
            quote!(async {}.boxed()),
            quote!(async {}.await),
            quote!(wrap(async {})),
            quote!(a = async {}),
            quote!(
                async fn find() {}
            ),
            quote!(
                #[allow(unused)]
                async {}
            ),
        ] {
            let text = body.to_string();
            assert!(!found(body), "{text}");
        }
    }
}
