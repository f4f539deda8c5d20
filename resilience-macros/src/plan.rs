//! What will be emitted. All that can be wrong has been found when there is a plan; nothing fails behind it.

use proc_macro2::{Span, TokenStream};
use syn::{Type, parse_quote};

use crate::args::Args;
use crate::async_block::AsyncBlock;
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
    /// The body makes the future by a literal `async` block, which is the call: in a box, as `async_trait` writes it, so
    /// that one allocation remains one, or where another attribute looks for it.
    Block(AsyncBlock),
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
            Output::Future(ty) => match AsyncBlock::bare(&function) {
                Some(block) => (Shape::Block(block), ty),
                None => (Shape::Future, ty),
            },
            Output::Boxed(future) => {
                let output = parse_quote!(<#future as ::core::future::Future>::Output);
                match AsyncBlock::boxed(&function) {
                    Some(block) => (Shape::Block(block), output),
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
