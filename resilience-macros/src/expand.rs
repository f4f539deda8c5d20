//! From the plan to tokens.
//!
//! The expansion keeps the fn and replaces its block by one call into `__private`, with one static call site and the body
//! as a closure or an `async` block, so that `?`, `return` and labels leave the body only. Its own names are hygienic, its
//! paths absolute, and the user's tokens keep their spans.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Pat, Signature, Type};

use crate::arguments;
use crate::async_block::AsyncBlock;
use crate::plan::{Home, Plan, Shape};
use crate::signature;

impl Plan {
    /// Writes the limited fn.
    pub(crate) fn expand(mut self) -> TokenStream {
        let block = match &self.shape {
            Shape::Sync => {
                let held = self.hold(arguments::hold_sync);
                self.sync(&held)
            }
            Shape::Async => {
                let held = self.hold(arguments::hold);
                self.asynchronous(&held)
            }
            Shape::Future => self.future(),
            Shape::Boxed(future) => self.boxed(future),
            Shape::Block(block) => self.block(block),
        };
        let outer = &self.function.body.group;
        let inner_attrs = &self.function.body.inner_attrs;
        // With the user's span: `dead_code` says nothing of a fn whose body came from elsewhere.
        let mut braces = Group::new(outer.delimiter(), quote!(#inner_attrs #block));
        braces.set_span(outer.span());
        self.function.body.group = braces;
        self.function.into_token_stream()
    }

    /// Lets the body have its arguments, and returns the statements that do so.
    fn hold(
        &mut self,
        hold: impl FnOnce(&mut Signature, &TokenStream, &TokenStream) -> TokenStream,
    ) -> TokenStream {
        let registry = self.args.registry.to_token_stream();
        let body = self.function.body.group.stream();
        hold(&mut self.function.sig, &body, &registry)
    }

    /// ```text
    /// fn find(id: u32) -> Result<Row, Lost> { body }
    /// ```
    /// becomes
    /// ```text
    /// fn find(id: u32) -> Result<Row, Lost> {
    ///     ::resilience::__private::limit_sync::<Result<Row, Lost>>(resolved, || -> Result<Row, Lost> { body }, |output| …, |error| …)
    /// }
    /// ```
    /// The closure is not `move`, so that the arguments that the body does not consume stay where they are and are
    /// dropped as they were. It is handed over at once: called in place or put in a variable it would be an `FnMut`,
    /// and the body could not return what it borrows from an argument. Its return type is where the compiler points if
    /// the body ends without a value.
    fn sync(&self, held: &TokenStream) -> TokenStream {
        let Self { output, .. } = self;
        let (private, resolved, body) = (self.private(), self.resolved(), self.body());
        let body = if held.is_empty() {
            body.into_token_stream()
        } else {
            // As in an `async` block below: the last expression's temporaries end before what is held.
            quote_spanned!(Span::mixed_site()=> { #held match () { () => #body } })
        };
        let (classify, reject) = (self.classify(), self.reject());
        // A body without a value is all right for `()`, and clippy would have it left out.
        let unit = matches!(output, Type::Tuple(tuple) if tuple.elems.is_empty());
        let returns = (!unit).then(|| quote_spanned!(Span::mixed_site()=> -> #output));
        quote_spanned! {Span::mixed_site()=>
            #private::limit_sync::<#output>(#resolved, || #returns #body, #classify, #reject)
        }
    }

    /// ```text
    /// async fn find(id: u32) -> Result<Row, Lost> { body }
    /// ```
    /// becomes
    /// ```text
    /// async fn find(id: u32) -> Result<Row, Lost> {
    ///     ::resilience::__private::limit_async(
    ///         output::<Result<Row, Lost>>(),
    ///         resolved,
    ///         async move {
    ///             if false {
    ///                 return ::resilience::__private::absent::<Result<Row, Lost>>();
    ///             }
    ///             match () { () => { body } }
    ///         },
    ///         |output| …,
    ///         |error| …,
    ///     )
    ///     .await
    /// }
    /// ```
    /// The `return` that never runs tells the block's type to the `?` in the body. The temporaries of the body's last
    /// expression end before the arguments, as in a plain fn of any edition, since a match arm ends them. (So does a
    /// `let`, but then what comes after a body that never ends is unreachable, and the compiler says so.)
    fn asynchronous(&self, held: &TokenStream) -> TokenStream {
        let Self { output, .. } = self;
        let (private, resolved) = (self.private(), self.resolved());
        let (classify, reject) = (self.classify(), self.reject());
        let body = self.typed(held, &self.body());
        quote_spanned! {Span::mixed_site()=>
            #private::limit_async(
                #private::output::<#output>(),
                #resolved,
                async move #body,
                #classify,
                #reject,
            )
            .await
        }
    }

    /// The braces of an `async` block that knows its output's type.
    fn typed(&self, held: &TokenStream, body: &Group) -> TokenStream {
        let (private, output) = (self.private(), &self.output);
        quote_spanned! {Span::mixed_site()=>
            {
                #held
                if false {
                    return #private::absent::<#output>();
                }
                match () {
                    () => #body
                }
            }
        }
    }

    /// ```text
    /// fn find(id: u32) -> impl Future<Output = Result<Row, Lost>> { body }
    /// ```
    /// becomes
    /// ```text
    /// fn find(id: u32) -> impl Future<Output = Result<Row, Lost>> {
    ///     ::resilience::__private::limit_async(output::<Result<Row, Lost>>(), resolved, made(|| { body }), …)
    /// }
    /// ```
    fn future(&self) -> TokenStream {
        self.made(None)
    }

    fn made(&self, future: Option<&Type>) -> TokenStream {
        let Self { output, .. } = self;
        let (private, resolved, body) = (self.private(), self.resolved(), self.body());
        let (classify, reject) = (self.classify(), self.reject());
        // The compiler points at the calls if the body makes no future, or at the closure's type if it ends without a value.
        let span = self.output_span();
        let turbofish = future.map(|future| quote_spanned!(span=> ::<#future>));
        let returns = future.map(|future| quote_spanned!(span=> -> #future));
        let pointing = |call| match future {
            Some(_) => call,
            None => signature::over_output(&self.function.sig, call),
        };
        let made = pointing(quote_spanned! {span=>
            #private::made #turbofish(|| #returns #body)
        });
        pointing(quote_spanned! {span=>
            #private::limit_async(#private::output::<#output>(), #resolved, #made, #classify, #reject)
        })
    }

    /// As [`future`](Self::future), in a box again. The body's boxes may hold futures of several types.
    fn boxed(&self, future: &Type) -> TokenStream {
        let private = self.private();
        let future = self.made(Some(future));
        quote_spanned!(Span::mixed_site()=> #private::Box::pin(#future))
    }

    /// ```text
    /// fn find(id: u32) -> Pin<Box<dyn Future<Output = Result<Row, Lost>>>> { before Box::pin(async move { body }) }
    /// ```
    /// becomes
    /// ```text
    /// fn find(id: u32) -> Pin<Box<dyn Future<Output = Result<Row, Lost>>>> {
    ///     let resolved = …;
    ///     { before Box::pin(::resilience::__private::limit_async(…, resolved, async move { body }, …)) }
    /// }
    /// ```
    /// If another macro is about to look for the block, it finds one:
    /// ```text
    ///     let resolved = …;
    ///     before
    ///     Box::pin(async move { ::resilience::__private::limit_async(…, resolved, async move { body }, …).await })
    /// ```
    fn block(&self, made: &AsyncBlock) -> TokenStream {
        let Self { output, .. } = self;
        let (private, resolved) = (self.private(), self.resolved());
        let (classify, reject) = (self.classify(), self.reject());
        let AsyncBlock {
            before,
            keywords,
            block,
            ..
        } = made;
        let body = self.typed(&TokenStream::new(), block);
        let mut future = quote_spanned! {Span::mixed_site()=>
            #private::limit_async(
                #private::output::<#output>(),
                adaptive_limit_resolved,
                #keywords #body,
                #classify,
                #reject,
            )
        };
        if made.looked_for {
            future = quote_spanned!(Span::mixed_site()=> async move { #future.await });
        }
        if let Some(span) = made.parentheses {
            let mut parentheses = Group::new(Delimiter::Parenthesis, future);
            parentheses.set_span(span);
            future = parentheses.into_token_stream();
        }
        let making = if made.looked_for && !made.declares_items() {
            quote!(#before #future)
        } else {
            quote_spanned!(Span::mixed_site()=> { #before #future })
        };
        quote_spanned! {Span::mixed_site()=>
            let adaptive_limit_resolved = #resolved;
            #making
        }
    }

    /// `::resilience::__private`.
    fn private(&self) -> TokenStream {
        let krate = signature::krate(self.args.krate.as_ref());
        quote_spanned!(Span::mixed_site()=> #krate::__private)
    }

    /// The body as it came.
    fn body(&self) -> Group {
        self.function.body.group.clone()
    }

    /// ```text
    /// CallSite::resolve({
    ///     static __ADAPTIVE_LIMIT_SITE: CallSite = CallSite::named("orders", file!(), line!(), column!()).max_limit(100);
    ///     announce!(ambient __ADAPTIVE_LIMIT_SITE);
    ///     &__ADAPTIVE_LIMIT_SITE
    /// })
    /// ```
    /// The static has a block of its own, out of the body's sight, and is one for all instances of a generic fn.
    fn resolved(&self) -> TokenStream {
        let (private, args) = (self.private(), &self.args);
        let (constructor, name) = match &args.name {
            Some(name) => (
                quote_spanned!(Span::mixed_site()=> named),
                name.to_token_stream(),
            ),
            // The core knows these names and cuts `::__ADAPTIVE_LIMIT_SITE::here` off the path. The options may name
            // constants, which must not be called the same.
            None => (
                quote_spanned!(Span::mixed_site()=> unnamed),
                quote_spanned!(Span::mixed_site()=> { fn here() {} || ::core::any::type_name_of_val(&here) }),
            ),
        };
        let settings = self.settings();
        let place =
            quote_spanned!(self.place=> ::core::file!(), ::core::line!(), ::core::column!());
        let ambient = matches!(self.home, Home::Attribute) && args.registry.is_none();
        let how = Ident::new(
            if ambient { "ambient" } else { "elsewhere" },
            Span::mixed_site(),
        );
        let site = quote_spanned! {Span::mixed_site()=>
            {
                static __ADAPTIVE_LIMIT_SITE: #private::CallSite = #private::CallSite::#constructor(
                    #name,
                    #place,
                )
                #settings;
                #private::announce!(#how __ADAPTIVE_LIMIT_SITE);
                &__ADAPTIVE_LIMIT_SITE
            }
        };
        if let Home::Delegate(registry) = &self.home {
            return quote_spanned! {Span::mixed_site()=>
                #private::CallSite::resolve_for(#site, ::core::option::Option::as_ref(&#registry))
            };
        }
        match &args.registry {
            None => quote_spanned!(Span::mixed_site()=> #private::CallSite::resolve(#site)),
            // In a statement, so that what the expression makes on the way does not live until the call is over.
            Some(registry) => quote_spanned! {Span::mixed_site()=>
                {
                    let adaptive_limit_resolved = #private::CallSite::resolve_in(#site, &(#registry));
                    adaptive_limit_resolved
                }
            },
        }
    }

    /// The options that are settings, as calls on the site.
    fn settings(&self) -> TokenStream {
        fn set(name: &str, value: Option<&impl ToTokens>) -> Option<TokenStream> {
            let method = Ident::new(name, Span::mixed_site());
            value.map(|value| quote_spanned!(Span::mixed_site()=> .#method(#value)))
        }
        let args = &self.args;
        [
            set("config", args.config.as_ref()),
            set("algorithm", args.algorithm.as_ref()),
            set("initial_limit", args.initial_limit.as_ref()),
            set("min_limit", args.min_limit.as_ref()),
            set("max_limit", args.max_limit.as_ref()),
            set("window_nanos", args.window.as_ref()),
            set("enabled", args.enabled.as_ref()),
            set("max_wait_nanos", args.max_wait.as_ref()),
            set("queue_limit", args.queue_limit.as_ref()),
            set("observe", args.observe.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What the output says about load: `drop_if` first, then `drop_on` or the default.
    fn classify(&self) -> TokenStream {
        let (private, args) = (self.private(), &self.args);
        let span = self.output_span();
        let probed = |method: &str| {
            let method = Ident::new(method, span);
            quote_spanned! {span=>
                {
                    use #private::probe::{ViaDynError as _, ViaError as _, ViaKind as _, ViaNothing as _, ViaOutput as _};
                    (&&&&&#private::probe::Probe(adaptive_limit_output)).#method(adaptive_limit_of)
                }
            }
        };
        let rest = match &args.drop_on {
            Some(patterns) => {
                let matches = if patterns.is_empty() {
                    quote_spanned!(span=> |_| false)
                } else {
                    let any = any(patterns, span);
                    quote_spanned!(span=> |adaptive_limit_error| #any)
                };
                let configured = probed("__adaptive_limit_configured");
                quote_spanned!(span=> #private::drop_on(adaptive_limit_output, #matches, || #configured))
            }
            None if args.drop_if.is_some() => probed("__adaptive_limit_classify_rest"),
            None => probed("__adaptive_limit_classify"),
        };
        let judged = match &args.drop_if {
            Some(path) => {
                quote_spanned!(span=> #private::drop_if(adaptive_limit_output, #path, |adaptive_limit_output| #rest))
            }
            None => rest,
        };
        quote_spanned!(span=> |adaptive_limit_output, adaptive_limit_of| #judged)
    }

    /// What a rejected call returns. Its variables have names that no constant or method of the user's has, here and above: a
    /// lower-case constant in scope would turn them into patterns.
    fn reject(&self) -> TokenStream {
        let (private, output) = (self.private(), &self.output);
        // Bare, so that the compiler points at a path of the wrong type.
        let given = self.args.rejected.as_ref().map(ToTokens::to_token_stream);
        let default = || quote_spanned!(self.output_span()=> |adaptive_limit_error| #private::reject::<#output>(adaptive_limit_error));
        given.unwrap_or_else(default)
    }

    /// Where the compiler is to point for what is wrong with the output.
    fn output_span(&self) -> Span {
        signature::output_span(&self.function.sig).resolved_at(Span::mixed_site())
    }
}

/// ```text
/// (matches!(error, first) || matches!(error, second)) || (matches!(error, third) || …)
/// ```
/// One `matches!` each, since every pattern may have variables of its own. A tree, since a chain is as deep as it is long
/// to the compiler, and one of thousands overflows its stack.
fn any(patterns: &[Pat], span: Span) -> TokenStream {
    match patterns {
        [] => quote_spanned!(span=> false),
        [pattern] => quote_spanned!(span=> ::core::matches!(adaptive_limit_error, #pattern)),
        _ => {
            let (left, right) = patterns.split_at(patterns.len() / 2);
            let [left, right] = [left, right].map(|half| {
                let any = any(half, span);
                if half.len() == 1 {
                    any
                } else {
                    quote_spanned!(span=> (#any))
                }
            });
            quote_spanned!(span=> #left || #right)
        }
    }
}
