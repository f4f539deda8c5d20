//! The arguments of an `async fn`: moved into the inner block, and dropped in the order of the plain fn. Those of a sync fn
//! stay where they are, but for a few.
//!
//! The body of a plain `async fn` owns its arguments and drops them in reverse order when it ends. The body of a limited
//! one is a block inside the `async fn`, which owns what it captures. Three things can go wrong there, and this module
//! sees to them at no cost where none of them can:
//!
//! - Captured variables are dropped in the order in which the block first names them. So it names them in reverse.
//! - A captured variable keeps its lifetimes, so a `mut` argument could not be set to a reference into the body. So it
//!   is bound anew inside, and because that one is dropped before all captured ones, those behind it are bound anew too.
//! - An argument that the body does not name stays outside and is dropped after the others. If others stand before it, it
//!   is named for the body, or bound anew where the compiler is to say that it is unused.
//!
//! Binding anew stores an argument once more in the future, which is why it is not done to all of them.

use std::mem;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FnArg, Ident, Pat, PatIdent, ReceiverKind, Signature, Token, Type};

use crate::lints::{Place, placed};
use crate::signature::{drops_nothing, is_array_of_numbers};
use crate::tokens::mentions;

/// Goes through the arguments, from first to last.
struct Arguments<'a> {
    body: &'a TokenStream,
    registry: &'a TokenStream,
    /// Moved into the block by being named there, in order.
    captured: Vec<TokenStream>,
    /// Statements that bind arguments anew.
    rebound: Vec<TokenStream>,
    /// What the next of them binds.
    binding: Rebinding,
    /// Whether an argument that may have something to drop was bound anew.
    rebinding: bool,
}

/// Changes the signature where need be, and returns the statements that go before the body.
pub(crate) fn hold(sig: &mut Signature, body: &TokenStream, registry: &TokenStream) -> TokenStream {
    let mut arguments = Arguments {
        body,
        registry,
        captured: Vec::new(),
        rebound: Vec::new(),
        binding: Rebinding::default(),
        rebinding: false,
    };
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                let owned = match &receiver.kind {
                    ReceiverKind::Value => true,
                    ReceiverKind::Typed(_, ty) => !drops_nothing(ty),
                    _ => false,
                };
                if owned && mentions(body, "self") {
                    let token = receiver.self_token;
                    arguments.capture(&kept(&receiver.attrs), &token.to_token_stream());
                }
            }
            FnArg::Typed(typed) => {
                let attrs = kept(&typed.attrs);
                arguments.typed(&attrs, index, &mut typed.pat, &typed.ty);
                let binding = mem::take(&mut arguments.binding);
                arguments
                    .rebound
                    .extend(binding.statement(&attrs, &mut typed.attrs));
            }
        }
    }
    let Arguments {
        mut captured,
        rebound,
        ..
    } = arguments;
    if captured.len() < 2 {
        // There is no order among one.
        captured.clear();
    }
    captured.into_iter().rev().chain(rebound).collect()
}

/// Binds the `mut` arguments of a sync fn anew that a closure can take without anybody noticing, and returns the statements.
///
/// Of a variable outside of the closure the compiler does not say that what is assigned to it is never read. Those that
/// may have something to drop stay outside, where they are dropped in their turn.
pub(crate) fn hold_sync(
    sig: &mut Signature,
    body: &TokenStream,
    registry: &TokenStream,
) -> TokenStream {
    let mut held = TokenStream::new();
    for input in &mut sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let cheap = drops_nothing(&typed.ty) && !is_array_of_numbers(&typed.ty);
        if let Pat::Ident(binding) = &mut *typed.pat
            && binding.by_ref.is_none()
            && binding.subpat.is_none()
            && cheap
        {
            let name = binding.ident.to_string();
            if mentions(body, &name)
                && !mentions(registry, &name)
                && let Some(mutability) = binding.mutability.take()
            {
                let mut anew = Rebinding::default();
                anew.add(Some(mutability), &binding.ident, &binding.ident);
                held.extend(anew.statement(&kept(&typed.attrs), &mut typed.attrs));
            }
        }
    }
    held
}

/// The variables of one argument that are bound anew. By one statement, since its attributes hold for all of them.
#[derive(Default)]
struct Rebinding {
    inner: Vec<TokenStream>,
    outer: Vec<Ident>,
}

impl Rebinding {
    fn add(&mut self, mutability: Option<Token![mut]>, inner: &Ident, outer: &Ident) {
        self.inner.push(quote!(#mutability #inner));
        self.outer.push(outer.clone());
    }

    /// Returns the statement, if there is anything to bind. `kept` of the argument's attributes hold for it too, which
    /// changes what they are on the argument.
    fn statement(self, kept: &[Attribute], attrs: &mut Vec<Attribute>) -> Option<TokenStream> {
        let Self { inner, outer } = self;
        if inner.is_empty() {
            return None;
        }
        let lints = placed(kept, Place::Variable);
        *attrs = placed(attrs, Place::Argument);
        Some(match (inner.as_slice(), outer.as_slice()) {
            ([inner], [outer]) => {
                quote_spanned!(Span::mixed_site()=> #(#lints)* let #inner = #outer;)
            }
            _ => {
                quote_spanned!(Span::mixed_site()=> #(#lints)* let (#(#inner),*) = (#(#outer),*);)
            }
        })
    }
}

/// The attributes that hold for what stands in for an argument too: whether it is there, and which lints are quiet about
/// it. Another macro may be about to read the others, and where it looks for them they are.
fn kept(attrs: &[Attribute]) -> Vec<Attribute> {
    const KEPT: [&str; 6] = ["cfg", "cfg_attr", "allow", "expect", "warn", "deny"];
    attrs
        .iter()
        .filter(|attr| KEPT.iter().any(|kept| attr.path().is_ident(kept)))
        .cloned()
        .collect()
}

impl Arguments<'_> {
    fn typed(&mut self, attrs: &[Attribute], index: usize, pat: &mut Box<Pat>, ty: &Type) {
        let plain = drops_nothing(ty);
        match &mut **pat {
            Pat::Wild(_) => {
                if !plain && self.holds_any() {
                    let hidden = format_ident!("_arg{index}", span = Span::mixed_site());
                    **pat = Pat::Ident(PatIdent {
                        attrs: Vec::new(),
                        by_ref: None,
                        mutability: None,
                        ident: hidden.clone(),
                        subpat: None,
                    });
                    if self.rebinding {
                        self.rebind(None, &hidden, &hidden, false);
                    } else {
                        self.capture(attrs, &hidden.to_token_stream());
                    }
                }
            }
            Pat::Ident(binding) if binding.by_ref.is_none() && binding.subpat.is_none() => {
                // An array of numbers may be large, and has no lifetimes that would have to change.
                if !is_array_of_numbers(ty) {
                    self.binding(attrs, binding, plain, true);
                }
            }
            _ => {
                let mut bindings = Bindings {
                    arguments: self,
                    attrs,
                };
                bindings.visit_pat_mut(pat);
            }
        }
    }

    fn holds_any(&self) -> bool {
        self.rebinding || !self.captured.is_empty()
    }

    /// `attrs` are the argument's: what it may not be there for, and which lints are to be quiet about it.
    /// `whole` if the binding is all of the argument's pattern, so that nobody sees it under another name.
    fn binding(&mut self, attrs: &[Attribute], binding: &mut PatIdent, plain: bool, whole: bool) {
        let ident = binding.ident.clone();
        let name = ident.to_string();
        if mentions(self.body, &name) {
            if binding.mutability.is_some() || (self.rebinding && !plain) {
                let mutability = binding.mutability.take();
                self.rebind(mutability, &ident, &ident, plain);
            } else if !plain {
                self.capture(attrs, &ident.to_token_stream());
            }
        } else if whole && !plain && self.holds_any() && !mentions(self.registry, &name) {
            // Of the same name for whoever reads the signature, but no use of the user's variable. That is left unused, for
            // the compiler to warn about, unless its name says that it is meant to be: then it is not there at all.
            binding
                .ident
                .set_span(Span::mixed_site().located_at(ident.span()));
            let outer = binding.ident.clone();
            if name.starts_with('_') && binding.mutability.is_none() && !self.rebinding {
                self.capture(attrs, &outer.to_token_stream());
                return;
            }
            let inner = if name.starts_with('_') {
                outer.clone()
            } else {
                ident
            };
            let mutability = binding.mutability.take();
            self.rebind(mutability, &inner, &outer, plain);
        }
    }

    fn capture(&mut self, attrs: &[Attribute], variable: &TokenStream) {
        let attrs = placed(attrs, Place::Mention);
        self.captured
            .push(quote_spanned!(Span::mixed_site()=> #(#attrs)* let _ = &#variable;));
    }

    fn rebind(
        &mut self,
        mutability: Option<Token![mut]>,
        inner: &Ident,
        outer: &Ident,
        plain: bool,
    ) {
        self.rebinding |= !plain;
        self.binding.add(mutability, inner, outer);
    }
}

/// Holds each binding of a pattern. What the pattern leaves in the argument stays outside.
struct Bindings<'a, 'b> {
    arguments: &'a mut Arguments<'b>,
    attrs: &'a [Attribute],
}

impl VisitMut for Bindings<'_, '_> {
    fn visit_pat_ident_mut(&mut self, binding: &mut PatIdent) {
        // An identifier may be a constant or a unit struct as well; variables are lower case by a lint of the compiler.
        let variable = binding
            .ident
            .to_string()
            .starts_with(|c: char| c.is_lowercase() || c == '_');
        if binding.by_ref.is_none() && variable {
            self.arguments.binding(self.attrs, binding, false, false);
        }
        visit_mut::visit_pat_ident_mut(self, binding);
    }
}
