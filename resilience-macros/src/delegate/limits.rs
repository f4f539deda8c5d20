//! What the attributes of a method ask for, and whether it can be had.

use proc_macro2::{Span, TokenStream};
use syn::{ReturnType, Signature, Type};

use super::Target;
use crate::args::Args;
use crate::diagnostic::{Code, Diagnostics};
use crate::item::refuse_signature;
use crate::members::{Member, Said, What};
use crate::signature::{Output, ungrouped};

/// What an attribute of the method asks for.
pub(crate) struct Limit {
    pub(crate) args: Args,
    pub(crate) under: Option<TokenStream>,
    pub(crate) place: Span,
}

/// Reads the attributes that limit the method.
pub(crate) fn limits(
    member: &Member,
    sig: &Signature,
    target: &Target,
    diagnostics: &mut Diagnostics,
) -> Vec<Limit> {
    let mut limits = Vec::new();
    let says = member.says();
    for (attr, Said { what, under, .. }) in &says {
        let What::Limit(args) = what else {
            let message =
                "a method of a trait without `#[adaptive_limit]` is not limited; leave `skip` out";
            diagnostics.report(Code::NotLimitable, attr.whole(), message);
            continue;
        };
        let mut args = Args::parse(args.clone(), diagnostics);
        if let Some(registry) = args.registry.take() {
            let message = format!(
                "the registry is that of the delegate; leave `registry` out and make the delegate by `{}::with_registry`",
                target.name
            );
            diagnostics.report(Code::WrongValue, registry, message);
        }
        if under.is_none() && says.len() > 1 {
            let message = "the method has another `#[adaptive_limit]`; leave one out";
            diagnostics.report(Code::DuplicateOption, attr.whole(), message);
            continue;
        }
        args.krate = args.krate.or_else(|| target.krate.clone());
        limits.push(Limit {
            args,
            under: under.clone(),
            place: attr.tokens[0].span(),
        });
    }
    if !says.is_empty() {
        if let Err(error) = refuse_signature(sig) {
            diagnostics.push(error);
        }
        if let (Output::Direct(_), ReturnType::Type(_, ty)) = (Output::of(sig), &sig.output)
            && matches!(ungrouped(ty), Type::ImplTrait(_))
        {
            let message = "a rejected call has no such `impl Trait` to return, which what is in the delegate alone can make; return a `Result` of it";
            diagnostics.report(Code::NotLimitable, ty, message);
        }
    }
    limits
}
