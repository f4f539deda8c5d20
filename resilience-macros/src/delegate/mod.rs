//! `#[resilient]` on a trait: the trait as it came, and a struct that implements it around any implementor and limits the
//! methods whose attributes say so.
//!
//! The attributes are read and expanded here, not handed on. So all mistakes in a trait are told at once, and the delegate's
//! registry needs no option that a user could write too.

mod carried;
mod header;
mod limits;
mod method;
mod receiver;
mod selfs;
mod wrap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut as _;
use syn::{Path, Token, TraitItemType, Type};

use self::header::{Header, arguments, refuse_conditions};
use self::method::{Method, lifted};
use self::selfs::Bare;
use crate::args::Args;
use crate::diagnostic::{Code, Diagnostics};
use crate::members::{Attr, Braced, Member};
use crate::tokens::{contains, is_punct, is_word, split};
use crate::{item, signature};

/// A trait and the delegate to be written for it.
struct Delegate {
    header: Header,
    attrs: Vec<TokenStream>,
    /// How the trait names what is in the delegate.
    target: Target,
    members: Vec<Written>,
    /// What ties the supertraits' types to those of what is in the delegate.
    ties: Vec<TokenStream>,
    /// Whether an impl can be written that lacks nothing.
    whole: bool,
}

/// What the calls are handed on to.
pub(crate) struct Target {
    /// The type parameter of what is in the delegate.
    pub(crate) inner: Ident,
    /// The delegate's name.
    pub(crate) name: Ident,
    /// The trait with its generic arguments.
    pub(crate) of: TokenStream,
    pub(crate) ident: Ident,
    /// The names of the trait's own types.
    pub(crate) types: Vec<String>,
    pub(crate) krate: Option<Path>,
}

/// What the impl has of a member of the trait.
enum Written {
    Method(Method),
    Const(TokenStream),
    /// A type, and what it asks of `Self`.
    Type(TokenStream, Vec<TokenStream>),
}

/// The trait with its delegate, or the item as it came and what is wrong.
pub(crate) fn resilient(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let krate = read_options(args, &mut diagnostics);
    let Some(mut taken) = Braced::read(item, &["pub", "crate", "unsafe", "auto"], "trait") else {
        refuse_other_item(item, &mut diagnostics);
        let errors = diagnostics.into_compile_errors();
        return quote!(#item #errors);
    };
    let delegate = Delegate::read(&mut taken, item, krate, &mut diagnostics);
    let errors = diagnostics.into_compile_errors();
    let without = taken.with(|member| member.attrs.iter().map(Attr::remaining).collect());
    let written = delegate.map(|delegate| delegate.expand(errors.is_none()));
    quote!(#without #written #errors)
}

/// Reads the only option, `crate`.
fn read_options(args: TokenStream, diagnostics: &mut Diagnostics) -> Option<Path> {
    let (known, others): (Vec<_>, Vec<_>) = split(args)
        .into_iter()
        .partition(|option| is_word(&option[0], &["crate"]));
    for option in others {
        let given = &option[0];
        let message = if Args::knows(&given.to_string()) {
            format!(
                "`{given}` is an option of `#[adaptive_limit]` on a method; the only option of `#[resilient]` is `crate`"
            )
        } else {
            format!("unknown option `{given}`; the only option of `#[resilient]` is `crate`")
        };
        diagnostics.report(Code::UnknownOption, given, message);
    }
    let known = known.into_iter().map(TokenStream::from_iter);
    Args::parse(quote!(#(#known),*), diagnostics).krate
}

fn refuse_other_item(item: &TokenStream, diagnostics: &mut Diagnostics) {
    let read = |input: ParseStream<'_>| {
        input.call(syn::Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        let first = input.fork().parse::<TokenTree>()?;
        while input.peek(Token![unsafe]) || input.peek(Token![const]) && !input.peek2(syn::Ident) {
            input.parse::<TokenTree>()?;
        }
        let keyword = input.parse::<TokenTree>().unwrap_or(first);
        input.parse::<TokenStream>()?;
        Ok(keyword)
    };
    let (at, what) = match read.parse2(item.clone()) {
        Ok(keyword) => {
            let what = match keyword.to_string().as_str() {
                "trait" => "a trait alias",
                "impl" => "an `impl` block",
                "fn" | "async" | "extern" => "a fn",
                "const" => "a constant",
                other => item::kind(other),
            };
            (keyword.into_token_stream(), what)
        }
        Err(_) => (item.clone(), "this"),
    };
    let message = format!("{what} has no delegate; `#[resilient]` goes on a trait");
    diagnostics.report(Code::NotLimitable, at, message);
}

impl Delegate {
    fn read(
        taken: &mut Braced,
        item: &TokenStream,
        krate: Option<Path>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let tokens = taken.header.iter().cloned().collect();
        let header = match syn::parse2::<Header>(tokens) {
            Ok(header) => header,
            Err(error) => {
                diagnostics.push(error);
                return None;
            }
        };
        let whole = header.refuse(diagnostics);
        let ident = &header.ident;
        let arguments = arguments(&header.generics);
        let target = Target {
            inner: free_name(item),
            name: format_ident!("Resilient{}", ident.unraw(), span = ours(ident.span())),
            of: quote!(#ident #arguments),
            ident: ident.clone(),
            types: taken.members.iter().filter_map(type_name).collect(),
            krate,
        };
        let attrs: Vec<TokenStream> = taken.attrs.iter().map(Attr::content).collect();
        let mut delegate = Self {
            header,
            attrs,
            target,
            members: Vec::new(),
            ties: Vec::new(),
            whole,
        };
        for member in &mut taken.members {
            member.listen(diagnostics);
            match delegate.member(member, diagnostics) {
                Some(written) => delegate.members.push(written),
                None => delegate.whole = false,
            }
        }
        delegate.tie(diagnostics);
        if taken.members.iter().all(|member| member.says().is_empty()) {
            let message = "no method of this trait has a limit; put `#[adaptive_limit]` on those whose calls are to be limited";
            diagnostics.report(Code::NotLimitable, delegate.header.keyword, message);
        }
        Some(delegate)
    }

    /// Ties what the methods name of the supertraits' types.
    fn tie(&mut self, diagnostics: &mut Diagnostics) {
        let mut known = Vec::new();
        let methods = self.members.iter().filter_map(|member| match member {
            Written::Method(method) => Some(&method.inherited),
            Written::Const(_) | Written::Type(..) => None,
        });
        for inherited in methods.flatten() {
            match self.header.tie(inherited, &self.target.inner) {
                Ok(tie) => {
                    let text = tie.as_ref().map(TokenStream::to_string);
                    if !known.contains(&text) {
                        known.push(text);
                        self.ties.extend(tie);
                    }
                }
                Err(error) => {
                    diagnostics.push(error);
                    self.whole = false;
                }
            }
        }
    }

    fn member(&self, member: &Member, diagnostics: &mut Diagnostics) -> Option<Written> {
        if member.name.is_some() {
            return Method::read(member, &self.target, diagnostics).map(Written::Method);
        }
        for (attr, _) in member.says() {
            let message = "only methods can be limited, and this is none";
            diagnostics.report(Code::NotLimitable, attr.whole(), message);
        }
        let attrs = carried::by_members(&member.attrs);
        let is = |word| {
            member
                .rest
                .first()
                .is_some_and(|token| is_word(token, &[word]))
        };
        let read = if is("const") {
            let constant = self.constant(&member.rest, diagnostics);
            constant.map(|tokens| Some(Written::Const(quote!(#attrs #tokens))))
        } else if is("type") {
            let written = self.assoc_type(&member.rest, diagnostics);
            written.map(|written| {
                let (tokens, lifted) = written?;
                Some(Written::Type(quote!(#attrs #tokens), lifted))
            })
        } else {
            let name = member.rest.iter().take_while(|token| !is_punct(token, '!'));
            let name: TokenStream = name.cloned().collect();
            let message = "what a macro makes in a trait is not seen here, and the delegate would lack it; write it out";
            diagnostics.report(Code::NotLimitable, name, message);
            return None;
        };
        read.unwrap_or_else(|error| {
            diagnostics.push(error);
            None
        })
    }

    /// ```text
    /// const MOST: usize = <T as Orders>::MOST;
    /// ```
    fn constant(
        &self,
        tokens: &[TokenTree],
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<TokenStream> {
        let Target { inner, of, .. } = &self.target;
        let read = |input: ParseStream<'_>| {
            let keyword: Token![const] = input.parse()?;
            let ident = input.call(Ident::parse_any)?;
            let colon: Token![:] = input.parse()?;
            let ty: Type = input.parse()?;
            // The default is the trait's own business, and is no more parsed than a body is.
            input.parse::<TokenStream>()?;
            Ok((keyword, ident, colon, ty))
        };
        let (keyword, ident, colon, ty) = read.parse2(tokens.iter().cloned().collect())?;
        let value = if selfs::refuse(|bare| bare.in_type(&ty), diagnostics) {
            quote_spanned!(Span::mixed_site()=> <#inner as #of>::#ident)
        } else {
            quote_spanned!(Span::mixed_site()=> ::core::unreachable!())
        };
        let ident = renewed(&ident);
        Ok(quote_spanned!(Span::mixed_site()=> #keyword #ident #colon #ty = #value;))
    }

    /// ```text
    /// type Row<'a> = <T as Orders>::Row<'a> where Self: 'a;
    /// ```
    fn assoc_type(
        &self,
        tokens: &[TokenTree],
        diagnostics: &mut Diagnostics,
    ) -> syn::Result<Option<(TokenStream, Vec<TokenStream>)>> {
        let Target { inner, of, .. } = &self.target;
        let assoc: TraitItemType = syn::parse2(tokens.iter().cloned().collect())?;
        // What is in the delegate keeps them for itself, not for the delegate.
        let refused = |bare: &mut Bare| {
            for bound in &assoc.bounds {
                bare.visit_type_param_bound_mut(&mut bound.clone());
            }
        };
        let mut sound = selfs::refuse(refused, diagnostics);
        sound &= refuse_conditions(assoc.generics.params.iter(), diagnostics);
        let lifted = match lifted(&assoc.generics, inner, diagnostics) {
            Some(lifted) if sound => lifted,
            _ => return Ok(None),
        };
        let (ident, arguments) = (&assoc.ident, arguments(&assoc.generics));
        let params = assoc.generics.split_for_impl().0;
        let predicates = &assoc.generics.where_clause;
        let tokens = quote_spanned! {Span::mixed_site()=>
            type #ident #params = <#inner as #of>::#ident #arguments #predicates;
        };
        Ok(Some((tokens, lifted)))
    }

    /// Writes the struct and its impl, limited unless something is wrong.
    fn expand(self, limited: bool) -> TokenStream {
        let structure = self.structure();
        let implementation = self.whole.then(|| self.implementation(limited));
        quote!(#structure #implementation)
    }

    /// The delegate itself, with what makes one and takes it apart.
    fn structure(&self) -> TokenStream {
        let Target {
            inner, name, krate, ..
        } = &self.target;
        let vis = renewed_all(self.header.vis.to_token_stream());
        let attrs = carried::by_struct(&self.attrs);
        let krate = signature::krate(krate.as_ref());
        let shown = self.header.ident.unraw();
        let about = format!(
            " Implements [`{shown}`](trait@{shown}) by what is in it, and limits the calls as the trait's attributes say."
        );
        let registry = quote_spanned!(Span::mixed_site()=> #krate::__private::Registry);
        quote_spanned! {Span::mixed_site()=>
            #attrs
            #[doc = #about]
            #[::core::prelude::v1::derive(::core::clone::Clone, ::core::fmt::Debug)]
            #vis struct #name<#inner> {
                inner: #inner,
                registry: ::core::option::Option<#registry>,
            }

            #attrs
            impl<#inner> #name<#inner> {
                /// Limits the calls in the registry that is in force: the one scoped to the thread or future, else the
                /// process-wide.
                #[must_use]
                #vis const fn new(inner: #inner) -> Self {
                    Self {
                        inner,
                        registry: ::core::option::Option::None,
                    }
                }

                /// Limits the calls in this registry.
                #[must_use]
                #vis fn with_registry(inner: #inner, registry: &#registry) -> Self {
                    Self {
                        inner,
                        registry: ::core::option::Option::Some(::core::clone::Clone::clone(registry)),
                    }
                }

                /// Returns what is in the delegate, whose calls are not limited.
                #[must_use]
                #vis const fn inner(&self) -> &#inner {
                    &self.inner
                }

                /// Returns what is in the delegate, by value.
                #[must_use]
                #vis fn into_inner(self) -> #inner {
                    self.inner
                }
            }
        }
    }

    fn implementation(self, limited: bool) -> TokenStream {
        let Self {
            header,
            attrs,
            target,
            members,
            ties,
            ..
        } = self;
        let Target {
            inner, name, of, ..
        } = &target;
        let (carried, sendable) = carried::by_impl(&attrs);
        let sendable = sendable.then(
            || quote_spanned!(Span::mixed_site()=> + ::core::marker::Send + ::core::marker::Sync),
        );
        let params = header.params(inner);
        let unsafety = header.unsafety;
        let mut predicates = header.predicates(inner);
        predicates.extend(ties);
        let mut content = TokenStream::new();
        for member in members {
            match member {
                Written::Method(method) => {
                    predicates.extend(method.lifted.iter().cloned());
                    content.extend(method.expand(limited));
                }
                Written::Type(tokens, lifted) => {
                    predicates.extend(lifted);
                    content.extend(tokens);
                }
                Written::Const(tokens) => content.extend(tokens),
            }
        }
        let predicates = (!predicates.is_empty())
            .then(|| quote_spanned!(Span::mixed_site()=> where #(#predicates),*));
        quote_spanned! {Span::mixed_site()=>
            #carried
            #unsafety impl<#params #inner: #of #sendable> #of for #name<#inner> #predicates {
                #content
            }
        }
    }
}

fn type_name(member: &Member) -> Option<String> {
    match member.rest.as_slice() {
        [keyword, name, ..] if is_word(keyword, &["type"]) => Some(name.to_string()),
        _ => None,
    }
}

/// A name for the type parameter that the trait does not know.
fn free_name(item: &TokenStream) -> Ident {
    let taken = |name: &str| contains(item, name);
    let more = (2..).map(|number| format!("Inner{number}"));
    let mut candidates = ["T".to_owned(), "Inner".to_owned()].into_iter().chain(more);
    let free = candidates.find(|name| !taken(name));
    Ident::new(
        &free.expect("there are more numbers than tokens"),
        Span::mixed_site(),
    )
}

/// The place of a user's token in the expansion's own hygiene: lints are quiet about what they did not write.
pub(crate) fn ours(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// A user's name as one of the expansion's.
pub(crate) fn renewed(ident: &Ident) -> Ident {
    let mut renewed = ident.clone();
    renewed.set_span(ours(ident.span()));
    renewed
}

fn renewed_all(tokens: TokenStream) -> TokenStream {
    let renew = |mut token: TokenTree| {
        token.set_span(ours(token.span()));
        token
    };
    tokens.into_iter().map(renew).collect()
}
