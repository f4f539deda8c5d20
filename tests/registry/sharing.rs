//! One name, one limit.

use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::limit::algorithm::{Aimd, AimdSettings};
use resilience::registry::Registry;
use resilience::{Code, Error, adaptive_limit};

#[test]
fn a_name_given_twice_with_the_same_settings_is_one_limit() {
    let registry = Registry::new();
    let first = registry
        .register("orders", LimitConfig::new().max_limit(50))
        .unwrap();
    // The same after everything is decided, however it was written.
    let second = registry
        .register("orders", LimitConfig::new().max_limit(50).algorithm("KNEE"))
        .unwrap();
    let _held = first.try_acquire().unwrap();
    assert_eq!(second.in_flight(), 1);
    assert_eq!(registry.snapshot().limits.len(), 1);
}

#[test]
fn a_name_given_twice_with_different_settings_names_both_places_and_what_differs() {
    let registry = Registry::new();
    let fifty = LimitConfig::new().max_limit(50);
    let first = registry.register("orders", fifty).unwrap();
    let first_line = line!() - 1;
    let other = LimitConfig::new().max_limit(60).algorithm("aimd");
    let error = registry.register("orders", other).unwrap_err();
    let second_line = line!() - 1;
    assert_eq!(error.code(), Code::SETTINGS_DIFFER);
    let text = error.to_string();
    for expected in [
        format!("{}:{first_line}:", file!()),
        format!("{}:{second_line}:", file!()),
        "`max_limit` is 50 there and 60 here".to_owned(),
        "`algorithm` is \"knee\" there and \"aimd\" here".to_owned(),
    ] {
        assert!(text.contains(&expected), "{text}\n  should say: {expected}");
    }
    // The first one keeps working.
    drop(first.try_acquire().unwrap());
    assert_eq!(
        registry
            .adaptive_limit("orders")
            .unwrap()
            .snapshot()
            .max_limit,
        50
    );
}

#[test]
fn tuning_of_the_same_algorithm_that_differs_is_told() {
    let registry = Registry::new();
    let config = || LimitConfig::new().algorithm("gradient2");
    registry
        .register("orders", config().smoothing(0.5))
        .unwrap();
    // The default, written out, is no difference; another value is.
    registry
        .register("search", config().smoothing(0.2))
        .unwrap();
    registry.register("search", config()).unwrap();
    let text = registry
        .register("orders", config())
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("`smoothing` is 0.5 there and 0.2 here"),
        "{text}"
    );
}

#[test]
fn threads_that_register_a_name_at_once_get_one_limit() {
    let registry = Registry::new();
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                let limit = registry
                    .register(String::from("orders"), LimitConfig::new())
                    .unwrap();
                std::mem::forget(limit.try_acquire_owned().unwrap());
            });
        }
    });
    assert_eq!(registry.adaptive_limit("orders").unwrap().in_flight(), 8);
}

#[test]
fn a_snapshot_lists_all_limits_by_id_and_is_serializable() {
    let registry = Registry::new();
    for id in ["b", "c", "a"] {
        registry.register(id, LimitConfig::new()).unwrap();
    }
    let snapshot = registry.snapshot();
    let ids: Vec<_> = snapshot
        .limits
        .iter()
        .map(|limit| limit.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let json = serde_json::to_value(&snapshot).unwrap();
    let first = &json["limits"][0];
    assert_eq!((&first["id"], &first["limit"]), (&"a".into(), &20.into()));
    assert_eq!(first["reason"]["kind"], "initial");
}

#[test]
fn functions_of_one_path_have_limits_of_their_own_even_if_called_at_once() {
    fn twins() -> [fn() -> Result<(), Error>; 2] {
        let first = {
            #[adaptive_limit]
            fn twin() -> Result<(), Error> {
                Ok(())
            }
            twin
        };
        let second = {
            #[adaptive_limit(max_limit = 7)]
            fn twin() -> Result<(), Error> {
                Ok(())
            }
            twin
        };
        [first, second]
    }
    let registry = Registry::new();
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (registry, barrier) = (&registry, &barrier);
            scope.spawn(move || {
                barrier.wait();
                registry.scope(|| twins()[thread % 2]().unwrap());
            });
        }
    });
    let limits = registry.snapshot().limits;
    let calls: Vec<_> = limits.iter().map(|limit| limit.counters.admitted).collect();
    assert_eq!(calls, [4, 4], "{limits:?}");
    assert!(limits[0].id.as_str().ends_with(
        "::functions_of_one_path_have_limits_of_their_own_even_if_called_at_once::twins::twin"
    ));
}

#[test]
fn functions_of_one_path_and_place_have_limits_of_their_own() {
    // The place of what a macro writes is the macro's call.
    macro_rules! triplets {
        ($($limit:literal)*) => {
            [$({
                #[adaptive_limit(max_limit = $limit)]
                fn triplet() -> Result<(), Error> {
                    Ok(())
                }
                triplet
            },)*]
        };
    }
    let triplets: [fn() -> Result<(), Error>; 3] = triplets!(7 8 9);
    let registry = Registry::new();
    registry.scope(|| triplets.map(|triplet| triplet().unwrap()));
    let limits = registry.snapshot().limits;
    let made: Vec<_> = limits
        .iter()
        .map(|limit| (limit.max_limit, limit.counters.admitted))
        .collect();
    assert_eq!(made, [(7, 1), (8, 1), (9, 1)], "{limits:?}");
}

#[test]
fn an_algorithm_may_look_at_its_registry_while_it_is_made() {
    let registry = Arc::new(OnceLock::<Registry>::new());
    let own = registry.clone();
    let built = Registry::builder()
        .algorithm("curious", move |bounds| {
            let registry = own.get().unwrap();
            registry.register("inner", LimitConfig::new()).unwrap();
            assert_eq!(registry.snapshot().limits.len(), 1);
            Aimd::new(bounds, AimdSettings::default())
        })
        .build()
        .unwrap();
    let registry = registry.get_or_init(|| built);
    let (done, is_done) = mpsc::channel();
    std::thread::scope(|scope| {
        let made = scope.spawn(move || {
            let config = LimitConfig::new().algorithm("curious");
            let made = registry.register("outer", config).map(drop);
            done.send(()).unwrap();
            made
        });
        if is_done.recv_timeout(Duration::from_secs(60)).is_err() {
            eprintln!("it waits for a lock that it holds itself");
            std::process::abort();
        }
        made.join().unwrap().unwrap();
    });
    assert_eq!(registry.snapshot().limits.len(), 2);
}
