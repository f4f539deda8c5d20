//! Limits of attributes that the process-wide registry knows before their first call. A program of its own, since it has
//! one such registry and a list of all its attributes.

use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use resilience::{Error, adaptive_limit, resilient};

#[adaptive_limit(name = "orders", config = "backend")]
fn order(id: u64) -> Result<u64, Error> {
    Ok(id)
}

#[adaptive_limit]
async fn search<T>(query: T) -> Result<T, Error> {
    Ok(query)
}

struct Store;

#[adaptive_limit(window = "2s")]
impl Store {
    fn find(&self) -> Result<&Self, Error> {
        Ok(self)
    }
}

#[adaptive_limit(name = "shared", max_limit = 100)]
fn read() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "shared", max_limit = 50)]
fn write() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "own", registry = &Registry::new())]
fn in_its_own_registry() -> Result<(), Error> {
    Ok(())
}

#[resilient]
trait Rows {
    #[adaptive_limit(name = "rows", config = "rows")]
    fn row(&self) -> Result<u64, Error>;
}

struct Inner;

impl Rows for Inner {
    fn row(&self) -> Result<u64, Error> {
        Ok(1)
    }
}

#[test]
fn the_limits_of_all_attributes_are_known_before_their_first_call() {
    Registry::builder()
        .config("backend", LimitConfig::new().max_limit(70))
        .config("rows", LimitConfig::new())
        .variables(|| {
            [
                (
                    "RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MIN_LIMIT",
                    "3",
                ),
                (
                    "RESILIENCE__INSTANCES__SITES__SEARCH__ADAPTIVE_LIMIT__MAX_LIMIT",
                    "30",
                ),
                (
                    "RESILIENCE__INSTANCES__ROWS__ADAPTIVE_LIMIT__MIN_LIMIT",
                    "1",
                ),
                (
                    "RESILIENCE__INSTANCES__ORDRES__ADAPTIVE_LIMIT__MAX_LIMIT",
                    "1",
                ),
            ]
        })
        .values("limits", || {
            Ok::<_, Error>([
                ("instances.nobody.adaptiveLimit.maxLimit", "1"),
                ("instances.own.adaptiveLimit.maxLimit", "1"),
                ("instances.rows.adaptiveLimit.maxLimit", "1"),
            ])
        })
        .build()
        .unwrap()
        .install()
        .unwrap();
    let registry = Registry::global();
    // By its handle, if one asks for it.
    let orders = registry.adaptive_limit("orders").unwrap().snapshot();
    assert_eq!((orders.min_limit, orders.max_limit), (3, 70));
    assert_eq!(registry.snapshot().limits.len(), 1);

    let text = registry.check().unwrap_err().to_string();
    let ids: Vec<String> = registry
        .snapshot()
        .limits
        .iter()
        .map(|limit| limit.id.to_string())
        .collect();
    assert_eq!(
        ids,
        ["orders", "shared", "sites::Store::find", "sites::search"]
    );
    assert_eq!(
        registry
            .adaptive_limit("sites::search")
            .unwrap()
            .snapshot()
            .max_limit,
        30
    );
    // One of the two that do not agree, a setting and a variable for nothing; and nothing of other registries.
    assert_eq!(text.lines().count(), 4, "{text}");
    for expected in [
        "limit `shared`",
        "`max_limit` is 100 there and 50 here",
        "instance `nobody` at limits",
        "ORDRES",
    ] {
        assert!(text.contains(expected), "{text}\n  should say: {expected}");
    }

    // And their calls go there.
    assert_eq!(order(1).unwrap(), 1);
    Store.find().unwrap();
    assert!(read().is_ok() != write().is_ok());
    let succeeded = |id| {
        registry
            .adaptive_limit(id)
            .unwrap()
            .snapshot()
            .counters
            .succeeded
    };
    assert_eq!(
        (succeeded("orders"), succeeded("sites::Store::find")),
        (1, 1)
    );
    let mut search = std::pin::pin!(search("rust"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(search.as_mut().poll(&mut context).is_ready());
    assert_eq!(succeeded("sites::search"), 1);
    in_its_own_registry().unwrap();
    let others = Registry::builder()
        .config("rows", LimitConfig::new())
        .build()
        .unwrap();
    assert_eq!(
        ResilientRows::with_registry(Inner, &others).row().unwrap(),
        1
    );
}
