//! A method of the trait in the impl for the delegate: limited or not, it calls that of what is in the delegate.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::visit_mut::VisitMut as _;
use syn::{
    FnArg, GenericParam, Generics, Pat, PatIdent, ReceiverKind, Safety, Signature, TypeParamBound,
    Visibility, WherePredicate,
};

use super::header::{is_relaxed, refuse_conditions};
use super::limits::{Limit, limits};
use super::selfs::Inherited;
use super::wrap::Wrap;
use super::{Target, carried, ours, receiver, renewed, selfs};
use crate::diagnostic::{Code, Diagnostics};
use crate::item::{Body, Function};
use crate::members::Member;
use crate::plan::{Home, Plan};
use crate::signature;
use crate::tokens::{contains, is_block};

/// A method, more than once if conditions decide on its limit.
pub(crate) struct Method {
    /// What it asks of `Self`, as predicates on what is in the delegate. The method itself cannot ask for more than the
    /// trait's does.
    pub(crate) lifted: Vec<TokenStream>,
    /// What it names of the supertraits' types.
    pub(crate) inherited: Vec<Inherited>,
    variants: Vec<Variant>,
}

/// The method as it is under one condition.
struct Variant {
    attrs: TokenStream,
    unlimited: Function,
    plan: Option<Plan>,
}

impl Method {
    pub(crate) fn read(
        member: &Member,
        target: &Target,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let mut tokens = member.rest.clone();
        if tokens
            .last()
            .is_some_and(|last| is_block(last) || last.to_string() == ";")
        {
            tokens.pop();
        }
        let read = |input: ParseStream<'_>| {
            // The compiler says that a trait has none.
            input.parse::<Visibility>()?;
            input.parse::<Signature>()
        };
        let sig = match read.parse2(tokens.into_iter().collect()) {
            Ok(sig) => sig,
            Err(error) => {
                diagnostics.push(error);
                return None;
            }
        };
        let limits = limits(member, &sig, target, diagnostics);
        let lifted = lifted(&sig.generics, &target.inner, diagnostics);
        let inherited = selfs::inherited(&sig, &target.types, &target.ident);
        let function = handing_on(sig, lifted.is_some(), target, diagnostics);
        let attrs = carried::by_members(&member.attrs);
        let home = function.sig.receiver().map(|receiver| {
            let this = &receiver.self_token;
            quote_spanned!(Span::mixed_site()=> #this.registry)
        });
        let under: Vec<TokenStream> = limits
            .iter()
            .filter_map(|limit| limit.under.clone())
            .collect();
        let mut variants = Vec::new();
        if limits.len() == under.len() {
            let otherwise = (!under.is_empty())
                .then(|| quote_spanned!(Span::mixed_site()=> #[cfg(not(any(#(#under),*)))]));
            variants.push(Variant {
                attrs: quote!(#attrs #otherwise),
                unlimited: function.clone(),
                plan: None,
            });
        }
        for Limit { args, under, place } in limits {
            let condition = under.map(|under| quote_spanned!(Span::mixed_site()=> #[cfg(#under)]));
            let home = home.clone().map_or(Home::Attribute, Home::Delegate);
            variants.push(Variant {
                attrs: quote!(#attrs #condition),
                unlimited: function.clone(),
                plan: Some(Plan::of(args, function.clone(), home, place)),
            });
        }
        Some(Self {
            lifted: lifted.unwrap_or_default(),
            inherited,
            variants,
        })
    }

    /// Writes the method, limited unless something in the trait is wrong.
    pub(crate) fn expand(self, limited: bool) -> TokenStream {
        let mut tokens = TokenStream::new();
        for Variant {
            attrs,
            unlimited,
            plan,
        } in self.variants
        {
            tokens.extend(attrs);
            tokens.extend(match plan {
                Some(plan) if limited => plan.expand(),
                _ => unlimited.into_token_stream(),
            });
        }
        tokens
    }
}

/// ```text
/// fn find<K: Key>(&self, (key, at): (K, usize)) -> Result<Row, Lost>;
/// ```
/// becomes
/// ```text
/// fn find<K: Key>(&self, arg0: (K, usize)) -> Result<Row, Lost> {
///     <T as Orders>::find::<K>(&self.inner, arg0)
/// }
/// ```
///
/// If something is wrong with the method, in its signature too or `sound` is false, there is no call in it.
fn handing_on(
    mut sig: Signature,
    sound: bool,
    target: &Target,
    diagnostics: &mut Diagnostics,
) -> Function {
    signature::parenthesize(&mut sig);
    let mut passes = sound;
    let all = sig.inputs.to_token_stream();
    let mut arguments = Vec::new();
    let mut given_names = Vec::new();
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        let (presence, argument) = match input {
            FnArg::Receiver(given) => {
                let krate = target.krate.as_ref();
                let handed_on = receiver::handed_on(given, krate, diagnostics);
                given.attrs.clear();
                if !matches!(given.kind, ReceiverKind::Reference(..)) {
                    given.mutability = None;
                }
                (None, handed_on)
            }
            FnArg::Typed(given) => {
                given.attrs.retain(|attr| attr.path().is_ident("cfg"));
                let name = name(&given.pat, index, &all, &mut given_names);
                *given.pat = Pat::Ident(PatIdent {
                    attrs: Vec::new(),
                    by_ref: None,
                    mutability: None,
                    ident: name.clone(),
                    subpat: None,
                });
                let plain = receiver::plain(&given.ty, &name);
                let argument = match plain {
                    Some(plain) => Some(plain),
                    None => selfs::refuse(|bare| bare.in_type(&given.ty), diagnostics)
                        .then(|| name.into_token_stream()),
                };
                (carried::presence(&given.attrs), argument)
            }
        };
        match argument {
            Some(argument) => arguments.push((presence, argument)),
            None => passes = false,
        }
    }
    passes &= selfs::refuse(
        |bare| {
            for param in &sig.generics.params {
                bare.visit_generic_param_mut(&mut param.clone());
            }
            let given = sig.generics.where_clause.iter();
            for predicate in given.flat_map(|clause| &clause.predicates) {
                bare.in_predicate(predicate);
            }
        },
        diagnostics,
    );
    // Lifetimes are not named in the call.
    let named = sig.generics.params.iter();
    let named = named.filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    passes &= refuse_conditions(named, diagnostics);
    let wrap = Wrap::of(&sig.output, diagnostics);
    let body = match wrap {
        Some(wrap) if passes => {
            let path = path(&sig, target);
            let receiver = sig.receiver().map(|receiver| receiver.self_token);
            let finish = |arguments: &[&TokenStream]| {
                let mut call = quote_spanned!(Span::mixed_site()=> #path(#(#arguments),*));
                if matches!(sig.safety, Safety::Unsafe(_)) {
                    call = quote_spanned!(Span::mixed_site()=> unsafe { #call });
                }
                if sig.asyncness.is_some() {
                    call = quote_spanned!(Span::mixed_site()=> #call.await);
                }
                wrap.around(&call, receiver)
            };
            call(&arguments, &mut Vec::new(), &finish)
        }
        _ => quote_spanned!(Span::mixed_site()=> ::core::unreachable!()),
    };
    selfs::captured(&mut sig.output, &target.inner);
    // The compiler says that a trait has none.
    sig.constness = None;
    renew(&mut sig);
    let mut group = Group::new(Delimiter::Brace, body);
    group.set_span(Span::mixed_site());
    Function {
        attrs: Vec::new(),
        vis: Visibility::Inherited,
        sig,
        body: Body {
            inner_attrs: TokenStream::new(),
            group,
        },
    }
}

/// The argument's name in the impl: its own if it is a plain one, else one that none of the others has. It is the
/// expansion's, so that no lint minds its use. There two are one that in the trait may differ: a macro's and its caller's.
fn name(pat: &Pat, index: usize, all: &TokenStream, given: &mut Vec<String>) -> Ident {
    match pat {
        Pat::Ident(binding)
            if binding.subpat.is_none()
                && binding.ident != "self"
                && given.iter().all(|name| binding.ident != name) =>
        {
            given.push(binding.ident.to_string());
            renewed(&binding.ident)
        }
        _ => {
            let mut name = format!("arg{index}");
            while contains(all, &name) {
                name.insert(0, '_');
            }
            Ident::new(&name, Span::mixed_site())
        }
    }
}

/// Gives the words that make it a fn the spans of the expansion.
fn renew(sig: &mut Signature) {
    sig.fn_token.span = ours(sig.fn_token.span);
    sig.ident = renewed(&sig.ident);
    if let Some(asyncness) = &mut sig.asyncness {
        asyncness.span = ours(asyncness.span);
    }
    if let Safety::Unsafe(unsafety) = &mut sig.safety {
        unsafety.span = ours(unsafety.span);
    }
}

/// `<T as Orders>::find::<K>`. Lifetimes are left to the compiler, which allows them to be named for some fns only.
fn path(sig: &Signature, Target { inner, of, .. }: &Target) -> TokenStream {
    let ident = renewed(&sig.ident);
    let names: Vec<&Ident> = sig
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
        })
        .collect();
    let turbofish =
        (!names.is_empty()).then(|| quote_spanned!(Span::mixed_site()=> ::<#(#names),*>));
    quote_spanned!(Span::mixed_site()=> <#inner as #of>::#ident #turbofish)
}

/// Writes the call with the arguments that there are.
fn call<'a>(
    rest: &'a [(Option<TokenStream>, TokenStream)],
    before: &mut Vec<&'a TokenStream>,
    finish: &impl Fn(&[&TokenStream]) -> TokenStream,
) -> TokenStream {
    let Some(((presence, argument), rest)) = rest.split_first() else {
        return finish(before);
    };
    let without = presence.as_ref().map(|predicate| {
        let call = call(rest, before, finish);
        quote_spanned!(Span::mixed_site()=> #[cfg(not(#predicate))] { #call })
    });
    before.push(argument);
    let with = call(rest, before, finish);
    before.pop();
    match (presence, without) {
        (Some(predicate), Some(without)) => {
            quote_spanned!(Span::mixed_site()=> #[cfg(#predicate)] { #with } #without)
        }
        _ => with,
    }
}

/// What the method or type asks of `Self` and the delegate does not have from being one: `async_trait` asks `Self: Sync` of
/// default methods.
pub(crate) fn lifted(
    generics: &Generics,
    inner: &Ident,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<TokenStream>> {
    let mut lifted = Vec::new();
    let mut sound = true;
    let given = generics.where_clause.iter();
    for predicate in given.flat_map(|clause| &clause.predicates) {
        let WherePredicate::Type(predicate) = predicate else {
            continue;
        };
        if !selfs::is(&predicate.bounded_ty) {
            continue;
        }
        for bound in &predicate.bounds {
            let TypeParamBound::Trait(of) = bound else {
                continue;
            };
            let is_sized = of
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "Sized");
            if is_sized || is_relaxed(bound) {
                continue;
            }
            if names_any(bound, generics) {
                let message = "this is asked of the delegate for each call, and nobody could promise it for what is in it; ask it of the trait";
                diagnostics.report(Code::NotLimitable, bound, message);
                sound = false;
                continue;
            }
            let mut bound = bound.clone();
            selfs::projected(inner).visit_type_param_bound_mut(&mut bound);
            let lifetimes = &predicate.lifetimes;
            lifted.push(quote!(#lifetimes #inner: #bound));
        }
    }
    sound.then_some(lifted)
}

/// Whether the bound names a parameter of the method.
fn names_any(bound: &TypeParamBound, generics: &Generics) -> bool {
    let tokens = bound.to_token_stream();
    generics.params.iter().any(|param| {
        let name = match param {
            GenericParam::Lifetime(param) => &param.lifetime.ident,
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
        };
        contains(&tokens, &name.to_string())
    })
}
