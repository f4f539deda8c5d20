//! A call under a limit allocates nothing.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use resilience::adaptive_limit;
use resilience::registry::Registry;
use resilience_tests::allocations::{Counting, count};
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
