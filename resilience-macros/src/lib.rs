//! The attribute macros of `resilience`; use them through that crate.

mod args;
mod arguments;
mod diagnostic;
mod expand;
mod item;
mod plan;
mod signature;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro::TokenStream;
use quote::quote;

use crate::diagnostic::Diagnostics;
use crate::plan::Plan;

/// DOCS
#[proc_macro_attribute]
pub fn adaptive_limit(args: TokenStream, item: TokenStream) -> TokenStream {
    let plain = proc_macro2::TokenStream::from(item);
    let (given, args) = (plain.clone(), args.into());
    // A panic here is a bug, but one that need not take the user's fn away.
    let expansion = catch_unwind(AssertUnwindSafe(|| {
        let mut diagnostics = Diagnostics::default();
        let plan = Plan::new(args, given, &mut diagnostics);
        match (plan, diagnostics.into_compile_errors()) {
            (Some(plan), None) => Ok(plan.expand()),
            (_, errors) => Err(errors),
        }
    }));
    match expansion {
        Ok(Ok(limited)) => limited,
        Ok(Err(errors)) => quote!(#plain #errors),
        Err(_) => quote! {
            #plain
            ::core::compile_error! { "`#[adaptive_limit]` failed on this fn; please report it as a bug of `resilience`" }
        },
    }
    .into()
}
