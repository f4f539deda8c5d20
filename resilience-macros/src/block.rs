//! An `impl` block under the attribute: each of its methods gets the attribute, and all else stays as it came.
//!
//! The methods are not limited here but by an attribute of their own. So what is around the block finds them as it finds
//! those with an attribute that the user wrote: `async_trait`, above or below, makes its futures first, and the call is in
//! their box.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Path;

use crate::diagnostic::{Code, Diagnostics};
use crate::item::Function;
use crate::members::{Attr, Braced, Member, What, path_and_group};
use crate::tokens::is_word;

/// An `impl` block with its braces' content taken apart.
pub(crate) struct Block(Braced);

impl Block {
    /// Takes the item apart if it is an `impl` block.
    pub(crate) fn read(item: &TokenStream) -> Option<Self> {
        Braced::read(item, &["unsafe"], "impl").map(Self)
    }

    /// Finds what the methods' attributes say, and which methods cannot be limited.
    pub(crate) fn check(&mut self, diagnostics: &mut Diagnostics) {
        let Self(item) = self;
        for member in &mut item.members {
            member.listen(diagnostics);
            check(member, diagnostics);
        }
        if item.members.iter().all(|member| method(member).is_none()) {
            let keyword = item.header.iter().find(|token| is_word(token, &["impl"]));
            let message = "this block has no method with a body to limit; put `#[adaptive_limit]` on a block with methods that make calls";
            diagnostics.report(Code::NotLimitable, keyword, message);
        }
    }

    /// ```text
    /// impl Store {
    ///     fn get(&self) -> Result<Row, Lost> { body }
    ///     #[adaptive_limit(skip)]
    ///     fn len(&self) -> usize { body }
    /// }
    /// ```
    /// becomes
    /// ```text
    /// impl Store {
    ///     #[::resilience::adaptive_limit(args)]
    ///     fn get(&self) -> Result<Row, Lost> { body }
    ///     fn len(&self) -> usize { body }
    /// }
    /// ```
    pub(crate) fn expand(&self, args: &TokenStream, krate: Option<&Path>) -> TokenStream {
        self.0.with(|member| {
            let mut attributes = attribute(member, args, krate).unwrap_or_default();
            attributes.extend(kept(member));
            attributes
        })
    }

    /// Writes the block as it came, without the attributes that mean something in a limited block only.
    pub(crate) fn unlimited(&self) -> TokenStream {
        self.0.with(kept)
    }
}

/// The member's attributes without `skip`.
fn kept(member: &Member) -> TokenStream {
    let kept = |attr: &Attr| match &attr.said {
        Some(said) if matches!(said.what, What::Skip) => attr.remaining(),
        _ => attr.whole(),
    };
    member.attrs.iter().map(kept).collect()
}

/// The member's name, if it is a method with a body.
fn method(member: &Member) -> Option<&Ident> {
    member.name.as_ref().filter(|_| member.has_body)
}

fn check(member: &Member, diagnostics: &mut Diagnostics) {
    let own = member.says();
    for (attr, said) in &own {
        if !matches!(said.what, What::Skip) {
            continue;
        }
        if method(member).is_none() {
            let message = "`skip` leaves a method with a body out, and this is none";
            diagnostics.report(Code::NotLimitable, attr.whole(), message);
        } else if own.len() > 1 {
            let message = "`skip` leaves the method out; leave the method's other `#[adaptive_limit]` out, or this one";
            diagnostics.report(Code::WrongValue, attr.whole(), message);
        }
    }
    // What is there under a condition only, its attribute will check once it is known to be there.
    let conditional = member.attrs.iter().any(is_conditional);
    if method(member).is_some() && own.is_empty() && !conditional {
        let function = member.rest.iter().cloned().collect();
        if let Err(error) = syn::parse2::<Function>(function) {
            diagnostics.push(error);
        }
    }
}

fn is_conditional(attr: &Attr) -> bool {
    let (path, _) = path_and_group(&attr.content());
    matches!(path.as_slice(), [name] if name == "cfg" || name == "cfg_attr")
}

/// The block's attribute for this method, unless one of its own stands in its place.
fn attribute(member: &Member, args: &TokenStream, krate: Option<&Path>) -> Option<TokenStream> {
    // The user's span: errors and the limit's place point at the method.
    let at = method(member)?.span();
    let mut predicates = Vec::new();
    for (_, said) in member.says() {
        predicates.push(said.under.as_ref()?);
    }
    let krate = krate.map_or_else(
        || quote_spanned!(at=> ::resilience),
        ToTokens::to_token_stream,
    );
    let attribute = if args.is_empty() {
        quote_spanned!(at=> #krate::adaptive_limit)
    } else {
        quote_spanned!(at=> #krate::adaptive_limit(#args))
    };
    Some(if predicates.is_empty() {
        quote_spanned!(at=> #[#attribute])
    } else {
        quote_spanned!(at=> #[cfg_attr(not(any(#(#predicates),*)), #attribute)])
    })
}
