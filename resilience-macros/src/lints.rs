//! The lint attributes of an argument that is a variable in two places.
//!
//! What is quiet about the argument is to be quiet about both. But of an `expect` in both, one is not fulfilled, and the
//! compiler complains. So it stays where its lint looks, and is an `allow` elsewhere.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token, parse_quote};

/// Where an attribute goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the argument.
    Argument,
    /// On the variable that is bound anew, which is the one that the body uses.
    Variable,
    /// On a statement that only names the argument.
    Mention,
}

/// Returns attributes as they are to be in this place.
pub(crate) fn placed(attrs: &[Attribute], place: Place) -> Vec<Attribute> {
    let of = |attr: &Attribute| {
        let template = attr.clone();
        placed_meta(&attr.meta, place)
            .into_iter()
            .map(move |meta| Attribute {
                meta,
                ..template.clone()
            })
    };
    attrs.iter().flat_map(of).collect()
}

fn placed_meta(meta: &Meta, place: Place) -> Vec<Meta> {
    let expects = meta.path().is_ident("expect");
    if let Meta::List(list) = meta
        && (expects || meta.path().is_ident("cfg_attr"))
        && let Ok(inner) =
            Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone())
    {
        let inner: Vec<Meta> = inner.into_iter().collect();
        if expects {
            return placed_lints(&inner, place);
        }
        if let Some((condition, attrs)) = inner.split_first() {
            let attrs = attrs.iter().flat_map(|meta| placed_meta(meta, place));
            return vec![parse_quote!(cfg_attr(#condition, #(#attrs),*))];
        }
    }
    vec![meta.clone()]
}

fn placed_lints(lints: &[Meta], place: Place) -> Vec<Meta> {
    let (reason, lints): (Vec<&Meta>, Vec<&Meta>) = lints
        .iter()
        .partition(|meta| matches!(meta, Meta::NameValue(_)));
    let (expected, allowed): (Vec<&Meta>, Vec<&Meta>) =
        lints.into_iter().partition(|lint| place == home(lint));
    let with = |level: TokenStream, lints: &[&Meta]| -> Option<Meta> {
        (!lints.is_empty()).then(|| parse_quote!(#level(#(#lints,)* #(#reason)*)))
    };
    [
        with(quote!(expect), &expected),
        with(quote!(allow), &allowed),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Where a lint looks: at how the body uses the variable, or at the argument's name and type.
fn home(lint: &Meta) -> Place {
    const OF_USE: [&str; 4] = [
        "unused",
        "unused_assignments",
        "unused_mut",
        "unused_variables",
    ];
    if OF_USE.iter().any(|of_use| lint.path().is_ident(of_use)) {
        Place::Variable
    } else {
        Place::Argument
    }
}
