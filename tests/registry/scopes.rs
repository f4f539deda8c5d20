//! Which registry a call site uses.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use resilience::time::ManualClock;
use resilience::{Code, Error, adaptive_limit};

#[adaptive_limit(name = "scoped")]
fn scoped() -> Result<u32, Error> {
    Ok(1)
}

#[adaptive_limit(name = "scoped-async")]
async fn scoped_async() -> Result<u32, Error> {
    std::future::ready(1).await;
    Ok(1)
}

fn admitted(registry: &Registry, id: &str) -> Option<u64> {
    Some(
        registry
            .adaptive_limit(id)
            .ok()?
            .snapshot()
            .counters
            .admitted,
    )
}

#[test]
fn a_scope_takes_the_place_of_the_process_wide_registry_on_its_thread_and_ends() {
    let (outer, inner) = (Registry::new(), Registry::new());
    outer.scope(|| {
        scoped().unwrap();
        inner.scope(|| scoped().unwrap());
        std::thread::scope(|scope| {
            // Another thread is not in the scope.
            scope.spawn(|| scoped().unwrap());
        });
        scoped().unwrap();
    });
    assert_eq!(
        (admitted(&outer, "scoped"), admitted(&inner, "scoped")),
        (Some(2), Some(1))
    );
    let before = admitted(Registry::global(), "scoped").unwrap();
    scoped().unwrap();
    assert_eq!(admitted(Registry::global(), "scoped"), Some(before + 1));
}

#[test]
fn a_scope_ends_with_a_panic() {
    let registry = Registry::new();
    let panicked = std::panic::catch_unwind(|| registry.scope(|| panic!("the scope's own panic")));
    assert!(panicked.is_err());
    scoped().unwrap();
    assert_eq!(admitted(&registry, "scoped"), None);
}

#[test]
fn a_scoped_future_takes_its_registry_along_to_whatever_thread_polls_it() {
    let registry = Registry::new();
    let mut future = Box::pin(registry.scope_future(async {
        scoped_async().await.unwrap();
        let mut yielded = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut yielded, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        scoped_async().await.unwrap();
    }));
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    std::thread::spawn(move || {
        assert!(
            future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
        );
    })
    .join()
    .unwrap();
    assert_eq!(admitted(&registry, "scoped-async"), Some(2));
}

#[test]
fn an_attribute_may_name_its_registry() {
    struct Client {
        limits: Registry,
    }
    impl Client {
        #[adaptive_limit(name = "own", registry = self.limits, max_limit = 1)]
        async fn call(&self) -> Result<(), Error> {
            Ok(())
        }
    }
    // Two registries through one call site, the first of them kept by it.
    for _ in 0..2 {
        let client = Client {
            limits: Registry::new(),
        };
        for _ in 0..3 {
            let mut call = pin!(client.call());
            assert!(
                call.as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_ready()
            );
        }
        assert_eq!(admitted(&client.limits, "own"), Some(3));
    }
}

#[test]
fn the_process_wide_registry_cannot_be_replaced_once_it_is_used() {
    Registry::global();
    let error = Registry::new().install().unwrap_err();
    assert_eq!(error.code(), Code::GLOBAL_ALREADY_SET);
}

#[test]
fn a_call_site_whose_settings_differ_fails_with_both_places_and_leaves_the_first_alone() {
    #[adaptive_limit(name = "twice", max_limit = 30)]
    fn first() -> Result<(), Error> {
        Ok(())
    }
    #[adaptive_limit(name = "twice", max_limit = 40)]
    fn second() -> Result<(), Error> {
        panic!("must not run: its limit is not what it says")
    }
    first().unwrap();
    let error = second().unwrap_err();
    assert_eq!(error.code(), Code::SETTINGS_DIFFER);
    let text = error.to_string();
    assert_eq!(text.matches(file!()).count(), 2, "{text}");
    assert!(
        text.contains("`max_limit` is 30 there and 40 here"),
        "{text}"
    );
    first().unwrap();
    assert!(second().is_err());
}

#[test]
fn a_call_site_that_asks_for_an_unknown_config_fails_with_the_nearest() {
    #[adaptive_limit(config = "bakcend")]
    fn call() -> Result<(), Error> {
        Ok(())
    }
    let registry = Registry::builder()
        .config("backend", LimitConfig::new())
        .build()
        .unwrap();
    let error = registry.scope(|| call().unwrap_err());
    assert_eq!(error.code(), Code::UNKNOWN_CONFIG);
    assert!(
        error.to_string().contains("did you mean `backend`?"),
        "{error}"
    );
}

#[test]
fn a_destructor_of_an_ending_thread_may_enter_a_scope() {
    struct Late(Registry);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.scope(|| scoped().unwrap());
        }
    }
    thread_local!(static LATE: Cell<Option<Late>> = const { Cell::new(None) });
    let registry = Registry::new();
    let late = Late(registry.clone());
    std::thread::spawn(move || {
        let registry = late.0.clone();
        // What is made first is destroyed last, on most platforms.
        LATE.set(Some(late));
        registry.scope(|| scoped().unwrap());
    })
    .join()
    .unwrap();
    assert_eq!(admitted(&registry, "scoped"), Some(2));
}

#[test]
fn a_registry_tells_of_limits_that_are_made_after_the_subscription() {
    #[adaptive_limit(name = "watched", algorithm = "aimd", initial_limit = 3)]
    fn watched(clock: &ManualClock) -> Result<(), Error> {
        clock.advance(Duration::from_secs(1));
        Ok(())
    }
    let clock = ManualClock::new();
    let config = LimitConfig::new().min_window_samples(1);
    let registry = Registry::builder()
        .clock(clock.clone())
        .defaults(config)
        .build()
        .unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let noted = heard.clone();
    let subscription =
        registry.subscribe(move |event| noted.lock().unwrap().push(event.to_string()));
    registry.scope(|| {
        watched(&clock).unwrap();
        // Two of three slots in use: the limit grows.
        let limit = registry.adaptive_limit("watched").unwrap();
        let _one = limit.try_acquire().unwrap();
        watched(&clock).unwrap();
        drop(subscription);
        let _two = limit.try_acquire().unwrap();
        watched(&clock).unwrap();
        assert_eq!(limit.limit(), 5);
    });
    assert_eq!(
        *heard.lock().unwrap(),
        ["limit of `watched` from 3 to 4: no overload, 1 more"]
    );
}

#[test]
fn the_id_of_an_async_fn_is_its_path_as_of_any_other() {
    #[adaptive_limit]
    async fn unnamed() -> Result<(), Error> {
        Ok(())
    }
    let registry = Registry::new();
    let mut call = pin!(registry.scope_future(unnamed()));
    assert!(
        call.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    );
    let id = registry.snapshot().limits[0].id.to_string();
    assert_eq!(
        id,
        "registry::scopes::the_id_of_an_async_fn_is_its_path_as_of_any_other::unnamed"
    );
}
