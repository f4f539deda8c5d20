//! The attribute on a whole `impl` block.
#![allow(clippy::unused_self, reason = "the methods are there to be limited")]

use std::fmt::Debug;
use std::pin::Pin;

use resilience::adaptive_limit;
use resilience::registry::Registry;

use crate::support::{Fail, block_on, counters, fill, only, pause, scoped};

/// The ids of all limits, in order.
fn ids(registry: &Registry) -> Vec<String> {
    let limits = registry.snapshot().limits;
    limits.iter().map(|limit| limit.id.to_string()).collect()
}

struct Store {
    rows: Vec<u32>,
}

#[adaptive_limit(initial_limit = 3, min_limit = Least::MIN)]
impl Store {
    const FIRST: usize = { 0 };

    #[adaptive_limit(skip)]
    const fn new(rows: Vec<u32>) -> Self {
        Self { rows }
    }

    /// Is documented.
    fn get(&self, at: usize) -> Result<u32, Fail> {
        self.rows.get(at).copied().ok_or(Fail::Status(404))
    }

    pub(crate) async fn get_later(&self, mut at: usize) -> Result<&u32, Fail> {
        pause().await;
        at += Self::FIRST;
        self.rows.get(at).ok_or(Fail::Status(404))
    }

    #[adaptive_limit(name = "own", rejected = none)]
    fn first(&self) -> Option<u32> {
        self.rows.first().copied()
    }

    #[resilience::adaptive_limit(skip)]
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn fixed(&self, pair: Fixed<{ 1 + 1 }>) -> Result<Fixed<{ 1 + 1 }>, Fail>
    where
        Fixed<{ 1 + 1 }>: Sized,
    {
        Ok(pair)
    }

    #[cfg(any())]
    fn absent(&self) -> Nowhere {}
}

struct Fixed<const N: usize>([u32; N]);

#[adaptive_limit]
impl<const N: usize> Fixed<{ N }> {
    fn sum(&self) -> Result<u32, Fail> {
        Ok(self.0.iter().sum())
    }
}

struct Least;

impl Least {
    const MIN: u32 = 2;
}

fn none<T>(_: resilience::Error) -> Option<T> {
    None
}

#[test]
fn every_method_has_a_limit_of_its_own() {
    scoped(|registry| {
        let store = Store::new(vec![1, 2]);
        assert_eq!(store.get(1).ok(), Some(2));
        assert_eq!(block_on(store.get_later(0)).ok(), Some(&1));
        assert!(
            store
                .fixed(Fixed([1, 2]))
                .is_ok_and(|pair| pair.0 == [1, 2])
        );
        assert_eq!(
            ids(registry),
            [
                "attribute::blocks::Store::fixed",
                "attribute::blocks::Store::get",
                "attribute::blocks::Store::get_later",
            ]
        );
        for limit in registry.snapshot().limits {
            assert_eq!((limit.initial_limit, limit.min_limit), (3, 2));
        }
        let permits = fill(registry, "attribute::blocks::Store::get");
        assert_eq!(permits.len(), 3);
        assert!(store.get(1).is_err_and(|error| error.is_rejection()));
        assert!(block_on(store.get_later(0)).is_ok());
    });
}

#[test]
fn a_block_of_a_type_with_braces_in_its_name() {
    scoped(|registry| {
        assert_eq!(Fixed([1, 2]).sum().ok(), Some(3));
        assert_eq!(Fixed([1, 2, 3]).sum().ok(), Some(6));
        assert_eq!(only(registry).succeeded, 2);
    });
}

#[test]
fn a_methods_own_attribute_wins_whole() {
    scoped(|registry| {
        let store = Store::new(vec![1, 2]);
        assert_eq!(store.first(), Some(1));
        let limit = registry.adaptive_limit("own").expect("called").snapshot();
        assert_eq!((limit.initial_limit, limit.min_limit), (20, 1));
        assert_eq!(only(registry).admitted, 1);
        let _permits = fill(registry, "own");
        assert_eq!(store.first(), None);
    });
}

#[test]
fn a_skipped_method_has_no_limit() {
    scoped(|registry| {
        assert_eq!(Store::new(vec![1, 2]).len(), 2);
        assert!(ids(registry).is_empty());
    });
}

struct Partner;

#[adaptive_limit(name = "partner", drop_on = [Fail::Status(503)], drop_if = is_full)]
impl Partner {
    fn ask(&self, status: u16) -> Result<u32, Fail> {
        Err(Fail::Status(status))
    }

    async fn ask_later(self, answer: u32) -> Result<u32, Fail> {
        pause().await;
        Ok(answer)
    }
}

fn is_full(output: &Result<u32, Fail>) -> bool {
    matches!(output, Ok(0))
}

#[test]
fn the_methods_share_a_limit_by_name() {
    scoped(|registry| {
        assert!(Partner.ask(503).is_err());
        assert!(Partner.ask(404).is_err());
        assert_eq!(block_on(Partner.ask_later(0)).ok(), Some(0));
        assert_eq!(block_on(Partner.ask_later(1)).ok(), Some(1));
        let counted = only(registry);
        assert_eq!(
            (
                counted.admitted,
                counted.dropped,
                counted.ignored,
                counted.succeeded
            ),
            (4, 2, 1, 1)
        );
    });
}

struct Mirror;

const MIRRORED: u32 = line!() + 4;

#[adaptive_limit(name = "partner", max_limit = 7)]
impl Mirror {
    fn ask(&self) -> Result<u32, Fail> {
        Ok(1)
    }
}

#[test]
fn a_limits_place_is_the_methods() {
    scoped(|_| {
        assert!(Partner.ask(404).is_err());
        let error = Mirror.ask().expect_err("other settings under one name");
        let place = format!("blocks.rs:{MIRRORED}:8");
        assert!(error.to_string().contains(&place), "{error}");
    });
}

trait Call {
    type Answer;
    const NAME: &'static str;
    fn call(&self) -> Result<Self::Answer, Fail>;
    #[allow(async_fn_in_trait)]
    async fn call_later(self) -> Result<Self::Answer, Fail>;
}

struct Wrapped<T>(Vec<T>);

#[adaptive_limit]
impl<T> Call for Wrapped<T>
where
    T: Clone + Debug,
{
    type Answer = T;
    const NAME: &'static str = "wrapped";

    fn call(&self) -> Result<T, Fail> {
        self.0.first().cloned().ok_or(Fail::Text)
    }

    async fn call_later(self) -> Result<T, Fail> {
        pause().await;
        self.0.last().cloned().ok_or(Fail::Text)
    }
}

#[adaptive_limit()]
impl Call for u32 {
    type Answer = u32;
    const NAME: &'static str = "u32";

    fn call(&self) -> Result<u32, Fail> {
        Ok(*self)
    }

    async fn call_later(self) -> Result<u32, Fail> {
        Ok(self)
    }
}

#[test]
fn impls_of_one_trait_are_told_apart_and_the_instances_of_one_impl_are_not() {
    scoped(|registry| {
        assert_eq!(Wrapped(vec![1, 2]).call().ok(), Some(1));
        assert_eq!(Wrapped(vec!["a"]).call().ok(), Some("a"));
        assert_eq!(block_on(Wrapped(vec![1, 2]).call_later()).ok(), Some(2));
        assert_eq!(7.call().ok(), Some(7));
        assert_eq!(block_on(7.call_later()).ok(), Some(7));
        assert_eq!((Wrapped::<u8>::NAME, u32::NAME), ("wrapped", "u32"));
        assert_eq!(
            ids(registry),
            [
                "<attribute::blocks::Wrapped<_> as attribute::blocks::Call>::call",
                "<attribute::blocks::Wrapped<_> as attribute::blocks::Call>::call_later",
                "<u32 as attribute::blocks::Call>::call",
                "<u32 as attribute::blocks::Call>::call_later",
            ]
        );
    });
}

#[allow(unsafe_code)]
mod unsafe_impl {
    use super::{Fail, adaptive_limit};

    /// # Safety
    ///
    /// Nothing is asked for.
    pub(super) unsafe trait Raw {
        /// # Safety
        ///
        /// The pointer is valid.
        unsafe fn read(value: *const u32) -> Result<u32, Fail>;
    }

    #[adaptive_limit]
    // SAFETY: nothing is asked for.
    unsafe impl Raw for () {
        unsafe fn read(value: *const u32) -> Result<u32, Fail> {
            // SAFETY: the caller says so.
            Ok(unsafe { *value })
        }
    }
}

#[test]
fn unsafe_impls() {
    use unsafe_impl::Raw as _;
    scoped(|registry| {
        // SAFETY: the pointer is a reference.
        #[allow(unsafe_code)]
        let value = unsafe { <()>::read(&7) };
        assert_eq!(value.ok(), Some(7));
        assert_eq!(only(registry).succeeded, 1);
    });
}

#[async_trait::async_trait]
trait Fetch {
    async fn fetch(&self, id: u32) -> Result<u32, Fail>;
    async fn store(&mut self, id: u32) -> Result<(), Fail>;
    fn count(&self) -> usize;
}

struct Above(u32);

#[async_trait::async_trait]
#[adaptive_limit]
impl Fetch for Above {
    async fn fetch(&self, mut id: u32) -> Result<u32, Fail> {
        pause().await;
        id += self.0;
        Ok(id)
    }

    #[adaptive_limit(name = "store")]
    async fn store(&mut self, id: u32) -> Result<(), Fail> {
        self.0 = id;
        Ok(())
    }

    #[adaptive_limit(skip)]
    fn count(&self) -> usize {
        1
    }
}

struct Below(u32);

#[adaptive_limit]
#[async_trait::async_trait]
impl Fetch for Below {
    async fn fetch(&self, mut id: u32) -> Result<u32, Fail> {
        pause().await;
        id += self.0;
        Ok(id)
    }

    #[adaptive_limit(name = "store")]
    async fn store(&mut self, id: u32) -> Result<(), Fail> {
        self.0 = id;
        Ok(())
    }

    #[adaptive_limit(skip)]
    fn count(&self) -> usize {
        1
    }
}

#[test]
fn async_trait_above_and_below() {
    let mut above = Above(1);
    let mut below = Below(1);
    for (fetch, name) in [
        (&mut above as &mut dyn Fetch, "Above"),
        (&mut below, "Below"),
    ] {
        scoped(|registry| {
            let id = format!("<attribute::blocks::{name} as attribute::blocks::Fetch>::fetch");
            let future = fetch.fetch(7);
            assert!(ids(registry).iter().all(|known| *known == id));
            assert_eq!(block_on(future).ok(), Some(8));
            assert!(block_on(fetch.store(1)).is_ok());
            assert_eq!(fetch.count(), 1);
            assert_eq!(ids(registry), [id.as_str(), "store"]);
            let _permits = fill(registry, &id);
            // The future is limited, not its making.
            let rejected = fetch.fetch(7);
            assert!(block_on(rejected).is_err_and(|error| error.is_rejection()));
            assert_eq!(counters(registry, &id).succeeded, 1);
        });
    }
}

struct Client {
    registry: Registry,
}

#[adaptive_limit(registry = self.registry, rejected = nobody)]
impl Client {
    #![allow(dead_code)]

    fn count(&self) -> u32 {
        1
    }

    fn count_later(&self) -> impl Future<Output = u32> + '_ {
        async { self.count() }
    }

    fn count_boxed(&self) -> Pin<Box<dyn Future<Output = u32> + '_>> {
        Box::pin(async move { self.count() })
    }
}

fn nobody(_: resilience::Error) -> u32 {
    0
}

#[test]
fn options_go_to_every_method() {
    let client = Client {
        registry: Registry::new(),
    };
    assert_eq!(client.count(), 1);
    assert_eq!(block_on(client.count_later()), 1);
    assert_eq!(block_on(client.count_boxed()), 1);
    assert_eq!(client.registry.snapshot().limits.len(), 3);
    let _permits = fill(&client.registry, "attribute::blocks::Client::count_boxed");
    assert_eq!(block_on(client.count_boxed()), 0);
}

mod reexport {
    pub(crate) use resilience as limits;
}

struct Renamed;

#[adaptive_limit(crate = self::reexport::limits)]
impl Renamed {
    fn call(&self) -> Result<u32, Fail> {
        Ok(1)
    }

    #[reexport::limits::adaptive_limit(name = "renamed")]
    fn named(&self) -> Result<u32, Fail> {
        Ok(1)
    }

    #[self::reexport::limits::adaptive_limit(skip)]
    fn skipped(&self) -> u32 {
        1
    }

    #[cfg_attr(all(), inline, adaptive_limit(skip))]
    fn skipped_here(&self) -> u32 {
        1
    }

    #[cfg_attr(all(), adaptive_limit(skip))]
    const fn constant_skipped_here() -> u32 {
        1
    }

    #[cfg(any())]
    const fn constant_that_is_absent() {}

    #[cfg_attr(any(), adaptive_limit(skip))]
    fn skipped_elsewhere(&self) -> Result<u32, Fail> {
        Ok(1)
    }

    #[cfg_attr(all(), adaptive_limit(name = "here"))]
    fn named_here(&self) -> Result<u32, Fail> {
        Ok(1)
    }
}

#[test]
fn attributes_through_a_path_and_under_conditions() {
    scoped(|registry| {
        assert_eq!(Renamed.call().ok(), Some(1));
        assert_eq!(Renamed.skipped() + Renamed.skipped_here(), 2);
        assert_eq!(Renamed::constant_skipped_here(), 1);
        assert!(Renamed.skipped_elsewhere().is_ok());
        assert!(Renamed.named_here().is_ok());
        assert_eq!(
            ids(registry),
            [
                "attribute::blocks::Renamed::call",
                "attribute::blocks::Renamed::skipped_elsewhere",
                "here",
            ]
        );
        assert!(Renamed.named().is_ok());
        assert_eq!(counters(registry, "renamed").succeeded, 1);
    });
}

use resilience as other;

struct Aliased;

#[adaptive_limit]
impl Aliased {
    #[other::adaptive_limit(name = "aliased")]
    fn call(&self) -> Result<u32, Fail> {
        Ok(1)
    }

    #[self::reexport::limits::adaptive_limit(skip)]
    fn skipped(&self) -> u32 {
        1
    }
}

#[test]
fn attributes_through_any_path() {
    scoped(|registry| {
        assert_eq!(Aliased.call().ok(), Some(Aliased.skipped()));
        assert_eq!(ids(registry), ["aliased"]);
        assert_eq!(only(registry).succeeded, 1);
    });
}

macro_rules! answers {
    () => {
        fn answer(&self) -> u32 {
            Self::DOUBLE
        }
    };
}

macro_rules! make {
    ($type:ty, $trait:path, $arg:ident: $of:ty, $e:expr, $vis:vis, $name:ident, $body:block) => {
        #[adaptive_limit(initial_limit = $e)]
        impl $type {
            const DOUBLE: u32 = $e * 2;

            $vis fn $name($arg: &$of) -> Result<u32, Fail> {
                let _ = format!("{:?}", $arg);
                Ok($e * 2)
            }

            fn block(&self) -> Result<u32, Fail> $body

            answers! {}
        }

        #[adaptive_limit]
        impl $trait for $type {
            type Answer = $type;
            const NAME: &'static str = stringify!($name);
            fn call(&self) -> Result<$type, Fail> {
                Ok(Made)
            }
            async fn call_later(self) -> Result<$type, Fail> {
                Ok(self)
            }
        }
    };
}

#[derive(Debug)]
struct Made;

const TWO: u32 = 2;

make!(Made, self::Call, it: dyn Debug + Send, TWO + 1, pub(crate), doubled, { Ok(4) });

#[test]
fn what_a_macro_hands_on_stays_together() {
    scoped(|registry| {
        assert_eq!(Made::DOUBLE, 6);
        assert_eq!(Made::doubled(&"a").ok(), Some(6));
        assert_eq!(Made.block().ok(), Some(4));
        assert_eq!(Made.answer(), 6);
        assert!(Made.call().is_ok());
        assert!(block_on(Made.call_later()).is_ok());
        assert_eq!(Made::NAME, "doubled");
        assert_eq!(ids(registry).len(), 4);
    });
}

#[test]
fn in_the_body_of_a_fn() {
    struct Local;
    #[adaptive_limit]
    impl Local {
        fn call() -> Result<u32, Fail> {
            Ok(line!())
        }
    }
    scoped(|registry| {
        assert!(Local::call().is_ok());
        assert_eq!(only(registry).succeeded, 1);
    });
}
