//! `Self` in a method's output: the delegate again, around what the call returns.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{GenericArgument, PathArguments, ReturnType, Token, Type};

use super::selfs;
use crate::diagnostic::Diagnostics;
use crate::signature::ungrouped;

/// Where `Self` is in the output, to be wrapped again.
pub(crate) enum Wrap {
    Nothing,
    Whole,
    /// Through `map` of this type.
    In(&'static str),
}

impl Wrap {
    pub(crate) fn of(output: &ReturnType, diagnostics: &mut Diagnostics) -> Option<Self> {
        let ReturnType::Type(_, ty) = output else {
            return Some(Self::Nothing);
        };
        if selfs::is(ty) {
            return Some(Self::Whole);
        }
        let mut wrap = Self::Nothing;
        let mut rest = ungrouped(ty).clone();
        if let Type::Path(path) = &mut rest
            && let Some(last) = path.path.segments.last_mut()
            && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
            && let Some(GenericArgument::Type(ty)) = arguments.args.first_mut()
            && selfs::is(ty)
        {
            let known = ["Result", "Option"];
            if let Some(found) = known.iter().find(|known| last.ident == **known) {
                wrap = Self::In(found);
                *ty = syn::parse_quote!(());
            }
        }
        selfs::refuse(|bare| bare.in_type(&rest), diagnostics).then_some(wrap)
    }

    /// The call with its output wrapped, with the registry of the receiver if there is one.
    pub(crate) fn around(&self, call: &TokenStream, receiver: Option<Token![self]>) -> TokenStream {
        let of = |this| quote_spanned!(Span::mixed_site()=> ::core::clone::Clone::clone(&#this.registry));
        let none = || quote_spanned!(Span::mixed_site()=> ::core::option::Option::None);
        let registry = receiver.map_or_else(none, of);
        match self {
            Self::Nothing => call.clone(),
            Self::Whole => quote_spanned! {Span::mixed_site()=>
                let adaptive_limit_registry = #registry;
                Self { inner: #call, registry: adaptive_limit_registry }
            },
            Self::In(name) => {
                let ident = Ident::new(name, Span::mixed_site());
                let module = Ident::new(&name.to_lowercase(), Span::mixed_site());
                quote_spanned! {Span::mixed_site()=>
                    let adaptive_limit_registry = #registry;
                    ::core::#module::#ident::map(#call, |adaptive_limit_inner| Self {
                        inner: adaptive_limit_inner,
                        registry: adaptive_limit_registry,
                    })
                }
            }
        }
    }
}
