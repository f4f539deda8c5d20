//! What will be emitted. All that can be wrong has been found when there is a plan; nothing fails behind it.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::{Type, parse_quote};

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::item::Function;
use crate::signature::{self, Output};

/// A fn, its options and the way to limit it.
pub(crate) struct Plan {
    pub(crate) args: Args,
    pub(crate) function: Function,
    pub(crate) shape: Shape,
    /// The type of the call's output, with `_` for `impl Trait`.
    pub(crate) output: Type,
    pub(crate) home: Home,
    /// The span of the site's `line!()`, which says where its attribute is: the compiler takes the line of the outermost
    /// macro call around it.
    pub(crate) place: Span,
}

/// Where the limit lives.
pub(crate) enum Home {
    /// In the option `registry`, or else in the registry that is in force.
    Attribute,
    /// In this `Option<Registry>`, or else in the registry that is in force.
    Delegate(TokenStream),
}

/// Where the call is in the fn.
pub(crate) enum Shape {
    /// The body is the call.
    Sync,
    /// The `async` body is the call.
    Async,
    /// The future that the body makes is the call.
    Future,
    /// The boxed future of this type that the body makes is the call.
    Boxed(Type),
    /// The body makes the future by a literal `Box::pin(async …)`, as `async_trait` writes it: the call is that block,
    /// so that one allocation remains one.
    BoxedBlock(BoxedBlock),
}

/// A body of the form `before Box::pin(block)`.
pub(crate) struct BoxedBlock {
    /// The statements before, and the path of `pin`.
    pub(crate) before: TokenStream,
    /// The parentheses around the block.
    pub(crate) block: Group,
}

impl Plan {
    /// Reads attribute and item. There is a plan if nothing was found wrong.
    pub(crate) fn new(
        args: TokenStream,
        item: TokenStream,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let args = Args::parse(args, diagnostics);
        match syn::parse2::<Function>(item) {
            Ok(function) => {
                let place = Span::mixed_site();
                Some(Self::of(args, function, Home::Attribute, place))
            }
            Err(error) => {
                diagnostics.push(error);
                None
            }
        }
    }

    /// Plans for a fn that was read and checked before.
    pub(crate) fn of(args: Args, mut function: Function, home: Home, place: Span) -> Self {
        signature::parenthesize(&mut function.sig);
        let (shape, output) = match Output::of(&function.sig) {
            Output::Direct(ty) if function.sig.asyncness.is_some() => (Shape::Async, ty),
            Output::Direct(ty) => (Shape::Sync, ty),
            Output::Future(ty) => (Shape::Future, ty),
            Output::Boxed(future) => {
                let output = parse_quote!(<#future as ::core::future::Future>::Output);
                match boxed_block(&function.body.group) {
                    Some(block) => (Shape::BoxedBlock(block), output),
                    None => (Shape::Boxed(future), output),
                }
            }
        };
        Self {
            args,
            function,
            shape,
            output: signature::erase(output),
            home,
            place,
        }
    }
}

/// Looks for `Box::pin(async …)` at the body's end.
fn boxed_block(body: &Group) -> Option<BoxedBlock> {
    let mut before: Vec<TokenTree> = body.stream().into_iter().collect();
    let TokenTree::Group(block) = before.pop()? else {
        return None;
    };
    if block.delimiter() != Delimiter::Parenthesis || !is_async_block(&block) {
        return None;
    }
    let mut rest = before.as_slice();
    for segment in ["pin", "Box"] {
        let [start @ .., TokenTree::Ident(ident)] = rest else {
            return None;
        };
        if ident != segment {
            return None;
        }
        rest = without_colons(start).unwrap_or(start);
    }
    // The rest of `::std::boxed::Box`.
    while let [start @ .., TokenTree::Ident(ident)] = rest {
        if ident == "return" {
            return None;
        }
        rest = without_colons(start).unwrap_or(start);
    }
    // What ends in neither is part of the expression; a `return` or a macro before it may be a second way out.
    let statements = match rest {
        [] => true,
        [.., TokenTree::Punct(punct)] => punct.as_char() == ';',
        [.., TokenTree::Group(group)] => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    if !statements || has_way_out(rest.iter().cloned()) {
        return None;
    }
    Some(BoxedBlock {
        before: before.into_iter().collect(),
        block,
    })
}

fn without_colons(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    match tokens {
        [
            start @ ..,
            TokenTree::Punct(first),
            TokenTree::Punct(second),
        ] if first.as_char() == ':' && second.as_char() == ':' => Some(start),
        _ => None,
    }
}

fn is_async_block(parentheses: &Group) -> bool {
    let tokens: Vec<TokenTree> = parentheses.stream().into_iter().take(4).collect();
    let is =
        |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident == word);
    let (first, last) = match tokens.as_slice() {
        [first, last] => (first, last),
        [first, second, last] if is(second, "move") => (first, last),
        _ => return false,
    };
    is(first, "async")
        && matches!(last, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn has_way_out(tokens: impl IntoIterator<Item = TokenTree>) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "return",
        TokenTree::Punct(punct) => matches!(punct.as_char(), '!' | '?'),
        TokenTree::Group(group) => has_way_out(group.stream()),
        TokenTree::Literal(_) => false,
    })
}
