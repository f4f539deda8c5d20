//! The fn under the attribute: its signature parsed, its body left as it came.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, ReturnType, Signature, Token, Type, Visibility, token};

use crate::diagnostic::{Code, error};
use crate::tokens::is_punct;

/// A fn with a body.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

/// A fn's body.
///
/// The braces' content is never parsed and put together again, since that loses the invisible groups around
/// `macro_rules` metavariables: `$e * 2` with `1 + 1` for `$e` would become 3
/// (<https://github.com/rust-lang/rust/issues/67062>). So half-typed bodies expand too.
#[derive(Clone)]
pub(crate) struct Body {
    /// `#![…]` at the body's start, which only the body of the fn itself may have.
    pub(crate) inner_attrs: TokenStream,
    /// The braces and what they hold.
    pub(crate) group: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        refuse_other_items(input)?;
        let sig: Signature = input.parse()?;
        refuse_signature(&sig)?;
        if input.peek(Token![;]) {
            let message = format!(
                "`{}` has no body to limit; put the attribute on the fn or method that makes the call, or `#[resilient]` on the trait",
                sig.ident
            );
            return Err(error(
                Code::NotLimitable,
                input.parse::<Token![;]>()?,
                message,
            ));
        }
        if !input.peek(token::Brace) {
            return Err(input.error("a fn's body is wanted here"));
        }
        let body = Body::new(braces(input.parse()?)?);
        Ok(Self {
            attrs,
            vis,
            sig,
            body,
        })
    }
}

impl Body {
    fn new(group: Group) -> Self {
        let mut rest = group.stream().into_iter().peekable();
        let mut inner_attrs = TokenStream::new();
        loop {
            let mut ahead = rest.clone();
            let (Some(pound), Some(bang), Some(TokenTree::Group(attr))) =
                (ahead.next(), ahead.next(), ahead.next())
            else {
                break;
            };
            if !is_punct(&pound, '#')
                || !is_punct(&bang, '!')
                || attr.delimiter() != Delimiter::Bracket
            {
                break;
            }
            inner_attrs.extend([pound, bang, TokenTree::Group(attr)]);
            rest = ahead;
        }
        let groups = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::None);
        if inner_attrs.is_empty() {
            return Self { inner_attrs, group };
        }
        let without: Vec<TokenTree> = rest.collect();
        let content = if without.iter().any(groups) {
            // Put together again it would lose these groups. A block may have inner attributes where a statement stands.
            TokenStream::from(TokenTree::Group(group.clone()))
        } else {
            without.into_iter().collect()
        };
        let mut without = Group::new(Delimiter::Brace, content);
        without.set_span(group.span());
        Self {
            inner_attrs,
            group: without,
        }
    }
}

/// Takes the invisible group of `$body:block` off the braces.
fn braces(token: TokenTree) -> syn::Result<Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(group),
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut tokens = group.stream().into_iter();
            match (tokens.next(), tokens.next()) {
                (Some(inner), None) => braces(inner),
                _ => Err(syn::Error::new_spanned(group, "a fn's body is wanted here")),
            }
        }
        other => Err(syn::Error::new_spanned(other, "a fn's body is wanted here")),
    }
}

/// Refuses what is no fn at the keyword that says so.
fn refuse_other_items(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    // `unsafe impl`, `const NAME`, `extern "C" {` and the like: the keyword that counts stands behind the qualifiers.
    while is_qualifier(&ahead) {
        let qualifier = ahead.parse::<TokenTree>()?;
        if ahead.peek(syn::LitStr) {
            ahead.parse::<syn::LitStr>()?;
        }
        if ahead.peek(token::Brace) {
            return Err(refused(&qualifier, "a block of foreign items"));
        }
        if qualifier.to_string() == "const" && !ahead.peek(Token![fn]) && !is_qualifier(&ahead) {
            return Err(refused(&qualifier, "a constant"));
        }
    }
    if ahead.peek(Token![fn]) || !ahead.peek(Ident::peek_any) {
        return Ok(());
    }
    let keyword: TokenTree = ahead.parse()?;
    let what = match keyword.to_string().as_str() {
        "safe" if ahead.peek(Token![fn]) => return Ok(()),
        other => kind(other),
    };
    Err(refused(&keyword, what))
}

/// What the item of this keyword is called.
pub(crate) fn kind(keyword: &str) -> &'static str {
    match keyword {
        "struct" => "a struct",
        "enum" => "an enum",
        "union" => "a union",
        "trait" => "a trait",
        "mod" => "a module",
        "type" => "a type",
        "static" => "a static",
        "use" => "an import",
        "let" => "a statement",
        _ => "this",
    }
}

fn is_qualifier(input: ParseStream<'_>) -> bool {
    input.peek(Token![const])
        || input.peek(Token![async])
        || input.peek(Token![unsafe])
        || input.peek(Token![extern])
}

fn refused(keyword: &TokenTree, what: &str) -> syn::Error {
    let message = if what == "a trait" {
        "a trait as a whole cannot be limited; put `#[adaptive_limit]` on its methods with a body, or on `impl` blocks, or have `#[resilient]` make a delegate of it".to_owned()
    } else {
        format!(
            "{what} cannot be limited; `#[adaptive_limit]` goes on a fn or method with a body, or on an `impl` block"
        )
    };
    error(Code::NotLimitable, keyword, message)
}

/// Refuses a fn whose calls cannot be limited.
pub(crate) fn refuse_signature(sig: &Signature) -> syn::Result<()> {
    if let Some(constness) = sig.constness {
        let message = "a const fn cannot be limited; what runs at compile time calls nobody";
        return Err(error(Code::NotLimitable, constness, message));
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && matches!(**ty, Type::Never(_))
    {
        let message =
            "a fn that never returns cannot be limited; its call would hold a slot for ever";
        return Err(error(Code::NotLimitable, ty, message));
    }
    Ok(())
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attrs,
            vis,
            sig,
            body,
        } = self;
        let group = &body.group;
        tokens.extend(quote!(#(#attrs)* #vis #sig #group));
    }
}
