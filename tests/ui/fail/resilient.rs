//! Mistakes under `#[resilient]`. The delegate is there all the same, so that only the mistakes are told.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use resilience::registry::Registry;
use resilience::{Error, resilient};

// All mistakes of a trait, at once.
#[resilient(crate = ::resilience, name = "orders", vis = "pub")]
trait Orders {
    #[adaptive_limit(max_limit = 0, nmae = "a")]
    fn find(&self) -> Result<u32, Error>;

    #[adaptive_limit(registry = self.registry)]
    fn placed(&self) -> Result<u32, Error>;

    #[adaptive_limit(skip)]
    fn skipped(&self) -> u32;

    #[adaptive_limit]
    #[adaptive_limit(name = "twice")]
    fn twice(&self) -> Result<u32, Error>;

    #[adaptive_limit]
    fn forever(&self) -> !;

    #[adaptive_limit]
    const MOST: u32 = 1;

    #[adaptive_limit]
    type Row;
}

#[resilient]
trait Receivers {
    #[adaptive_limit]
    fn shared(self: Arc<Self>) -> Result<u32, Error>;

    #[adaptive_limit]
    fn counted(self: Rc<Self>) -> Result<u32, Error>;

    fn pinned(self: Pin<&mut Self>) -> u32;

    fn boxed(self: Pin<Box<Self>>) -> u32;

    async fn later(self: Arc<Self>) -> u32;
}

#[resilient]
trait Selfs: Sized {
    const EMPTY: Self;

    #[adaptive_limit]
    fn all(&self, others: &[Self]) -> Result<u32, Error>;

    #[adaptive_limit]
    fn several(&self) -> Result<Vec<Self>, Error>;

    fn chained(&mut self) -> &mut Self;

    fn with(&self, with: impl Fn(&Self) -> u32) -> u32;

    fn made<F: From<Self>>(self) -> F;

    fn compared<O>(&self, other: &O) -> bool
    where
        Self: PartialEq<O>;
}

trait First {
    type Row;
}

trait Second {}

#[resilient]
trait Outputs: First + Second {
    #[adaptive_limit]
    fn inherited(&self) -> Result<Self::Row, Error>;

    #[adaptive_limit(rejected = nobody)]
    fn rows(&self) -> impl Iterator<Item = u32>;
}

// What the compiler says by itself is said once.
#[resilient]
trait Qualified {
    #[adaptive_limit]
    pub fn public(&self) -> Result<u32, Error>;

    const fn constant(&self) -> u32;
}

// What is named of them, the expansion would name without the condition.
#[resilient]
trait Parameters<#[cfg(unix)] K, #[cfg(not(unix))] L> {
    type Row<#[cfg(unix)] 'a>;

    #[adaptive_limit]
    fn find<#[cfg(unix)] 'a, #[cfg(unix)] const N: usize>(&self) -> Result<u32, Error>;
}

#[resilient]
trait TypesOfSelf: Sized {
    type Rows: Iterator<Item = Self>;
    type Row: From<Self> + Into<Self::Rows>;
    type Sum<K>: Clone
    where
        Self: From<K>;

    #[adaptive_limit]
    fn rows(&self) -> Result<Self::Rows, Error>;
}

// There would be nothing to do.
#[resilient]
trait Unlimited {
    fn call(&self) -> u32;
}

#[resilient]
unsafe trait Unsafe {
    #[adaptive_limit]
    fn call(&self) -> Result<u32, Error>;
}

macro_rules! methods {
    () => {
        fn made(&self) -> u32;
    };
}

#[resilient]
trait Macros {
    #[adaptive_limit]
    fn call(&self) -> Result<u32, Error>;

    methods! {}
}

#[resilient]
struct Struct;

#[resilient]
impl Struct {}

#[resilient]
fn function() {}

#[resilient]
const CONST: u32 = 1;

fn uses<T: Orders + Receivers + Selfs>(inner: T, registry: &Registry) -> T {
    let orders = ResilientOrders::new(inner);
    orders.find().unwrap();
    let receivers = ResilientReceivers::with_registry(orders.into_inner(), registry);
    let selfs = ResilientSelfs::new(receivers.into_inner());
    selfs.all(&[]).unwrap();
    selfs.into_inner()
}

fn main() {
    let _ = Struct;
    function();
    let _ = CONST;
}
