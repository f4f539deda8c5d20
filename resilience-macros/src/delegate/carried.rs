//! The attributes of the trait and its members that hold for what is written beside them too.
//!
//! Whether something is there, and which lints are quiet about it: the same types stand there again. Documentation and
//! the like do not.

use std::cell::Cell;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::members::{Attr, condition, is_path, path_and_group};
use crate::tokens::{is_punct, split};

/// What the impl's constants, types and methods carry.
pub(crate) fn by_members(attrs: &[Attr]) -> TokenStream {
    attrs
        .iter()
        .filter(|attr| attr.said.is_none())
        .filter_map(|attr| {
            carried(&attr.content(), &|path, _| match last(path)? {
                "track_caller" | "inline" => Some(As::Itself),
                // The call that is handed on would be told of.
                "deprecated" => Some(As::Allowed),
                _ => None,
            })
        })
        .map(|content| quote_spanned!(Span::mixed_site()=> #[#content]))
        .collect()
}

/// What the struct and its own methods carry.
pub(crate) fn by_struct(attrs: &[TokenStream]) -> TokenStream {
    attrs
        .iter()
        .filter_map(|attr| {
            carried(attr, &|path, group| {
                let hidden = group.is_some_and(|group| group.stream().to_string() == "hidden");
                (is_path(path, "doc") && hidden).then_some(As::Itself)
            })
        })
        .map(|content| quote_spanned!(Span::mixed_site()=> #[#content]))
        .collect()
}

/// What the impl carries, and whether an `async_trait` among it asks for futures that are `Send`.
pub(crate) fn by_impl(attrs: &[TokenStream]) -> (TokenStream, bool) {
    let sendable = Cell::new(false);
    let carried = attrs
        .iter()
        .filter_map(|attr| {
            carried(attr, &|path, group| match last(path)? {
                "async_trait" => {
                    let options = group.map(|group| split(group.stream()));
                    let local = |option: &Vec<TokenTree>| is_punct(&option[0], '?');
                    sendable.set(!options.is_some_and(|options| options.iter().any(local)));
                    Some(As::Itself)
                }
                "deprecated" => Some(As::Allowed),
                _ => None,
            })
        })
        .map(|content| quote_spanned!(Span::mixed_site()=> #[#content]))
        .collect();
    (carried, sendable.get())
}

enum As {
    Itself,
    /// As `allow` of the lint that goes by its name.
    Allowed,
}

fn last(path: &[String]) -> Option<&str> {
    path.last().map(String::as_str)
}

/// What is carried of the content of an attribute's brackets.
fn carried(
    content: &TokenStream,
    more: &impl Fn(&[String], Option<&Group>) -> Option<As>,
) -> Option<TokenStream> {
    let (path, group) = path_and_group(content);
    if is_path(&path, "cfg_attr") {
        let (predicate, parts) = condition(group.as_ref()?)?;
        let parts: Vec<_> = parts.filter_map(|part| carried(&part, more)).collect();
        return (!parts.is_empty()).then(|| quote!(cfg_attr(#predicate, #(#parts),*)));
    }
    let lints = ["cfg", "allow", "warn", "deny"];
    if lints.iter().any(|lint| is_path(&path, lint)) {
        return Some(content.clone());
    }
    if is_path(&path, "expect") {
        // What is expected of the trait need not come about here.
        let lints = group.map(TokenTree::Group);
        return Some(quote_spanned!(Span::mixed_site()=> allow #lints));
    }
    match more(&path, group.as_ref())? {
        As::Itself => Some(content.clone()),
        As::Allowed => {
            let lint = Ident::new(last(&path)?, Span::mixed_site());
            Some(quote_spanned!(Span::mixed_site()=> allow(#lint)))
        }
    }
}

/// The predicate of all `cfg` among an argument's attributes.
pub(crate) fn presence(attrs: &[syn::Attribute]) -> Option<TokenStream> {
    let predicates: Vec<TokenStream> = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("cfg"))
        .filter_map(|attr| attr.meta.require_list().ok())
        .map(|list| list.tokens.clone())
        .collect();
    match predicates.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(quote!(all(#(#all),*))),
    }
}
