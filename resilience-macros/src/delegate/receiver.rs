//! How a method's receiver is handed on.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{GenericArgument, PathArguments, Receiver, ReceiverKind, Token, Type};

use super::selfs;
use crate::args::literal;
use crate::diagnostic::{Code, Diagnostics};
use crate::signature::{self, ungrouped};

/// The receiver for the call of what is in the delegate. `None` if there is no way to it.
pub(crate) fn handed_on(
    receiver: &Receiver,
    krate: Option<&syn::Path>,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    let this = &receiver.self_token;
    match &receiver.kind {
        ReceiverKind::Value => Some(quote_spanned!(Span::mixed_site()=> #this.inner)),
        ReceiverKind::Reference(_, _, mutability) => Some(borrowed(*mutability, this)),
        ReceiverKind::Typed(_, ty) => {
            let handed_on = typed(ty, *this, krate);
            if handed_on.is_none() {
                let given = literal::shown(&**ty);
                let message = format!(
                    "the delegate has no `{given}` of what is in it; take `&self`, `&mut self`, `self` or `self: Box<Self>`"
                );
                diagnostics.report(Code::NotLimitable, ty, message);
            }
            handed_on
        }
        _ => {
            let message = "a receiver of this kind cannot be handed on; take `&self`";
            diagnostics.report(Code::NotLimitable, receiver, message);
            None
        }
    }
}

/// The argument or receiver `this` if it is of `Self`, borrowed or not.
pub(crate) fn plain(ty: &Type, this: &impl ToTokens) -> Option<TokenStream> {
    match ungrouped(ty) {
        ty if selfs::is(ty) => Some(quote_spanned!(Span::mixed_site()=> #this.inner)),
        Type::Reference(reference) if selfs::is(&reference.elem) => {
            Some(borrowed(reference.mutability, this))
        }
        _ => None,
    }
}

fn typed(ty: &Type, this: Token![self], krate: Option<&syn::Path>) -> Option<TokenStream> {
    if let Some(plain) = plain(ty, &this) {
        return Some(plain);
    }
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let of_self =
        matches!(arguments.args.first(), Some(GenericArgument::Type(ty)) if selfs::is(ty));
    let krate = signature::krate(krate);
    (last.ident == "Box" && of_self && arguments.args.len() == 1)
        .then(|| quote_spanned!(Span::mixed_site()=> #krate::__private::Box::new((*#this).inner)))
}

fn borrowed(mutability: Option<Token![mut]>, this: &impl ToTokens) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> &#mutability #this.inner)
}
