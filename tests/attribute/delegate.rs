//! `#[resilient]` on a trait: the delegate limits the methods whose attributes say so, and hands on all calls.
#![allow(
    async_fn_in_trait,
    clippy::needless_arbitrary_self_type,
    clippy::unused_self,
    reason = "the traits are there to have delegates"
)]

use std::fmt::{Debug, Display};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;

use resilience::registry::Registry;
use resilience::resilient;

use crate::support::{Fail, block_on, counters, fill, only, pause, poll_once, scoped};

/// The ids of all limits, in order.
fn ids(registry: &Registry) -> Vec<String> {
    let limits = registry.snapshot().limits;
    limits.iter().map(|limit| limit.id.to_string()).collect()
}

/// Is documented.
#[resilient]
pub(crate) trait Orders {
    /// Is limited.
    #[adaptive_limit(name = "find", initial_limit = 2)]
    fn find(&self, id: u32) -> Result<u32, Fail>;

    #[resilience::adaptive_limit(initial_limit = 3)]
    fn unnamed(&self) -> Result<u32, Fail>;

    #[adaptive_limit(name = "later")]
    async fn later(&self, mut id: u32, (a, b): (u32, u32)) -> Result<u32, Fail> {
        id += a;
        pause().await;
        Ok(id + b)
    }

    #[adaptive_limit(name = "none", rejected = none)]
    fn default(&self) -> Option<u32> {
        Some(0)
    }

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn none<T>(_: resilience::Error) -> Option<T> {
    None
}

#[derive(Clone, Debug, Default)]
struct Store(u32);

impl Orders for Store {
    fn find(&self, id: u32) -> Result<u32, Fail> {
        if id == 0 {
            return Err(Fail::Status(404));
        }
        Ok(self.0 + id)
    }

    fn unnamed(&self) -> Result<u32, Fail> {
        Ok(self.0)
    }

    fn default(&self) -> Option<u32> {
        Some(self.0)
    }

    fn len(&self) -> usize {
        7
    }

    fn is_empty(&self) -> bool {
        // Not what the trait says by itself.
        true
    }
}

#[test]
fn limits_what_the_attributes_say_and_hands_all_else_on() {
    scoped(|registry| {
        let orders = ResilientOrders::new(Store(1));
        assert_eq!(orders.find(1).ok(), Some(2));
        assert!(orders.find(0).is_err());
        assert_eq!(orders.unnamed().ok(), Some(1));
        assert_eq!(block_on(orders.later(1, (2, 3))).ok(), Some(6));
        assert_eq!(orders.default(), Some(1));
        assert_eq!((orders.len(), orders.is_empty()), (7, true));
        assert_eq!(
            ids(registry),
            [
                "<attribute::delegate::ResilientOrders<_> as attribute::delegate::Orders>::unnamed",
                "find",
                "later",
                "none",
            ]
        );
        let counted = counters(registry, "find");
        assert_eq!((counted.succeeded, counted.ignored), (1, 1));
    });
}

#[test]
fn rejects_at_the_limit_and_does_not_call() {
    scoped(|registry| {
        let orders = ResilientOrders::new(Store(1));
        assert!(orders.find(1).is_ok());
        assert_eq!(orders.default(), Some(1));
        assert!(block_on(orders.later(1, (2, 3))).is_ok());
        let permits = fill(registry, "find");
        assert_eq!(permits.len(), 2);
        assert!(orders.find(1).is_err_and(|error| error.is_rejection()));
        let _permits = fill(registry, "none");
        assert_eq!(orders.default(), None);
        let _permits = fill(registry, "later");
        let rejected = block_on(orders.later(1, (2, 3)));
        assert!(rejected.is_err_and(|error| error.is_rejection()));
        assert_eq!(orders.len(), 7);
    });
}

#[test]
fn a_default_body_takes_one_slot() {
    scoped(|registry| {
        let orders = ResilientOrders::new(Store(1));
        let mut future = pin!(orders.later(1, (2, 3)));
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!(only(registry).admitted, 1);
        assert!(block_on(Store(1).later(1, (2, 3))).is_ok());
        assert_eq!(only(registry).admitted, 1);
    });
}

#[test]
fn a_cancelled_call_frees_its_slot() {
    scoped(|registry| {
        let orders = ResilientOrders::new(Store(1));
        let mut future = Box::pin(orders.later(1, (2, 3)));
        assert!(poll_once(future.as_mut()).is_pending());
        let limit = registry.adaptive_limit("later").expect("called");
        assert_eq!(limit.in_flight(), 1);
        drop(future);
        assert_eq!(limit.in_flight(), 0);
        assert_eq!(counters(registry, "later").succeeded, 0);
    });
}

#[test]
fn each_registry_has_limits_of_its_own() {
    scoped(|registry| {
        let (first, second) = (Registry::new(), Registry::new());
        let [one, other] =
            [&first, &second].map(|registry| ResilientOrders::with_registry(Store(1), registry));
        assert!(one.find(1).is_ok());
        assert!(other.find(1).is_ok());
        let _permits = fill(&first, "find");
        assert!(one.find(1).is_err());
        assert!(one.clone().find(1).is_err());
        assert!(other.find(1).is_ok());
        assert!(block_on(other.later(1, (1, 1))).is_ok());
        assert_eq!(ids(&second), ["find", "later"]);
        assert!(ids(registry).is_empty());
    });
}

#[test]
fn is_taken_apart_again() {
    let orders = ResilientOrders::new(Store(1));
    assert_eq!(orders.inner().0, 1);
    assert!(format!("{orders:?}").starts_with("ResilientOrders { inner: Store(1), "));
    assert_eq!(orders.into_inner().0, 1);
}

#[test]
fn new_is_const() {
    static ORDERS: ResilientOrders<Store> = ResilientOrders::new(Store(3));
    assert_eq!(ORDERS.len(), 7);
}

#[resilient]
trait Places {
    #[adaptive_limit(name = "places", max_limit = 7)]
    fn one(&self) -> Result<u32, Fail>;

    #[adaptive_limit(name = "places", max_limit = 8)]
    fn other(&self) -> Result<u32, Fail>;
}

const PLACES: u32 = line!() - 7;

impl Places for () {
    fn one(&self) -> Result<u32, Fail> {
        Ok(1)
    }

    fn other(&self) -> Result<u32, Fail> {
        Ok(2)
    }
}

#[test]
fn a_limits_place_is_its_own_attribute() {
    scoped(|_| {
        let places = ResilientPlaces::new(());
        assert!(places.one().is_ok());
        let error = places.other().expect_err("other settings under one name");
        for line in [PLACES, PLACES + 3] {
            let place = format!("delegate.rs:{line}:5");
            assert!(error.to_string().contains(&place), "{place}: {error}");
        }
    });
}

#[resilient]
trait Objects: Send + Sync {
    #[adaptive_limit(name = "objects")]
    fn boxed<'a>(
        &'a self,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<usize, Fail>> + Send + 'a>>;

    #[adaptive_limit(name = "taken")]
    fn taken(self: Box<Self>) -> Result<u32, Fail>;
}

impl Objects for Store {
    fn boxed<'a>(
        &'a self,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<usize, Fail>> + Send + 'a>> {
        Box::pin(async move {
            pause().await;
            Ok(id.len())
        })
    }

    fn taken(self: Box<Self>) -> Result<u32, Fail> {
        Ok(self.0)
    }
}

#[test]
fn trait_objects() {
    scoped(|registry| {
        let objects: Arc<dyn Objects> = Arc::new(ResilientObjects::new(Store(1)));
        let made = objects.boxed("ab");
        assert!(ids(registry).iter().all(|id| id == "objects"));
        assert_eq!(block_on(made).ok(), Some(2));
        let _permits = fill(registry, "objects");
        assert!(block_on(objects.boxed("ab")).is_err_and(|error| error.is_rejection()));
        let objects: Box<dyn Objects> = Box::new(ResilientObjects::new(Store(1)));
        assert_eq!(objects.taken().ok(), Some(1));
        assert_eq!(counters(registry, "taken").succeeded, 1);
    });
}

#[resilient]
trait Receivers {
    #[adaptive_limit(name = "receivers")]
    fn mutable(&mut self) -> Result<&mut u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    fn value(self) -> Result<u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    async fn owned(mut self, _text: String) -> Result<u32, Fail>
    where
        Self: Sized,
    {
        pause().await;
        Ok(*self.mutable()?)
    }
    #[adaptive_limit(name = "receivers")]
    fn lived<'a>(&'a self, other: &'a u32) -> Result<&'a u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    fn typed(self: &Self) -> Result<u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    fn typed_mutable(self: &mut Self) -> Result<u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    fn typed_value(self: Self) -> Result<u32, Fail>;
    #[adaptive_limit(name = "receivers")]
    fn nobody(number: u32) -> Result<u32, Fail>;
    fn unlimited_nobody(_: u32, _: u8) -> u32
    where
        Self: Sized,
    {
        4
    }
}

impl Receivers for Store {
    fn mutable(&mut self) -> Result<&mut u32, Fail> {
        self.0 += 1;
        Ok(&mut self.0)
    }
    fn value(self) -> Result<u32, Fail> {
        Ok(self.0)
    }
    fn lived<'a>(&'a self, other: &'a u32) -> Result<&'a u32, Fail> {
        Ok(if *other == 0 { &self.0 } else { other })
    }
    fn typed(self: &Self) -> Result<u32, Fail> {
        Ok(self.0)
    }
    fn typed_mutable(self: &mut Self) -> Result<u32, Fail> {
        self.0 += 1;
        Ok(self.0)
    }
    fn typed_value(self: Self) -> Result<u32, Fail> {
        Ok(self.0)
    }
    fn nobody(number: u32) -> Result<u32, Fail> {
        Ok(number)
    }
}

#[test]
fn every_receiver_and_none() {
    scoped(|registry| {
        let mut store = ResilientReceivers::new(Store(0));
        *store.mutable().expect("free") += 1;
        assert_eq!(store.typed_mutable().ok(), Some(3));
        assert_eq!(store.typed().ok(), Some(3));
        assert_eq!(store.lived(&5).ok(), Some(&5));
        assert_eq!(store.clone().value().ok(), Some(3));
        assert_eq!(store.clone().typed_value().ok(), Some(3));
        assert_eq!(block_on(store.owned(String::new())).ok(), Some(4));
        assert_eq!(ResilientReceivers::<Store>::nobody(9).ok(), Some(9));
        assert_eq!(ResilientReceivers::<Store>::unlimited_nobody(9, 0), 4);
        assert_eq!(only(registry).succeeded, 8);
    });
}

#[resilient]
trait Selfs: Sized {
    #[adaptive_limit(name = "selfs")]
    fn open(number: u32) -> Result<Self, Fail>;
    #[adaptive_limit(name = "selfs", rejected = none)]
    fn next(&mut self) -> Option<Self>;
    #[adaptive_limit(name = "selfs")]
    async fn joined(self, other: Self) -> Result<Self, Fail>;
    #[adaptive_limit(name = "selfs")]
    fn sum(&self, other: &Self, third: &mut Self) -> Result<u32, Fail>;
    fn copied(&self) -> Self;
    fn named(inner: u32, registry: u32, (arg3, _): (u32, u32), _: u8) -> Self
    where
        Self: From<u32>,
    {
        Self::from(inner + registry + arg3)
    }
    async fn copied_later(&self) -> Self;
}

impl Selfs for Store {
    fn open(number: u32) -> Result<Self, Fail> {
        Ok(Self(number))
    }
    fn next(&mut self) -> Option<Self> {
        Some(Self(self.0 + 1))
    }
    async fn joined(self, other: Self) -> Result<Self, Fail> {
        pause().await;
        Ok(Self(self.0 + other.0))
    }
    fn sum(&self, other: &Self, third: &mut Self) -> Result<u32, Fail> {
        third.0 += 1;
        Ok(self.0 + other.0 + third.0)
    }
    fn copied(&self) -> Self {
        self.clone()
    }
    async fn copied_later(&self) -> Self {
        self.clone()
    }
}

impl From<u32> for Store {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl From<u32> for ResilientSelfs<Store> {
    fn from(number: u32) -> Self {
        Self::new(Store(number))
    }
}

#[test]
fn itself_in_and_out() {
    scoped(|registry| {
        let opened = ResilientSelfs::<Store>::open(1).expect("free");
        assert_eq!(only(registry).succeeded, 1);
        let other = Registry::new();
        let mut given = ResilientSelfs::with_registry(opened.copied().into_inner(), &other);
        let next = given.next().expect("free");
        assert_eq!(next.sum(&opened, &mut given).ok(), Some(5));
        assert_eq!(counters(&other, "selfs").succeeded, 2);
        let joined = block_on(next.joined(opened)).expect("free");
        let copied = block_on(joined.copied_later()).copied();
        assert_eq!(copied.inner().0, 3);
        let named = ResilientSelfs::<Store>::named(1, 2, (3, 4), 5);
        assert_eq!(named.inner().0, 6);
        // Of the registry of the first.
        assert!(copied.sum(&joined, &mut given).is_ok());
        assert_eq!(counters(&other, "selfs").succeeded, 4);
        assert_eq!(only(registry).succeeded, 1);
    });
}

#[resilient]
trait Generic<'k, T, K: Into<String> = String, const N: usize = 2>
where
    T: Clone + 'k,
    Self::Plain: Debug,
{
    const MOST: usize;
    const LEAST: usize = N * 2;
    type Row<'a>
    where
        Self: 'a,
        T: 'a;
    type Plain: Default;

    #[adaptive_limit]
    fn row<'a>(&'a self, of: &'a T) -> Result<Self::Row<'a>, Fail>;

    #[adaptive_limit]
    fn map<U, F: FnOnce(T) -> U, const M: usize>(&self, of: T, with: F) -> Result<[U; M], Fail>
    where
        U: Copy;

    #[adaptive_limit]
    fn plain(
        &self,
        key: K,
        shown: impl Display,
    ) -> Result<<Self as Generic<'k, T, K, N>>::Plain, Fail>;

    fn rows(&self, upto: [u32; N]) -> impl Iterator<Item = u32> + 'static;
}

impl<'k, T: Clone + Debug + 'k> Generic<'k, T, &'k str, 3> for Store {
    const MOST: usize = 9;
    type Row<'a>
        = &'a T
    where
        Self: 'a,
        T: 'a;
    type Plain = String;

    fn row<'a>(&'a self, of: &'a T) -> Result<&'a T, Fail> {
        Ok(of)
    }

    fn map<U, F: FnOnce(T) -> U, const M: usize>(&self, of: T, with: F) -> Result<[U; M], Fail>
    where
        U: Copy,
    {
        Ok([with(of); M])
    }

    fn plain(&self, key: &'k str, shown: impl Display) -> Result<String, Fail> {
        Ok(format!("{key}{shown}"))
    }

    fn rows(&self, upto: [u32; 3]) -> impl Iterator<Item = u32> + 'static {
        upto.into_iter()
    }
}

#[test]
fn generics_and_associated_items() {
    fn both<'k, G: Generic<'k, u32, &'k str, 3>>(_: &G) -> (usize, usize)
    where
        G::Plain: Debug,
    {
        (G::MOST, G::LEAST)
    }
    scoped(|registry| {
        let store = ResilientGeneric::new(Store(1));
        assert_eq!(both(&store), (9, 6));
        assert_eq!(store.row(&7_u32).ok(), Some(&7));
        let mapped: Result<[u32; 2], _> = store.map(3_u32, |of| of + 1);
        assert_eq!(mapped.ok(), Some([4, 4]));
        let plain = Generic::<u32, _, 3>::plain(&store, "a", 1);
        assert_eq!(plain.ok().as_deref(), Some("a1"));
        assert_eq!(
            Generic::<u32, _, 3>::rows(&store, [1, 2, 3]).sum::<u32>(),
            6
        );
        let ids = ids(registry);
        assert_eq!(ids.len(), 3);
        for (id, method) in ids.iter().zip(["map", "plain", "row"]) {
            // How the compiler writes the trait's own arguments is its business.
            let start =
                "<attribute::delegate::ResilientGeneric<_> as attribute::delegate::Generic<";
            assert!(
                id.starts_with(start) && id.ends_with(&format!("::{method}")),
                "{id}"
            );
        }
    });
}

#[resilient]
trait Associated<'t> {
    type Error: std::error::Error + From<resilience::Error>;
    type Item: Default;
    type Items: Iterator<Item = Self::Item>;

    #[adaptive_limit(name = "associated")]
    fn items(&'t self) -> Result<Self::Items, Self::Error>
    where
        Self::Item: Clone;

    #[adaptive_limit(name = "associated")]
    async fn put(
        &mut self,
        item: &'t mut Self::Item,
        with: Box<dyn Fn(Self::Item) -> Self::Item + 't>,
        or: impl Into<Self::Item>,
    ) -> Result<&'t mut Self::Item, <Self as Associated<'t>>::Error>
    where
        Self::Items: 't,
        Self::Error: Send,
        for<'a> &'a Self::Item: Debug;
}

impl<'t> Associated<'t> for Store {
    type Error = Fail;
    type Item = u32;
    type Items = std::ops::Range<u32>;

    fn items(&'t self) -> Result<std::ops::Range<u32>, Fail> {
        Ok(0..self.0)
    }

    async fn put(
        &mut self,
        item: &'t mut u32,
        with: Box<dyn Fn(u32) -> u32 + 't>,
        or: impl Into<u32>,
    ) -> Result<&'t mut u32, Fail> {
        pause().await;
        *item = with(*item + or.into());
        Ok(item)
    }
}

#[test]
fn associated_types_everywhere() {
    scoped(|registry| {
        let mut store = ResilientAssociated::new(Store(3));
        assert_eq!(store.items().ok().map(Iterator::count), Some(3));
        let mut item = 1;
        let put = block_on(store.put(&mut item, Box::new(|item| item + 1), 2_u8));
        assert_eq!(put.ok().copied(), Some(4));
        assert_eq!(only(registry).succeeded, 2);
        let _permits = fill(registry, "associated");
        assert!(store.items().is_err_and(|error| error.is_rejection()));
    });
}

#[test]
fn delegates_of_delegates() {
    scoped(|registry| {
        let other = Registry::new();
        let orders = ResilientOrders::new(ResilientOrders::with_registry(Store(1), &other));
        assert_eq!(orders.find(1).ok(), Some(2));
        assert_eq!(counters(registry, "find").succeeded, 1);
        assert_eq!(counters(&other, "find").succeeded, 1);
    });
}

trait Named {
    fn name(&self) -> String;
}

#[resilient]
trait Inherits<Rhs = u32>:
    Named + Debug + Clone + Send + Sync + Unpin + 'static + PartialEq<Self>
where
    Rhs: From<u8>,
    Self: Display,
    u64: From<Rhs>,
{
    #[adaptive_limit]
    fn call(&self, rhs: Rhs) -> Result<String, Fail> {
        Ok(format!("{}{}", self.name(), u64::from(rhs)))
    }
}

impl Named for Store {
    fn name(&self) -> String {
        "store".into()
    }
}
impl Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
impl PartialEq for Store {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Inherits for Store {}

impl<T: Named> Named for ResilientInherits<T> {
    fn name(&self) -> String {
        self.inner().name()
    }
}
impl<T: Display> Display for ResilientInherits<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner().fmt(f)
    }
}
impl<T: PartialEq> PartialEq for ResilientInherits<T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner() == other.inner()
    }
}

#[test]
fn supertraits_of_the_library_and_of_the_user() {
    scoped(|registry| {
        let inherits = ResilientInherits::new(Store(1));
        assert_eq!(inherits.call(7).ok().as_deref(), Some("store7"));
        assert_eq!(only(registry).succeeded, 1);
    });
}

#[resilient]
#[async_trait::async_trait]
trait Boxed {
    #[adaptive_limit(name = "arguments")]
    async fn text(&self, text: impl Into<String> + Send + 'static, _: &str) -> Result<String, Fail>
    where
        Self: Sized;
    #[adaptive_limit(name = "arguments")]
    async fn open<'a, K>(key: &'a K) -> Result<&'a K, Fail>
    where
        K: Sync + ?Sized,
        Self: Sized;
}

#[async_trait::async_trait]
impl Boxed for Store {
    async fn text(
        &self,
        text: impl Into<String> + Send + 'static,
        _: &str,
    ) -> Result<String, Fail> {
        pause().await;
        Ok(text.into())
    }
    async fn open<'a, K: Sync + ?Sized>(key: &'a K) -> Result<&'a K, Fail> {
        pause().await;
        Ok(key)
    }
}

#[resilient]
trait Arguments {
    #[adaptive_limit(name = "arguments")]
    fn filled<'a>(&self, text: &'a mut String, with: &str) -> Result<&'a mut String, Fail>;
    #[adaptive_limit(name = "arguments")]
    fn early<'a: 'a, U: Clone>(&self, of: &'a U, mut each: impl FnMut(&U)) -> Result<U, Fail> {
        each(of);
        Ok(of.clone())
    }
    #[adaptive_limit(name = "arguments")]
    async fn text(&self, text: impl Into<String>, _: &str, _: String) -> Result<String, Fail>;
    #[adaptive_limit(name = "arguments")]
    fn detached<'a>(
        &'a self,
        text: &str,
    ) -> impl Future<Output = Result<usize, Fail>> + Send + use<'a, Self>;
}

impl Arguments for Store {
    fn filled<'a>(&self, text: &'a mut String, with: &str) -> Result<&'a mut String, Fail> {
        text.push_str(with);
        Ok(text)
    }
    async fn text(&self, text: impl Into<String>, _: &str, _: String) -> Result<String, Fail> {
        pause().await;
        Ok(text.into())
    }
    fn detached<'a>(
        &'a self,
        text: &str,
    ) -> impl Future<Output = Result<usize, Fail>> + Send + use<'a> {
        let length = text.len();
        async move { Ok(length) }
    }
}

#[test]
fn arguments_of_every_kind() {
    scoped(|registry| {
        let mut text = String::from("a");
        let arguments = ResilientArguments::new(Store(1));
        arguments.filled(&mut text, "b").expect("free").push('c');
        assert_eq!(text, "abc");
        let mut seen = 0;
        assert_eq!(arguments.early(&3, |of| seen += of).ok(), Some(3));
        assert_eq!(seen, 3);
        let text = block_on(arguments.text("a", "b", String::new()));
        assert_eq!(text.ok().as_deref(), Some("a"));
        let detached = arguments.detached(&String::from("ab"));
        assert_eq!(block_on(detached).ok(), Some(2));
        let boxed = ResilientBoxed::new(Store(1));
        assert_eq!(block_on(boxed.text("a", "b")).ok().as_deref(), Some("a"));
        assert_eq!(block_on(ResilientBoxed::<Store>::open("k")).ok(), Some("k"));
        assert_eq!(only(registry).succeeded, 6);
    });
}

// A type that is there for some implementors only.
#[resilient]
trait Asking {
    type Copies<'a>: Iterator<Item = u32>
    where
        Self: Clone + 'a;

    #[adaptive_limit(name = "asking")]
    fn copies(&self) -> Result<Self::Copies<'_>, Fail>
    where
        Self: Clone;
}

impl Asking for Store {
    type Copies<'a> = std::iter::Once<u32>;

    fn copies(&self) -> Result<std::iter::Once<u32>, Fail> {
        Ok(std::iter::once(self.0))
    }
}

#[test]
fn types_that_ask_something_of_self() {
    scoped(|registry| {
        let copies = ResilientAsking::new(Store(1))
            .copies()
            .ok()
            .map(Iterator::sum);
        assert_eq!(copies, Some(1));
        assert_eq!(only(registry).succeeded, 1);
    });
}

trait Service {
    type Error: std::error::Error + From<resilience::Error>;
    type Answer;
}

trait Keyed<K> {
    type Value: From<K>;
}

#[resilient]
trait Calls: Service + Send + 'static {
    #[adaptive_limit(name = "calls")]
    fn answer(&self, answer: Self::Answer) -> Result<Self::Answer, Self::Error>;
}

#[resilient]
trait TwoServices<K>: Service + Keyed<K> {
    #[adaptive_limit(name = "calls")]
    async fn value(&self, key: K) -> Result<<Self as Keyed<K>>::Value, <Self as Service>::Error>;
}

impl Service for Store {
    type Error = Fail;
    type Answer = u32;
}

impl Keyed<u8> for Store {
    type Value = u32;
}

impl Calls for Store {
    fn answer(&self, answer: u32) -> Result<u32, Fail> {
        Ok(answer)
    }
}

impl TwoServices<u8> for Store {
    async fn value(&self, key: u8) -> Result<u32, Fail> {
        Ok(key.into())
    }
}

impl<T: Service> Service for ResilientCalls<T> {
    type Error = T::Error;
    type Answer = T::Answer;
}

impl<T: Service> Service for ResilientTwoServices<T> {
    type Error = T::Error;
    type Answer = ();
}

impl<K, T: Keyed<K>> Keyed<K> for ResilientTwoServices<T> {
    type Value = T::Value;
}

// Some of the supertraits' types are said here.
#[resilient]
trait Rows: Iterator<Item = u32> + Send {
    #[adaptive_limit(name = "calls")]
    fn row(&mut self) -> Result<Option<Self::Item>, Fail>;

    fn last_row(self) -> Option<<Self as Iterator>::Item>
    where
        Self: Sized,
    {
        self.last()
    }
}

#[resilient]
trait Answers: Service<Answer = u32> {
    #[adaptive_limit(name = "calls")]
    fn answers(&self) -> Result<Vec<Self::Answer>, Self::Error>;
}

#[resilient]
trait Both: Service<Error: Send> + Iterator<Item = u32> {
    #[adaptive_limit(name = "calls")]
    fn both(&mut self) -> Result<Option<Self::Item>, <Self as Service>::Error>;
}

// Of all lifetimes that a method may have.
trait Lent<'l, K: ?Sized> {
    type Loan;
}

#[resilient]
trait Lends: for<'l> Lent<'l, str> + for<'l> Lent<'l, &'l u8> {
    #[adaptive_limit(name = "calls")]
    fn named<'n>(&'n self, loan: <Self as Lent<'n, str>>::Loan) -> Result<&'n str, Fail>;

    fn elided(&self, loan: <Self as Lent<'_, str>>::Loan) -> usize;

    fn within<'n>(&'n self, loan: <Self as Lent<'n, &'n u8>>::Loan) -> u8;
}

struct Numbers(std::ops::Range<u32>);

impl Iterator for Numbers {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.0.next()
    }
}

impl Rows for Numbers {
    fn row(&mut self) -> Result<Option<u32>, Fail> {
        Ok(self.next())
    }
}

impl Service for Numbers {
    type Error = Fail;
    type Answer = ();
}

impl Both for Numbers {
    fn both(&mut self) -> Result<Option<u32>, Fail> {
        Ok(self.next())
    }
}

impl<T: Service> Service for ResilientBoth<T> {
    type Error = T::Error;
    type Answer = ();
}

impl<T: Iterator> Iterator for ResilientBoth<T> {
    type Item = T::Item;

    fn next(&mut self) -> Option<T::Item> {
        None
    }
}

impl<T: Iterator> Iterator for ResilientRows<T> {
    type Item = T::Item;

    fn next(&mut self) -> Option<T::Item> {
        None
    }
}

impl Answers for Store {
    fn answers(&self) -> Result<Vec<u32>, Fail> {
        Ok(vec![self.0])
    }
}

impl<T: Service> Service for ResilientAnswers<T> {
    type Error = T::Error;
    type Answer = T::Answer;
}

impl<'l> Lent<'l, str> for Store {
    type Loan = &'l str;
}

impl<'l> Lent<'l, &'l u8> for Store {
    type Loan = u8;
}

impl Lends for Store {
    fn named<'n>(&'n self, loan: &'n str) -> Result<&'n str, Fail> {
        Ok(loan)
    }

    fn elided(&self, loan: &str) -> usize {
        loan.len()
    }

    fn within(&self, loan: u8) -> u8 {
        loan
    }
}

impl<'l, K: ?Sized, T: Lent<'l, K>> Lent<'l, K> for ResilientLends<T> {
    type Loan = T::Loan;
}

#[test]
fn types_of_supertraits_that_are_bound_or_of_any_lifetime() {
    scoped(|registry| {
        let mut rows = ResilientRows::new(Numbers(3..5));
        assert_eq!(rows.row().ok(), Some(Some(3)));
        assert_eq!(rows.last_row(), Some(4));
        let mut both = ResilientBoth::new(Numbers(5..6));
        assert_eq!(both.both().ok(), Some(Some(5)));
        assert_eq!(
            ResilientAnswers::new(Store(1)).answers().ok(),
            Some(vec![1])
        );
        let lends = ResilientLends::new(Store(1));
        assert_eq!(lends.named("a").ok(), Some("a"));
        assert_eq!((lends.elided("ab"), lends.within(3)), (2, 3));
        assert_eq!(only(registry).succeeded, 4);
    });
}

#[test]
fn types_of_supertraits() {
    scoped(|registry| {
        assert_eq!(ResilientCalls::new(Store(1)).answer(3).ok(), Some(3));
        let services = ResilientTwoServices::new(Store(1));
        assert_eq!(block_on(services.value(7)).ok(), Some(7));
        assert_eq!(only(registry).succeeded, 2);
    });
}

#[resilient]
trait Futures {
    #[adaptive_limit(name = "futures")]
    fn returned(&self, id: u32) -> impl Future<Output = Result<u32, Fail>> + Send;

    #[adaptive_limit(name = "futures")]
    fn of_a_default(&self) -> impl Future<Output = Result<u32, Fail>> + Send
    where
        Self: Sync,
    {
        async { self.returned(1).await }
    }

    #[adaptive_limit(name = "futures")]
    async fn native(&self, text: &str) -> Result<usize, Fail>;

    async fn unlimited(&self) -> u32;
}

impl Futures for Store {
    async fn returned(&self, id: u32) -> Result<u32, Fail> {
        pause().await;
        Ok(self.0 + id)
    }
    async fn native(&self, text: &str) -> Result<usize, Fail> {
        pause().await;
        Ok(text.len())
    }
    async fn unlimited(&self) -> u32 {
        pause().await;
        self.0
    }
}

fn sendable<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn futures_are_send_where_they_were() {
    fn returned<T: Futures>(of: &T) -> impl Future + Send {
        of.returned(1)
    }
    scoped(|registry| {
        let futures = ResilientFutures::new(Store(1));
        assert_eq!(block_on(sendable(futures.returned(1))).ok(), Some(2));
        assert_eq!(block_on(sendable(futures.of_a_default())).ok(), Some(2));
        assert_eq!(block_on(sendable(futures.native("ab"))).ok(), Some(2));
        assert_eq!(block_on(sendable(futures.unlimited())), 1);
        block_on(returned(&futures));
        assert_eq!(only(registry).succeeded, 4);
        drop(futures.returned(1));
        assert_eq!(only(registry).admitted, 4);
    });
}

#[resilient]
#[async_trait::async_trait]
trait Above {
    #[adaptive_limit(name = "async_trait")]
    async fn fetch(&self, mut id: u32, (a, _): (u32, u32)) -> Result<u32, Fail> {
        pause().await;
        id += a;
        Ok(id)
    }
    #[adaptive_limit(name = "async_trait")]
    async fn store(&mut self, id: &u32) -> Result<(), Fail>;
    async fn count(&self) -> usize;
    fn plain(&self) -> usize;
}

#[async_trait::async_trait]
#[resilient]
trait Below {
    #[adaptive_limit(name = "async_trait")]
    async fn fetch(&self, mut id: u32, (a, _): (u32, u32)) -> Result<u32, Fail> {
        pause().await;
        id += a;
        Ok(id)
    }
    #[adaptive_limit(name = "async_trait")]
    async fn store(&mut self, id: &u32) -> Result<(), Fail>;
    async fn count(&self) -> usize;
    fn plain(&self) -> usize;
}

#[resilient]
#[cfg_attr(all(), async_trait::async_trait(?Send))]
trait Local {
    #[adaptive_limit(name = "async_trait")]
    async fn fetch(&self, id: std::rc::Rc<u32>) -> Result<u32, Fail> {
        pause().await;
        Ok(*id)
    }
}

#[async_trait::async_trait]
impl Above for Store {
    async fn store(&mut self, id: &u32) -> Result<(), Fail> {
        self.0 = *id;
        Ok(())
    }
    async fn count(&self) -> usize {
        pause().await;
        1
    }
    fn plain(&self) -> usize {
        2
    }
}

#[async_trait::async_trait]
impl Below for Store {
    async fn store(&mut self, id: &u32) -> Result<(), Fail> {
        self.0 = *id;
        Ok(())
    }
    async fn count(&self) -> usize {
        pause().await;
        1
    }
    fn plain(&self) -> usize {
        2
    }
}

struct Shared(std::rc::Rc<u32>);

#[async_trait::async_trait(?Send)]
impl Local for Shared {}

#[test]
fn async_trait_below() {
    scoped(|registry| {
        let mut above: Box<dyn Above + Sync> = Box::new(ResilientAbove::new(Store(1)));
        let future = sendable(above.fetch(1, (2, 3)));
        assert_eq!(block_on(future).ok(), Some(3));
        assert!(block_on(above.store(&1)).is_ok());
        assert_eq!((block_on(above.count()), above.plain()), (1, 2));
        assert_eq!(only(registry).succeeded, 2);
        let _permits = fill(registry, "async_trait");
        assert!(block_on(above.fetch(1, (2, 3))).is_err());
    });
}

#[test]
fn async_trait_above() {
    scoped(|registry| {
        let mut below: Box<dyn Below + Sync> = Box::new(ResilientBelow::new(Store(1)));
        let future = sendable(below.fetch(1, (2, 3)));
        assert_eq!(block_on(future).ok(), Some(3));
        assert!(block_on(below.store(&1)).is_ok());
        assert_eq!((block_on(below.count()), below.plain()), (1, 2));
        assert_eq!(only(registry).succeeded, 2);
        let _permits = fill(registry, "async_trait");
        assert!(block_on(below.fetch(1, (2, 3))).is_err());
    });
}

#[test]
fn async_trait_of_futures_that_are_not_send() {
    scoped(|registry| {
        let local = ResilientLocal::new(Shared(std::rc::Rc::new(1)));
        let local: &dyn Local = &local;
        assert_eq!(block_on(local.fetch(std::rc::Rc::new(7))).ok(), Some(7));
        assert_eq!(only(registry).succeeded, 1);
    });
    assert_eq!(*Shared(std::rc::Rc::new(1)).0, 1);
}

#[resilient]
#[cfg(test)]
trait Conditions {
    #[cfg_attr(all(), allow(clippy::all), adaptive_limit(name = "here"))]
    fn here(&self) -> Result<u32, Fail>;

    #[cfg_attr(any(), adaptive_limit(name = "nowhere"))]
    fn elsewhere(&self) -> Result<u32, Fail>;

    #[cfg_attr(any(), adaptive_limit(name = "one"))]
    #[cfg_attr(all(), adaptive_limit(name = "other"))]
    fn either(&self) -> Result<u32, Fail>;

    #[cfg(any())]
    #[adaptive_limit]
    fn absent(&self) -> Nowhere;

    #[cfg(any())]
    const ABSENT: Nowhere;

    #[adaptive_limit(name = "arguments")]
    async fn arguments(
        &self,
        #[cfg(test)] there: String,
        #[cfg(any())] absent: Nowhere,
        #[cfg(test)] number: u32,
    ) -> Result<String, Fail>;

    #[deprecated]
    #[adaptive_limit(name = "old")]
    fn old(&self) -> Result<u32, Fail>;
}

impl Conditions for Store {
    fn here(&self) -> Result<u32, Fail> {
        Ok(1)
    }
    fn elsewhere(&self) -> Result<u32, Fail> {
        Ok(2)
    }
    fn either(&self) -> Result<u32, Fail> {
        Ok(3)
    }
    async fn arguments(&self, there: String, number: u32) -> Result<String, Fail> {
        pause().await;
        Ok(format!("{there}{number}"))
    }
    fn old(&self) -> Result<u32, Fail> {
        Ok(4)
    }
}

#[test]
fn conditions() {
    scoped(|registry| {
        let store = ResilientConditions::new(Store(1));
        assert!(store.here().is_ok() && store.elsewhere().is_ok() && store.either().is_ok());
        let text = block_on(store.arguments("a".into(), 1));
        assert_eq!(text.ok().as_deref(), Some("a1"));
        #[allow(deprecated)]
        let old = store.old();
        assert!(old.is_ok());
        assert_eq!(ids(registry), ["arguments", "here", "old", "other"]);
    });
}

#[allow(unsafe_code)]
mod unsafe_methods {
    use super::{Fail, Store, pause, resilient};

    #[resilient]
    #[allow(async_fn_in_trait)]
    pub(super) trait Raw {
        /// # Safety
        ///
        /// The pointer is valid.
        #[adaptive_limit(name = "raw")]
        unsafe fn read(&self, value: *const u32) -> Result<u32, Fail>;
        /// # Safety
        ///
        /// The pointer is valid.
        #[adaptive_limit(name = "raw")]
        async unsafe fn read_later(&self, value: *const u32) -> Result<u32, Fail>;
        #[adaptive_limit(name = "raw", rejected = super::zero)]
        extern "C" fn foreign(&self) -> u32;
    }

    impl Raw for Store {
        unsafe fn read(&self, value: *const u32) -> Result<u32, Fail> {
            // SAFETY: the caller says so.
            Ok(unsafe { *value })
        }
        async unsafe fn read_later(&self, value: *const u32) -> Result<u32, Fail> {
            pause().await;
            // SAFETY: the caller says so.
            Ok(unsafe { *value })
        }
        extern "C" fn foreign(&self) -> u32 {
            3
        }
    }
}

fn zero(_: resilience::Error) -> u32 {
    0
}

#[test]
fn unsafe_and_foreign_methods() {
    use unsafe_methods::Raw as _;
    scoped(|registry| {
        let raw = unsafe_methods::ResilientRaw::new(Store(1));
        // SAFETY: the pointers are references.
        #[allow(unsafe_code)]
        let read = unsafe { (raw.read(&7), block_on(raw.read_later(&8))) };
        assert_eq!((read.0.ok(), read.1.ok()), (Some(7), Some(8)));
        assert_eq!(raw.foreign(), 3);
        assert_eq!(only(registry).succeeded, 3);
    });
}

macro_rules! make {
    ($vis:vis, $trait:ident, $ty:ty, $e:expr, $arg:ident) => {
        #[resilient]
        $vis trait $trait {
            const FOUR: u32 = $e * 2;

            #[adaptive_limit(name = "made", initial_limit = $e)]
            fn made(&self, $arg: &$ty) -> Result<u32, Fail> {
                let _ = format!("{:?}", $arg);
                Ok($e * 2)
            }
        }
    };
}

make!(pub(crate), Made, dyn Debug + Send, 1 + 1, it);

macro_rules! make_alike {
    ($number:ident) => {
        #[resilient]
        trait Alike {
            #[adaptive_limit(name = "made")]
            fn sum(&self, number: u32, $number: &u32) -> Result<u32, Fail> {
                Ok(10 * number + $number)
            }

            // Without a body the compiler does not mind.
            fn twice(&self, number: u32, number: u32) -> u32;
        }
    };
}

make_alike!(number);

impl Alike for Store {
    fn twice(&self, number: u32, other: u32) -> u32 {
        10 * number + other
    }
}

#[test]
fn arguments_of_one_name() {
    scoped(|registry| {
        let alike = ResilientAlike::new(Store(1));
        assert_eq!(alike.sum(1, &2).ok(), Some(12));
        assert_eq!(alike.twice(3, 4), 34);
        assert_eq!(only(registry).succeeded, 1);
    });
}

impl Made for Store {}

#[test]
fn what_a_macro_hands_on_stays_together() {
    scoped(|registry| {
        let made = ResilientMade::new(Store(1));
        assert_eq!(made.made(&1).ok(), Some(4));
        assert_eq!(<ResilientMade<Store> as Made>::FOUR, 4);
        let limit = registry.adaptive_limit("made").expect("called");
        assert_eq!(limit.snapshot().initial_limit, 2);
    });
}

#[test]
fn in_the_body_of_a_fn() {
    #[resilient]
    trait Inner {
        #[adaptive_limit]
        fn call(&self) -> Result<u32, Fail>;
    }
    impl Inner for () {
        fn call(&self) -> Result<u32, Fail> {
            Ok(1)
        }
    }
    scoped(|registry| {
        assert!(ResilientInner::new(()).call().is_ok());
        assert_eq!(only(registry).succeeded, 1);
    });
}
