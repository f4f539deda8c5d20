//! That the fns of the library run.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hygiene_2024::names::Calls as _;
use hygiene_2024::{fragments, names};
use resilience::registry::Registry;

/// The futures here are ready at once.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}

/// Runs a test in a registry of its own, which then has this many limits, each of which was called.
fn scoped(limits: usize, test: impl FnOnce()) {
    let registry = Registry::new();
    registry.scope(test);
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.limits.len(), limits, "{snapshot:?}");
    assert!(
        snapshot
            .limits
            .iter()
            .all(|limit| limit.counters.admitted > 0)
    );
}

#[test]
fn among_names_like_its_own() {
    scoped(12, || {
        let text = || String::from("a");
        assert_eq!(names::sync(1, 2, 3, 4, 5, 6, 7, 8, 9).unwrap(), 45);
        let later = names::asynchronous(text(), 1, text(), text(), 2, text(), 3, text(), 4);
        assert_eq!(now(later).unwrap(), 15);
        let made = names::generic(|| Ok::<_, resilience::Error>(1), None::<(u8, u8)>);
        assert_eq!(made.unwrap(), 1);
        assert_eq!(now(names::generic_later(async { 1 })), Some(1));
        assert_eq!(now(names::future("ab")).unwrap(), 2);
        assert_eq!(now(names::boxed("ab")).unwrap(), 2);
        assert_eq!(now(names::boxes::boxed("ab")).unwrap(), 2);
        assert_eq!(names::Box.resolve(), 1);
        assert_eq!(names::Box.named(1).unwrap(), 2);
        assert_eq!(now(names::Box.poll(1)).unwrap(), 2);
        assert_eq!(now(Box::new(names::Box).pin(1)).unwrap(), 2);
        assert_eq!(now(names::raw(text(), text(), 1)).unwrap(), 4);
    });
}

#[test]
fn by_a_delegate_among_such_names() {
    use hygiene_2024::names::{Implementor, ResilientT, T};
    scoped(4, || {
        let mut delegate = ResilientT::new(Implementor(1));
        assert_eq!(delegate.sync(1, String::from("a"), 1).unwrap(), 4);
        assert_eq!(now(delegate.boxed(1)).unwrap(), 2);
        let other = <ResilientT<Implementor> as T<String>>::whole(1, 2);
        let optional = delegate.optional(&other).unwrap();
        assert_eq!(optional.inner().0, 4);
        assert_eq!(Box::new(optional.clone()).taken(), 4);
        let later = now(optional.asynchronous(1, String::new())).unwrap();
        assert_eq!(later.into_inner().0, 5);
    });
}

#[test]
fn made_of_fragments() {
    scoped(14, || {
        assert_eq!(fragments::block().unwrap(), 3);
        assert_eq!(now(fragments::block_later()).unwrap(), 3);
        assert_eq!(fragments::expression().unwrap(), 6);
        assert_eq!(now(fragments::expression_later()).unwrap(), 6);
        assert_eq!(fragments::apart(2).unwrap(), 104);
        assert_eq!(now(fragments::apart_later(1, vec![0])).unwrap(), 104);
        assert_eq!(fragments::whole(1).unwrap(), 1);
        assert_eq!(fragments::types(("a", 1)).unwrap(), ("a", 1));
        assert_eq!(now(fragments::later::types(("a", 1))).unwrap(), ("a", 1));
        assert_eq!(now(fragments::options()).unwrap(), 1);
        assert_eq!(fragments::paths(), Some(1));
        assert_eq!(fragments::Client(1).sync(2).unwrap(), 3);
        assert_eq!(now(fragments::Client(1).future(2)).unwrap(), 3);
        assert_eq!(now(fragments::Client(1).later(2)).unwrap(), 5);
    });
}

#[test]
fn constants_in_lower_case_and_methods_of_everything() {
    use hygiene_2024::lowercase::{by_a_fn, plain};
    assert_eq!(plain().unwrap(), 6);
    assert_eq!(by_a_fn().unwrap(), 1);
}
