//! The trait's header, and what the impl has of it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::VisitMut as _;
use syn::{
    GenericArgument, GenericParam, Generics, Ident, Path, PathArguments, Token, TypeParamBound,
    Visibility, WherePredicate,
};

use super::selfs::{self, Inherited};
use crate::diagnostic::{Code, Diagnostics, error};

/// What stands between the trait's attributes and its braces.
pub(crate) struct Header {
    pub(crate) vis: Visibility,
    pub(crate) unsafety: Option<Token![unsafe]>,
    auto: Option<Token![auto]>,
    pub(crate) keyword: Token![trait],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    supertraits: Vec<TypeParamBound>,
}

impl Parse for Header {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let vis = input.parse()?;
        let unsafety = input.parse()?;
        let auto = input.parse()?;
        let keyword = input.parse()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut supertraits = Vec::new();
        if input.parse::<Option<Token![:]>>()?.is_some() {
            while !input.is_empty() && !input.peek(Token![where]) {
                supertraits.push(input.parse()?);
                if input.parse::<Option<Token![+]>>()?.is_none() {
                    break;
                }
            }
        }
        generics.where_clause = input.parse()?;
        Ok(Self {
            vis,
            unsafety,
            auto,
            keyword,
            ident,
            generics,
            supertraits,
        })
    }
}

impl Header {
    /// Refuses the traits that cannot be handed on. Returns whether an impl can be written nevertheless.
    pub(crate) fn refuse(&self, diagnostics: &mut Diagnostics) -> bool {
        if let Some(unsafety) = self.unsafety {
            let message = "an unsafe trait has no delegate; what it asks of its implementors, nobody would vouch for";
            diagnostics.report(Code::NotLimitable, unsafety, message);
        }
        if let Some(auto) = self.auto {
            let message = "an auto trait has no delegate; it has no methods to limit";
            diagnostics.report(Code::NotLimitable, auto, message);
        }
        refuse_conditions(self.generics.params.iter(), diagnostics)
    }

    /// The generic parameters of the impl, each with a comma behind it.
    pub(crate) fn params(&self, inner: &Ident) -> TokenStream {
        let param = |param: &GenericParam| {
            let mut param = param.clone();
            match &mut param {
                GenericParam::Type(param) => param.default = None,
                GenericParam::Const(param) => param.default = None,
                GenericParam::Lifetime(_) => {}
            }
            selfs::projected(inner).visit_generic_param_mut(&mut param);
            quote!(#param,)
        };
        self.generics.params.iter().map(param).collect()
    }

    /// What must hold for the impl. A supertrait must hold for the delegate too, and so makes the impl conditional: those
    /// of the standard library mostly do, and the others the user can implement for it.
    ///
    /// `Self::Row` is written as that of what is in the delegate: it is the same, and asking the impl would be a circle.
    pub(crate) fn predicates(&self, inner: &Ident) -> Vec<TokenStream> {
        let mut predicates = Vec::new();
        for bound in &self.supertraits {
            if is_relaxed(bound) {
                continue;
            }
            let mut bound = bound.clone();
            selfs::projected(inner).visit_type_param_bound_mut(&mut bound);
            predicates.push(quote!(Self: #bound));
        }
        for param in &self.generics.params {
            if let GenericParam::Type(param) = param
                && !param.bounds.is_empty()
            {
                let (ident, bounds) = (&param.ident, &param.bounds);
                let predicate = syn::parse_quote!(#ident: #bounds);
                predicates.extend(of_inner(&predicate, inner));
            }
        }
        let given = self.generics.where_clause.iter();
        for predicate in given.flat_map(|clause| &clause.predicates) {
            predicates.extend(of_inner(predicate, inner));
            let mut predicate = predicate.clone();
            selfs::projected(inner).visit_where_predicate_mut(&mut predicate);
            predicates.push(predicate.to_token_stream());
        }
        predicates
    }

    /// What ties a type of a supertrait's to that of what is in the delegate, which the calls take and return: the user says
    /// what it is when implementing the supertrait.
    pub(crate) fn tie(
        &self,
        inherited: &Inherited,
        inner: &Ident,
    ) -> syn::Result<Option<TokenStream>> {
        let Inherited {
            of,
            name,
            lifetimes,
        } = inherited;
        let of = match of {
            Some(of) => of.clone(),
            None => match self.ancestors().as_slice() {
                // The trait says itself what it is, of the delegate as well.
                given if given.iter().any(|path| binds(path, name)) => return Ok(None),
                [] => return Ok(None),
                [one] => unbound(one),
                _ => {
                    let message = format!(
                        "which supertrait has `{name}` is not seen here; write `<Self as …>::{name}`"
                    );
                    return Err(error(Code::NotLimitable, name, message));
                }
            },
        };
        let mut tied = of.clone();
        let value: GenericArgument = syn::parse_quote!(#name = <#inner as #of>::#name);
        match tied.segments.last_mut().map(|last| &mut last.arguments) {
            Some(PathArguments::AngleBracketed(arguments)) => arguments.args.push(value),
            Some(arguments @ PathArguments::None) => {
                *arguments = PathArguments::AngleBracketed(syn::parse_quote!(<#value>));
            }
            _ => return Ok(None),
        }
        selfs::projected(inner).visit_path_mut(&mut tied);
        let lifetimes = (!lifetimes.is_empty()).then(|| quote!(for<#(#lifetimes),*>));
        Ok(Some(quote!(#lifetimes Self: #tied)))
    }

    /// The supertraits that may have types.
    fn ancestors(&self) -> Vec<Path> {
        const WITHOUT: [&str; 16] = [
            "Send",
            "Sync",
            "Sized",
            "Unpin",
            "UnwindSafe",
            "RefUnwindSafe",
            "Debug",
            "Display",
            "Clone",
            "Copy",
            "PartialEq",
            "Eq",
            "Hash",
            "Default",
            "Any",
            "Error",
        ];
        let given = self.generics.where_clause.iter();
        let further = given
            .flat_map(|clause| &clause.predicates)
            .filter_map(|predicate| match predicate {
                WherePredicate::Type(predicate) if selfs::is(&predicate.bounded_ty) => {
                    Some(&predicate.bounds)
                }
                _ => None,
            });
        let bounds = self.supertraits.iter().chain(further.flatten());
        bounds
            .filter_map(|bound| match bound {
                TypeParamBound::Trait(bound) => Some(&bound.path),
                _ => None,
            })
            .filter(|path| {
                let last = path.segments.last();
                last.is_some_and(|last| WITHOUT.iter().all(|known| last.ident != known))
            })
            .cloned()
            .collect()
    }
}

/// Whether the supertrait is written with this type of its own, as in `Iterator<Item = u32>`.
fn binds(of: &Path, name: &Ident) -> bool {
    let Some(PathArguments::AngleBracketed(arguments)) =
        of.segments.last().map(|last| &last.arguments)
    else {
        return false;
    };
    arguments.args.iter().any(|argument| match argument {
        GenericArgument::AssocType(assoc) => assoc.ident == *name,
        _ => false,
    })
}

/// The supertrait without what is said of its own types and constants, which a path has no place for.
fn unbound(of: &Path) -> Path {
    let mut of = of.clone();
    if let Some(last) = of.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        let given = std::mem::take(&mut arguments.args).into_iter();
        arguments.args = given
            .filter(|argument| {
                matches!(
                    argument,
                    GenericArgument::Lifetime(_)
                        | GenericArgument::Type(_)
                        | GenericArgument::Const(_)
                )
            })
            .collect();
    }
    of
}

/// What a predicate that names `Self` says of what is in the delegate. Of a supertrait that is known.
fn of_inner(predicate: &WherePredicate, inner: &Ident) -> Option<TokenStream> {
    if let WherePredicate::Type(predicate) = predicate
        && selfs::is(&predicate.bounded_ty)
    {
        return None;
    }
    let mut bare = selfs::Bare::default();
    bare.in_predicate(predicate);
    if bare.is_empty() {
        return None;
    }
    let mut predicate = predicate.clone();
    selfs::replaced(inner).visit_where_predicate_mut(&mut predicate);
    Some(predicate.to_token_stream())
}

/// Whether this is `?Sized`.
pub(crate) fn is_relaxed(bound: &TypeParamBound) -> bool {
    bound.to_token_stream().to_string().starts_with('?')
}

/// Refuses `#[cfg]` on parameters that have to be named as arguments, which take no attributes. Returns whether there is none.
pub(crate) fn refuse_conditions<'a>(
    params: impl Iterator<Item = &'a GenericParam>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut sound = true;
    for param in params {
        let attrs = match param {
            GenericParam::Lifetime(param) => &param.attrs,
            GenericParam::Type(param) => &param.attrs,
            GenericParam::Const(param) => &param.attrs,
        };
        if let Some(condition) = attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
            let message = "the delegate cannot hand on a parameter under a condition; write the whole item once for each case, under its condition";
            diagnostics.report(Code::NotLimitable, condition, message);
            sound = false;
        }
    }
    sound
}

/// The parameters as arguments, in angle brackets.
pub(crate) fn arguments(generics: &Generics) -> TokenStream {
    if generics.params.is_empty() {
        return TokenStream::new();
    }
    let names = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    });
    quote!(<#(#names),*>)
}
