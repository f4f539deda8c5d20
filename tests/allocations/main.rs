//! A call under a limit allocates nothing.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use resilience::{Outcome, adaptive_limit};
use resilience_tests::allocations::{Counting, count, kept};
use resilience_tests::calls;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of 1000 calls on a thread that has made one before.
fn of_1000_calls(call: impl Fn()) -> u64 {
    call();
    count(|| (0..1000).for_each(|_| call()))
}

#[test]
fn the_count_counts() {
    assert_eq!(of_1000_calls(|| drop(black_box(Box::new(7)))), 1000);
}

#[test]
fn an_admitted_sync_call_allocates_nothing() {
    let allocations = of_1000_calls(|| assert_eq!(calls::admitted(7).ok(), Some(7)));
    assert_eq!(allocations, 0);
}

#[test]
fn an_admitted_async_call_allocates_nothing_beyond_the_callers_own_future() {
    let allocations = of_1000_calls(|| assert_eq!(calls::poll_admitted_async(7).ok(), Some(7)));
    assert_eq!(allocations, 0);
}

#[test]
fn a_rejection_allocates_nothing() {
    let _slot = calls::fill();
    let allocations = of_1000_calls(|| {
        assert!(matches!(
            calls::rejected(7),
            Err(calls::CallError::Rejected(error)) if error.is_limit_exceeded()
        ));
    });
    assert_eq!(allocations, 0);
}

#[async_trait::async_trait]
trait Find {
    async fn find(&self, key: u64) -> Result<u64, calls::CallError>;
}

struct Above;

#[adaptive_limit]
#[async_trait::async_trait]
impl Find for Above {
    async fn find(&self, key: u64) -> Result<u64, calls::CallError> {
        Ok(black_box(key))
    }
}

struct Below;

#[async_trait::async_trait]
#[adaptive_limit]
impl Find for Below {
    async fn find(&self, key: u64) -> Result<u64, calls::CallError> {
        Ok(black_box(key))
    }
}

#[test]
fn a_limited_block_under_async_trait_allocates_the_futures_box_alone() {
    for find in [&Above as &dyn Find, &Below] {
        let allocations = of_1000_calls(|| {
            let polled = find
                .find(7)
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Ready(Ok(7))));
        });
        assert_eq!(allocations, 1000);
    }
}

#[resilience::resilient]
trait Read {
    #[adaptive_limit]
    fn read(&self, key: u64) -> Result<u64, calls::CallError>;

    #[adaptive_limit]
    fn read_later(&self, key: u64) -> impl Future<Output = Result<u64, calls::CallError>> + Send;
}

impl Read for Above {
    fn read(&self, key: u64) -> Result<u64, calls::CallError> {
        Ok(black_box(key))
    }

    async fn read_later(&self, key: u64) -> Result<u64, calls::CallError> {
        Ok(black_box(key))
    }
}

#[test]
fn a_delegate_allocates_nothing_in_any_registry() {
    let registries = [Registry::new(), Registry::new()];
    let given = registries
        .iter()
        .map(|registry| ResilientRead::with_registry(Above, registry));
    for read in given.chain([ResilientRead::new(Above)]) {
        let allocations = of_1000_calls(|| {
            assert_eq!(read.read(7).ok(), Some(7));
            let mut future = pin!(read.read_later(7));
            let polled = future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Ready(Ok(7))));
        });
        assert_eq!(allocations, 0);
    }
}

mod kinds {
    use resilience::limit::LimitConfig;
    use resilience::registry::Registry;
    use resilience::{Error, adaptive_limit};

    #[adaptive_limit(name = "kinds", registry = registry)]
    pub(crate) fn by_default(registry: &Registry, fails: bool) -> Result<(), Error> {
        run(fails)
    }

    #[adaptive_limit(name = "kinds", registry = registry, drop_on = [_])]
    pub(crate) fn with_patterns(registry: &Registry, fails: bool) -> Result<(), Error> {
        run(fails)
    }

    pub(crate) fn run(fails: bool) -> Result<(), Error> {
        let failure = || Err(Error::timed_out("kinds", std::time::Duration::ZERO));
        if fails { failure() } else { Ok(()) }
    }

    /// Kinds that are chosen for all limits, or for the one and so over patterns.
    pub(crate) fn registries() -> [Registry; 2] {
        ["defaults", "instances.kinds"].map(|section| {
            let key = format!("{section}.adaptiveLimit.dropOn");
            let values = move || Ok::<_, Error>([(key.clone(), "timeout, limit-exceeded")]);
            let builder = Registry::builder().defaults(LimitConfig::new().min_limit(20));
            builder.values("kinds", values).build().unwrap()
        })
    }
}

#[test]
fn a_call_allocates_nothing_for_the_kinds_that_its_settings_name() {
    // The first that is named keeps its instance at the call site, as in production.
    let [first, second] = kinds::registries();
    for (call, registry) in [
        (kinds::by_default as fn(&_, _) -> _, &first),
        (kinds::with_patterns, &second),
    ] {
        for fails in [false, true] {
            // What the body's own error costs.
            let own = of_1000_calls(|| drop(kinds::run(fails)));
            assert_eq!(
                of_1000_calls(|| drop(call(registry, fails))),
                own,
                "{fails}"
            );
        }
    }
}

#[test]
fn a_snapshot_of_100_000_limits_is_one_list_of_what_it_shows() {
    const LIMITS: usize = 100_000;
    let registry = Registry::new();
    registry.register("tenant", LimitConfig::new()).unwrap();
    let tenants = registry.keyed("tenant", LIMITS).unwrap();
    let ((), bytes) = kept(|| {
        for key in 0..LIMITS {
            let limit = tenants.get(&key.to_string()).unwrap();
            limit.try_acquire().unwrap().complete(Outcome::Success);
        }
    });
    // About what the documentation says.
    let each = bytes / LIMITS as i64;
    assert!(each < 4100, "a limit takes {each} bytes");

    let mut snapshot = None;
    let mut allocations = 0;
    let ((), bytes) = kept(|| allocations = count(|| snapshot = Some(registry.snapshot())));
    let shown = snapshot.as_ref().unwrap().limits.len();
    assert_eq!(shown, LIMITS + 1);
    let each = bytes / LIMITS as i64;
    assert!(each < 400, "the snapshot of a limit takes {each} bytes");
    assert!(allocations < 100, "{allocations} allocations");
}
