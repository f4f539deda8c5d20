//! The attribute macros of `resilience`; use them through that crate.

// Tells where tokens stand, which `proc_macro2` does not.
extern crate proc_macro;

mod args;
mod arguments;
mod async_block;
mod block;
mod delegate;
mod diagnostic;
mod expand;
mod item;
mod lints;
mod members;
#[cfg(test)]
mod mistakes;
mod plan;
mod signature;
#[cfg(test)]
mod snapshots;
mod tokens;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::TokenStream;
use quote::quote;

use crate::args::Args;
use crate::block::Block;
use crate::diagnostic::Diagnostics;
use crate::plan::Plan;

/// Limits the calls in flight of a fn, or of each method of an `impl` block, at a limit that it finds by itself.
///
/// A call takes a slot before the body runs and gives it back when the body ends, by whatever way: return, `?`, panic or a
/// dropped future. A call that finds no slot is rejected at once, or waits for one if `max_wait`
/// says so, and its body does not run without. How many slots there are follows
/// from the calls' latency and from what they say about overload.
///
/// Put it on the fn that makes the call to a dependency: sync or `async`, free or a method, of a trait or not, generic or
/// not. Taking it off changes nothing but the limiting.
///
/// # Examples
///
/// ```
/// use resilience::adaptive_limit;
///
/// #[derive(Debug)]
/// enum SearchError {
///     Limited(resilience::Error),
///     Status(u16),
/// }
///
/// impl From<resilience::Error> for SearchError {
///     fn from(error: resilience::Error) -> Self {
///         Self::Limited(error)
///     }
/// }
///
/// #[adaptive_limit(name = "search", max_limit = 100, drop_on = [SearchError::Status(429 | 503)])]
/// fn search(query: &str) -> Result<usize, SearchError> {
///     if query.is_empty() {
///         return Err(SearchError::Status(400));
///     }
///     Ok(query.len())
/// }
///
/// assert_eq!(search("rust").unwrap(), 4);
///
/// let limit = resilience::registry::Registry::global().adaptive_limit("search").unwrap();
/// assert_eq!(limit.snapshot().counters.succeeded, 1);
/// ```
///
/// The slot of an `async fn` is taken when it is first polled and free when it is ready:
///
/// ```
/// # use resilience::adaptive_limit;
/// #[adaptive_limit(name = "orders", initial_limit = 10, window = "500ms")]
/// async fn order(id: u64) -> Result<String, resilience::Error> {
///     Ok(format!("order {id}"))
/// }
/// # drop(order(1));
/// ```
///
/// # Arguments
///
/// All are optional, in any order.
///
/// | Argument | Value | What it does |
/// |---|---|---|
/// | `name` | string, or a `&'static str` constant | The limit's id. All fns that give the same name share one limit, and must give the same settings. Without it the fn has a limit of its own, whose id is the fn's path; a generic fn has one for all its instances. |
/// | `config` | as `name` | Puts a named configuration of the registry under these settings. |
/// | `algorithm` | `"gradient2"`, `"aimd"`, `"vegas"` or `"knee"` | How the limit is found. Case, `-` and `_` make no difference. One of your own is chosen in configuration. |
/// | `initial_limit` | calls, 1 to 1,000,000 | The limit before anything has been measured. Without it 20, or the bound nearest to 20. |
/// | `min_limit`, `max_limit` | calls, 1 to 1,000,000 | What the limit never leaves. As `initial_limit`, an integer or a `u32` constant. |
/// | `window` | duration, `"1ms"` to `"1h"` | The least time between two changes of the limit: a number, which may have decimal places, and `ns`, `us`, `ms`, `s`, `m` or `h`. |
/// | `enabled` | `true` or `false` | Whether calls are limited and measured at all. |
/// | `max_wait` | duration, `"1ms"` to `"1h"` | How long a call that finds no slot waits for one, first in first out: an `async` call as a future, any other by blocking its thread. Without it no call waits. |
/// | `queue_limit` | calls, 1 to 1,000,000 | How many calls wait at most; one more is rejected at once. Without it 100. As `initial_limit`, an integer or a `u32` constant. |
/// | `mode` | `"enforce"` or `"observe"` | Whether calls that are too many are rejected, or let pass and counted. Without it they are rejected. |
/// | `drop_on` | `[pattern, ..]` | The errors that mean overload: patterns, matched on a reference to the error. |
/// | `drop_if` | path of a `fn(&Output) -> bool` | Whether an output means overload. Asked before `drop_on` or the default. |
/// | `rejected` | path of a `fn(Error) -> Output` | What a rejected call returns. |
/// | `registry` | expression, a `Registry` | Where the limit lives, in place of the process-wide registry. May name the fn's arguments: `registry = self.registry`. |
/// | `crate` | path | Where this library is, if not at `::resilience`. |
///
/// Literals are checked at compile time, all at once; constants one by one.
///
/// A limit has more settings than these. The others tune how it is found, and only operation shows what they should be. So
/// they are set where settings can be read at start: in a `LimitConfig`, given to the registry's builder as its defaults or
/// as a config that `config` names.
///
/// A name that several fns share is best a constant, which cannot be misspelt:
///
/// ```
/// # use resilience::adaptive_limit;
/// const DATABASE: &str = "database";
///
/// #[adaptive_limit(name = DATABASE)]
/// fn read(id: u64) -> Result<String, resilience::Error> {
///     Ok(format!("row {id}"))
/// }
///
/// #[adaptive_limit(name = DATABASE)]
/// fn write(id: u64) -> Result<(), resilience::Error> {
///     Ok(())
/// }
/// # read(1).and_then(|_| write(1)).unwrap();
/// # let limit = resilience::registry::Registry::global().adaptive_limit("database").unwrap();
/// # assert_eq!(limit.snapshot().counters.succeeded, 2);
/// ```
///
/// # Rejected calls
///
/// A fn that returns a `Result` needs an error type that implements `From<resilience::Error>`, as `Box<dyn Error>`,
/// `anyhow::Error`, `eyre::Report` and `std::io::Error` do. Any other output is made by `rejected`. That is also called if
/// the limit's settings are wrong, which nobody sees unless it says so: then every call is rejected.
///
/// ```
/// # use resilience::adaptive_limit;
/// #[adaptive_limit(rejected = from_cache)]
/// fn price(article: u32) -> Option<u32> {
///     Some(article * 100)
/// }
///
/// fn from_cache(error: resilience::Error) -> Option<u32> {
///     if error.is_settings() {
///         eprintln!("{error}");
///     }
///     None
/// }
/// # assert_eq!(price(1), Some(100));
/// ```
///
/// # What is overload
///
/// An output that is no `Result`, and an `Ok`, is a success: its latency is a sample. An `Err` that means overload asks for a
/// lower limit; any other `Err` is no sample. Unless `drop_on` says otherwise, an `Err` means overload if the error or
/// anything in its source chain is a time-out or a full bulkhead of this library or `tokio`'s `Elapsed`.
///
/// `drop_on` replaces that default and adds nothing to it. So its patterns list time-outs too, if they mean overload:
///
/// ```
/// # use resilience::adaptive_limit;
/// # #[derive(Debug)]
/// enum SearchError {
///     Limited(resilience::Error),
///     Status(u16),
///     TimedOut(tokio::time::error::Elapsed),
/// }
/// # impl From<resilience::Error> for SearchError {
/// #     fn from(error: resilience::Error) -> Self {
/// #         Self::Limited(error)
/// #     }
/// # }
///
/// #[adaptive_limit(drop_on = [SearchError::Status(429 | 503), SearchError::TimedOut(_)])]
/// fn search(query: &str) -> Result<usize, SearchError> {
///     Ok(query.len())
/// }
/// # search("rust").unwrap();
/// ```
///
/// The patterns take no `if`: write a range, such as `SearchError::Status(500..)`, or use `drop_if`.
///
/// `drop_on = []` says that no error means overload. `drop_if` is for overload that is told in a success:
///
/// ```
/// # use resilience::adaptive_limit;
/// struct Response {
///     status: u16,
/// }
///
/// fn is_overload(output: &Result<Response, resilience::Error>) -> bool {
///     matches!(output, Ok(Response { status: 429 | 503 }))
/// }
///
/// #[adaptive_limit(name = "partner", drop_if = is_overload)]
/// fn ask() -> Result<Response, resilience::Error> {
///     Ok(Response { status: 503 })
/// }
/// # assert_eq!(ask().unwrap().status, 503);
/// # let limit = resilience::registry::Registry::global().adaptive_limit("partner").unwrap();
/// # assert_eq!(limit.snapshot().counters.dropped, 1);
/// ```
///
/// # Time-outs
///
/// A time-out belongs inside of the fn. Around the call, `tokio::time::timeout` drops the future: the call counts as
/// cancelled, and the limit does not learn that the dependency was slow. Inside, the call ends with an error, and that is
/// overload:
///
/// ```
/// # use resilience::adaptive_limit;
/// # use std::time::Duration;
/// # async fn fetch(id: u64) -> std::io::Result<String> {
/// #     Ok(format!("order {id}"))
/// # }
/// #[adaptive_limit(name = "fetches")]
/// async fn order(id: u64) -> Result<String, Box<dyn std::error::Error>> {
///     let order = tokio::time::timeout(Duration::from_secs(2), fetch(id)).await??;
///     Ok(order)
/// }
/// # drop(order(1));
/// ```
///
/// # Fns that return a future
///
/// Of a fn that returns `impl Future<Output = ..>`, `Pin<Box<dyn Future<Output = ..>>>`, `BoxFuture` or `LocalBoxFuture`
/// the future is limited; what the fn does to make it is not. Under another name a boxed future is an output like any
/// other, which needs `rejected`, and only its making is limited.
///
/// # On an `impl` block
///
/// On an `impl` block, of a trait or not, the attribute holds for every method with a body, with all its options: by `name`
/// they share one limit, without it each has its own. A method's own attribute takes the place of the block's and adds
/// nothing to it. `#[adaptive_limit(skip)]` leaves a method out, such as one that makes no call:
///
/// ```
/// # use resilience::adaptive_limit;
/// struct Orders;
///
/// #[adaptive_limit(max_limit = 100)]
/// impl Orders {
///     #[adaptive_limit(skip)]
///     const fn new() -> Self {
///         Self
///     }
///
///     fn find(&self, id: u64) -> Result<String, resilience::Error> {
///         Ok(format!("order {id}"))
///     }
///
///     #[adaptive_limit(max_limit = 5)]
///     fn report(&self) -> Result<String, resilience::Error> {
///         Ok("all orders".to_owned())
///     }
/// }
/// # let orders = Orders::new();
/// # orders.find(1).and_then(|_| orders.report()).unwrap();
/// # let limits = resilience::registry::Registry::global().snapshot().limits;
/// # let of = |method| limits.iter().find(|limit| limit.id.to_string().ends_with(method)).unwrap();
/// # assert_eq!(of("Orders::find").max_limit, 100);
/// # assert_eq!(of("Orders::report").max_limit, 5);
/// ```
///
/// A method's own attribute is known by its name, bare or behind any path. Imported under another name it is not, and the
/// method takes a slot of both limits. Methods that a macro in the block makes are not limited.
///
/// With `#[async_trait]`, the attribute goes on the methods, or on the `impl` block, above or below `#[async_trait]`.
///
/// # What it cannot do
///
/// - `const` fns, fns without a body and fns that return `!` are refused, and so are whole traits: put it on their methods with a body,
///   or on the `impl` blocks, or have [`#[resilient]`](macro@resilient) make a delegate of the trait.
/// - The constants given for `name`, `config` and the bounds cannot be named through `Self` or a type parameter, and cannot be
///   declared in the fn's body: they become part of a static outside of both.
/// - `#[track_caller]` does not reach into the body, which sees a place in the fn itself as its caller.
/// - An argument of a sync fn that the body consumes on some paths only is dropped as soon as the body ends on the others, and
///   so before the arguments that it borrows.
/// - Of a `mut` argument of a sync fn that may have something to drop, the compiler does not say that what is assigned to it is
///   never read.
/// - A `mut` argument may be bound anew in the body, which clippy's restriction lints `shadow_same` and `shadow_reuse` see.
/// - The future of an `async fn` is up to 64 bytes larger than without the attribute, if the body awaits anything. But `mut`
///   arguments are stored once more in it, unless they are arrays of numbers, and so are those behind them that may have
///   something to drop.
/// - What the pattern of an `async fn`'s argument leaves unbound or binds by `ref` is dropped after all other arguments.
/// - A fn that calls itself takes a slot for each level.
/// - Of `mut self` in an `async fn`, the lifetimes stay what they are: it cannot be set to what borrows from the body.
#[proc_macro_attribute]
pub fn adaptive_limit(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expansion(args.into(), &item.into()).into()
}

/// Makes a delegate of a trait: a struct around any implementor that limits the methods whose attributes say so.
///
/// Put it on a trait whose implementors are not yours, or are many, or are not to know about limits. Of a trait `Orders` it
/// makes the struct `ResilientOrders<T>`, of the same visibility, which implements `Orders` for every `T` that does. The
/// methods with `#[adaptive_limit]`, under that name bare or behind any path, are limited there and call those of what is in
/// the delegate; all other calls are handed on. The attribute takes the [options](macro@adaptive_limit#arguments) it takes
/// on a fn. It need not be imported.
///
/// The trait stays as it is. What calls an implementor itself is not limited.
///
/// # Examples
///
/// ```
/// use resilience::registry::Registry;
/// use resilience::{Error, resilient};
///
/// #[resilient]
/// trait Orders {
///     #[adaptive_limit(name = "orders", max_limit = 100)]
///     fn find(&self, id: u64) -> Result<String, Error>;
///
///     fn source(&self) -> &str;
/// }
///
/// struct Database;
///
/// impl Orders for Database {
///     fn find(&self, id: u64) -> Result<String, Error> {
///         Ok(format!("order {id}"))
///     }
///
///     fn source(&self) -> &str {
///         "database"
///     }
/// }
///
/// let orders = ResilientOrders::new(Database);
/// assert_eq!(orders.find(1)?, "order 1");
/// assert_eq!(orders.source(), "database");
///
/// let limit = Registry::global().adaptive_limit("orders")?;
/// assert_eq!(limit.snapshot().counters.succeeded, 1);
/// # Ok::<(), Error>(())
/// ```
///
/// It goes wherever an implementor goes, into an `Arc<dyn Orders>` too, and with `#[async_trait]`, which stands above or below:
///
/// ```
/// # use resilience::{Error, resilient};
/// use std::sync::Arc;
///
/// #[resilient]
/// #[async_trait::async_trait]
/// trait Prices {
///     #[adaptive_limit]
///     async fn price(&self, article: u32) -> Result<u32, Error>;
/// }
///
/// # struct Shop;
/// #[async_trait::async_trait]
/// impl Prices for Shop {
///     async fn price(&self, article: u32) -> Result<u32, Error> {
///         Ok(article * 100)
///     }
/// }
///
/// let prices: Arc<dyn Prices> = Arc::new(ResilientPrices::new(Shop));
/// # drop(prices.price(1));
/// ```
///
/// An `async fn` of a trait without `#[async_trait]` is limited as well, and so is a method that returns an
/// `impl Future + Send`. The compiler has no `dyn Orders` of such traits.
///
/// # The delegate
///
/// | Method | What it does |
/// |---|---|
/// | `const fn new(inner: T) -> Self` | Limits the calls in the registry that is in force: the one scoped to the thread or future, else the process-wide. |
/// | `fn with_registry(inner: T, registry: &Registry) -> Self` | Limits the calls in this registry. |
/// | `const fn inner(&self) -> &T` | Returns what is in it. |
/// | `fn into_inner(self) -> T` | The same by value. |
///
/// It is `Clone` and `Debug` if what is in it is. A method of the trait that is called like one of these is reached by
/// `Orders::new(..)`.
///
/// The limits are those of the methods, so all delegates of a trait share them if they share a registry. Where each backend
/// is to have limits of its own, give each delegate a registry, or put `#[adaptive_limit]` on the backends' `impl` blocks. A
/// method knows its limit in the first registry that it is given; in any other it looks it up for each call, under a lock.
///
/// ```
/// # use resilience::registry::Registry;
/// # use resilience::{Error, resilient};
/// # #[resilient]
/// # trait Orders {
/// #     #[adaptive_limit(name = "orders", max_limit = 100)]
/// #     fn find(&self, id: u64) -> Result<String, Error>;
/// # }
/// # struct Database;
/// # impl Orders for Database {
/// #     fn find(&self, id: u64) -> Result<String, Error> {
/// #         Ok(format!("order {id}"))
/// #     }
/// # }
/// let (ours, theirs) = (Registry::new(), Registry::new());
/// let first = ResilientOrders::with_registry(Database, &ours);
/// let second = ResilientOrders::with_registry(Database, &theirs);
/// first.find(1).and_then(|_| second.find(2))?;
/// assert_eq!(ours.adaptive_limit("orders")?.snapshot().counters.admitted, 1);
/// # Ok::<(), Error>(())
/// ```
///
/// A method without a receiver has no delegate to ask, and its limit is in the registry that is in force. The id of a limit
/// without a name is the path of the delegate's method, such as `<shop::ResilientOrders<_> as shop::Orders>::find`.
///
/// # What is handed on
///
/// | In the trait | In the delegate |
/// |---|---|
/// | a method with `#[adaptive_limit]` | limited, and handed on |
/// | any other method | handed on |
/// | a method with a default body | handed on as well: what is in the delegate may have its own |
/// | a constant or a type | that of what is in the delegate |
/// | `&self`, `&mut self`, `self`, `self: Box<Self>` | handed on |
/// | `self: Arc<Self>`, `Rc<Self>`, `Pin<..>` | refused: the delegate has no such pointer to what is in it |
/// | `Self`, `&Self`, `&mut Self` as an argument | taken out of the delegate |
/// | `Self`, `Option<Self>`, `Result<Self, _>` as the output | put into a delegate with the same registry, or, of a method without a receiver, with none of its own |
/// | `Self` anywhere else | refused, but for `Self::Row` and bounds on `Self` |
/// | generic parameters, `async`, `unsafe`, `extern`, `#[cfg]`, levels of lints, `#[inline]`, `#[track_caller]` | kept |
/// | other attributes of methods | left to the trait |
/// | a macro in the trait | refused: what it makes is not seen |
///
/// # Supertraits
///
/// A delegate needs them as every implementor does. `Send`, `Sync`, `Debug` and `Clone` it has if what is in it does; any
/// other is implemented by you, and until it is, the delegate does not implement the trait:
///
/// ```
/// # use resilience::{Error, resilient};
/// trait Named {
///     fn name(&self) -> String;
/// }
///
/// #[resilient]
/// trait Orders: Named + Send {
///     #[adaptive_limit]
///     fn find(&self, id: u64) -> Result<String, Error>;
/// }
///
/// impl<T: Named> Named for ResilientOrders<T> {
///     fn name(&self) -> String {
///         self.inner().name()
///     }
/// }
/// # struct Database;
/// # impl Named for Database {
/// #     fn name(&self) -> String {
/// #         "database".to_owned()
/// #     }
/// # }
/// # impl Orders for Database {
/// #     fn find(&self, id: u64) -> Result<String, Error> {
/// #         Ok(format!("{} {id}", self.name()))
/// #     }
/// # }
/// # assert_eq!(ResilientOrders::new(Database).find(1).unwrap(), "database 1");
/// ```
///
/// If the methods name a type of a supertrait's, it must be that of what is in the delegate: `type Error = T::Error`. Where there
/// are several supertraits, or it goes by a name of the standard library's without types, such as `Error`, write which one is
/// meant, as in `<Self as Service>::Error`.
///
/// What a method asks of `Self` besides, as in `where Self: Sync`, is asked of what is in the delegate, for all of the trait.
///
/// # Options
///
/// `crate = path` is the only one: where this library is, if not at `::resilience`. It holds for the methods' attributes too.
/// Those have no `registry`.
///
/// # What it cannot do
///
/// - `unsafe` traits are refused, and traits without a limited method, and generic parameters under `#[cfg]`, but for a method's
///   lifetimes.
/// - A call that what is in the delegate makes on itself is not limited; default bodies make such calls.
/// - A boxed future is boxed once more if its method is limited.
/// - With `#[resilient]` above `#[async_trait]`, what is in the delegate has to be `Send` and `Sync`, unless the latter is
///   `#[async_trait(?Send)]`.
/// - A limited method cannot return an `impl Trait` other than a future, since there is none for a rejected call.
/// - `#[track_caller]` does not reach through a limited method: what is in the delegate sees the delegate as its caller.
/// - It does not go around an `Arc<dyn Orders>` or `Box<dyn Orders>`, unless that implements `Orders`. Few traits are
///   implemented for their pointers by themselves; implement yours, or make the delegate before the pointer.
#[proc_macro_attribute]
pub fn resilient(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    delegated(args.into(), &item.into()).into()
}

/// The trait with its delegate, or the item as it came and what is wrong.
fn delegated(args: TokenStream, item: &TokenStream) -> TokenStream {
    caught("resilient", item, || delegate::resilient(args, item))
}

/// The limited item, or the item as it came and what is wrong.
fn expansion(args: TokenStream, item: &TokenStream) -> TokenStream {
    caught("adaptive_limit", item, || match Block::read(item) {
        Some(block) => limited_block(&args, block),
        None => limited_fn(args, item),
    })
}

/// A panic is a bug, but one that need not take the user's item away.
fn caught(
    attribute: &str,
    item: &TokenStream,
    expand: impl FnOnce() -> TokenStream,
) -> TokenStream {
    catch_unwind(AssertUnwindSafe(expand)).unwrap_or_else(|_| {
        let message = format!(
            "`#[{attribute}]` failed on this item; please report it as a bug of `resilience`"
        );
        quote! {
            #item
            ::core::compile_error! { #message }
        }
    })
}

fn limited_fn(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let plan = Plan::new(args, item.clone(), &mut diagnostics);
    match (plan, diagnostics.into_compile_errors()) {
        (Some(plan), None) => plan.expand(),
        (_, errors) => quote!(#item #errors),
    }
}

fn limited_block(args: &TokenStream, mut block: Block) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let krate = Args::parse(args.clone(), &mut diagnostics).krate;
    block.check(&mut diagnostics);
    match diagnostics.into_compile_errors() {
        None => block.expand(args, krate.as_ref()),
        Some(errors) => {
            let block = block.unlimited();
            quote!(#block #errors)
        }
    }
}
