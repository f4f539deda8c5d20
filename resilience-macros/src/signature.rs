//! What the signature says about a call: what it returns and which arguments it holds.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    AngleBracketedGenericArguments, GenericArgument, PathArguments, ReturnType, Signature, Type,
    TypeParamBound, parse_quote,
};

/// How the fn's output comes.
pub(crate) enum Output {
    /// As the fn returns, or as its `async` body ends.
    Direct(Type),
    /// From the `impl Future` that it returns.
    Future(Type),
    /// From the boxed future of this type that it returns.
    Boxed(Type),
}

impl Output {
    /// Reads the return type. A future is known by the names that futures go by; an alias of another name is taken for
    /// an ordinary output, which asks for `rejected = path` and so does not go unnoticed.
    pub(crate) fn of(sig: &Signature) -> Self {
        let ReturnType::Type(_, ty) = &sig.output else {
            // Of the fn's span, which an error about it then points at.
            return Self::Direct(syn::parse_quote_spanned!(sig.ident.span()=> ()));
        };
        let ty = &**ty;
        if sig.asyncness.is_some() {
            return Self::Direct(ty.clone());
        }
        match ungrouped(ty) {
            Type::ImplTrait(imp) => match imp.bounds.iter().find_map(future_output) {
                Some(output) => Self::Future(output),
                None => Self::Direct(ty.clone()),
            },
            Type::Path(path) if is_boxed_future(path) => Self::Boxed(ty.clone()),
            _ => Self::Direct(ty.clone()),
        }
    }
}

pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

/// Returns `T` of the bound `Future<Output = T>`.
fn future_output(bound: &TypeParamBound) -> Option<Type> {
    let TypeParamBound::Trait(bound) = bound else {
        return None;
    };
    let last = bound.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    if last.ident != "Future" {
        return None;
    }
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(assoc.ty.clone()),
        _ => None,
    })
}

/// Whether this is `Pin<Box<dyn Future>>` or one of the aliases of `futures`.
fn is_boxed_future(path: &syn::TypePath) -> bool {
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    match last.ident.to_string().as_str() {
        "BoxFuture" | "LocalBoxFuture" => !last.arguments.is_none(),
        "Pin" => match only_type(&last.arguments) {
            Some(Type::Path(inner)) => inner.path.segments.last().is_some_and(|inner| {
                inner.ident == "Box"
                    && matches!(only_type(&inner.arguments), Some(Type::TraitObject(object))
                        if object.bounds.iter().any(|bound| future_output(bound).is_some()))
            }),
            _ => false,
        },
        _ => false,
    }
}

fn only_type(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(AngleBracketedGenericArguments { args, .. }) = arguments
    else {
        return None;
    };
    match args.first() {
        Some(GenericArgument::Type(ty)) if args.len() == 1 => Some(ungrouped(ty)),
        _ => None,
    }
}

/// Writes `impl Trait` as `_`: the type of an expression cannot be written otherwise.
pub(crate) fn erase(mut ty: Type) -> Type {
    struct Erase;
    impl VisitMut for Erase {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if matches!(ty, Type::ImplTrait(_)) {
                *ty = parse_quote!(_);
            } else {
                visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    Erase.visit_type_mut(&mut ty);
    ty
}

/// Puts parentheses around `dyn A + B` that came as one `macro_rules` metavariable: the invisible group that held it
/// together does not survive, and `&dyn A + B` means nothing.
pub(crate) fn parenthesize(sig: &mut Signature) {
    struct Parenthesize;
    impl VisitMut for Parenthesize {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            visit_mut::visit_type_mut(self, ty);
            if let Type::Group(group) = ty {
                let inner = &group.elem;
                let sum = match &**inner {
                    Type::TraitObject(object) => object.bounds.len() > 1,
                    Type::ImplTrait(imp) => imp.bounds.len() > 1,
                    _ => false,
                };
                *ty = if sum {
                    parse_quote!((#inner))
                } else {
                    (**inner).clone()
                };
            }
        }
    }
    Parenthesize.visit_signature_mut(sig);
}

/// Returns where to point for what is wrong with the output: the return type, or the name of a fn that has none.
pub(crate) fn output_span(sig: &Signature) -> Span {
    match &sig.output {
        ReturnType::Type(_, ty) => first_span(quote!(#ty)).unwrap_or_else(|| sig.ident.span()),
        ReturnType::Default => sig.ident.span(),
    }
}

/// Makes the compiler show the whole return type for what it has to say about these tokens, as it does in a plain fn. What
/// it says twice then, it says of one place, and leaves the second out.
pub(crate) fn over_output(sig: &Signature, tokens: TokenStream) -> TokenStream {
    let ReturnType::Type(_, ty) = &sig.output else {
        return tokens;
    };
    let output: Vec<TokenTree> = quote!(#ty).into_iter().collect();
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    if let ([from, ..], [.., to]) = (output.as_slice(), output.as_slice()) {
        let path = tokens.len().saturating_sub(2);
        for (index, token) in tokens.iter_mut().enumerate() {
            token.set_span(if index < path { from } else { to }.span());
        }
    }
    tokens.into_iter().collect()
}

fn first_span(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().next().map(|token| token.span())
}

/// Whether values of the type surely have nothing to drop, so that nobody sees when they are dropped.
pub(crate) fn drops_nothing(ty: &Type) -> bool {
    const PLAIN: [&str; 17] = [
        "bool",
        "char",
        "f32",
        "f64",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "PhantomData",
    ];
    match ungrouped(ty) {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => true,
        Type::Array(array) => drops_nothing(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().all(drops_nothing),
        Type::Path(path) => {
            path.path.segments.len() == 1
                && PLAIN
                    .iter()
                    .any(|plain| path.path.segments[0].ident == plain)
        }
        _ => false,
    }
}

/// Whether this is an array of what has neither anything to drop nor a lifetime.
pub(crate) fn is_array_of_numbers(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Array(array) => {
            is_array_of_numbers(&array.elem)
                || matches!(ungrouped(&array.elem), Type::Path(_)) && drops_nothing(&array.elem)
        }
        _ => false,
    }
}

/// Where the library is: at the path that the option `crate` gives, else at `::resilience`.
pub(crate) fn krate(given: Option<&syn::Path>) -> TokenStream {
    let given = given.map(ToTokens::to_token_stream);
    given.unwrap_or_else(|| quote_spanned!(Span::mixed_site()=> ::resilience))
}
