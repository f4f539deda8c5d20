//! A call under a limit allocates nothing.

use std::hint::black_box;

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
