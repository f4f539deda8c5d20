//! One name, one limit.

use resilience::limit::LimitConfig;
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
        .register(
            "orders",
            LimitConfig::new().max_limit(50).algorithm("Gradient-2"),
        )
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
        "`algorithm` is \"gradient2\" there and \"aimd\" here".to_owned(),
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
    registry
        .register("orders", LimitConfig::new().smoothing(0.5))
        .unwrap();
    // The default, written out, is no difference; another value is.
    registry
        .register("search", LimitConfig::new().smoothing(0.2))
        .unwrap();
    registry.register("search", LimitConfig::new()).unwrap();
    let text = registry
        .register("orders", LimitConfig::new())
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
