//! That all of it runs, and is limited.

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hygiene_2021::renamed::{self, Client, Store as _};
use hygiene_2021::{edition, reexported};
use limits::registry::Registry;

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
    assert!(snapshot
        .limits
        .iter()
        .all(|limit| limit.counters.admitted > 0));
}

#[test]
fn under_another_name() {
    scoped(17, || {
        assert_eq!(renamed::sync("7").unwrap(), 7);
        assert!(renamed::sync("?").is_err());
        assert_eq!(renamed::with_options("a").unwrap(), "a");
        assert_eq!(
            now(renamed::asynchronous("7".to_owned(), 1, Vec::new())).unwrap(),
            8
        );
        assert_eq!(*renamed::generic(&[1, 2], |item| *item > 1).unwrap(), 2);
        assert!(renamed::any_error::<limits::Error>(None).is_ok());
        assert_eq!(renamed::optional(1), Some(0));
        renamed::unit();
        assert_eq!(now(renamed::detached(&String::from("ab"))).unwrap(), 2);
        assert_eq!(
            now(renamed::detached_early(&String::from("ab"))).unwrap(),
            2
        );
        assert_eq!(now(renamed::attached("ab")).unwrap(), 2);
        assert_eq!(now(renamed::boxed("ab")).unwrap(), 2);
        assert_eq!(now(renamed::boxed_elsewhere("ab")).unwrap(), 2);
        let store = vec!["a".to_owned()];
        assert_eq!(store.read(0).unwrap(), "a");
        assert_eq!(store.read_or(1, "b").unwrap(), "b");
        assert_eq!(now(store.read_later(0)).unwrap(), "a");
        let mut client = Client::default();
        *client.count().unwrap() += 1;
        assert_eq!(now(client.finish()).unwrap(), 3);
    });
}

#[test]
fn by_a_delegate() {
    use hygiene_2021::delegate::{self, Orders as _, ResilientOrders, Store};
    scoped(5, || {
        let mut orders = ResilientOrders::new(Store);
        assert_eq!(orders.find(1, "").unwrap(), "1");
        assert_eq!(orders.any::<_, 2>("a", (1, 2)).unwrap(), "a");
        assert_eq!(now(orders.later(1)).unwrap(), 1);
        assert_eq!(now(orders.boxed()).unwrap(), 1);
        assert!(orders.another(&orders).is_ok());
        #[allow(deprecated)]
        let old = orders.old_count(1);
        assert_eq!(old, 2);
        now(delegate::read()).unwrap();
    });
}

#[test]
fn by_way_of_a_reexport() {
    scoped(4, || {
        assert_eq!(reexported::sync(1).unwrap(), 1);
        assert_eq!(now(reexported::asynchronous(1)).unwrap(), 1);
        assert_eq!(reexported::deeper(1).unwrap(), 1);
        assert_eq!(reexported::by_a_macro(1).unwrap(), 1);
    });
}

#[test]
fn in_the_edition_before() {
    scoped(7, || {
        assert_eq!(edition::reserved(1).unwrap(), 1);
        assert_eq!(
            now(edition::reserved_later(Vec::new(), String::new())).unwrap(),
            1
        );
        assert_eq!(edition::gen(1).unwrap(), 1);
        assert_eq!(
            now(edition::last_expression(RefCell::default())).unwrap(),
            0
        );
        assert_eq!(edition::made().unwrap(), 10);
        assert!(std::panic::catch_unwind(|| edition::never(1)).is_err());
        assert!(std::panic::catch_unwind(|| now(edition::never_later(1))).is_err());
    });
}

mod unsafe_body {
    use limits::adaptive_limit;

    /// The whole body of an `unsafe fn` is unsafe in this edition, be it put elsewhere.
    #[adaptive_limit(crate = limits)]
    pub(super) unsafe fn read(number: *const u32) -> Result<u32, limits::Error> {
        Ok(*number)
    }

    #[adaptive_limit(crate = limits)]
    pub(super) async unsafe fn read_later(number: *const u32) -> Result<u32, limits::Error> {
        Ok(*number)
    }
}

#[test]
fn unsafe_fns_of_the_edition_before() {
    scoped(2, || {
        let number = 7;
        // SAFETY: the pointers are of a reference.
        let read = unsafe {
            (
                unsafe_body::read(&number),
                now(unsafe_body::read_later(&number)),
            )
        };
        assert_eq!((read.0.unwrap(), read.1.unwrap()), (7, 7));
    });
}
