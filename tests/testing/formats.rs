//! What snapshots look like to serde, written out by hand: others build on the names.

use std::time::Duration;

use resilience::Outcome;
use resilience::limit::LimitConfig;
use resilience::testing::TestRegistry;

#[test]
fn a_snapshot_has_these_names_and_no_others() {
    let test = TestRegistry::new();
    let registry = test.registry();
    let config = LimitConfig::new().algorithm("aimd").min_window_samples(1);
    let tenant = registry.register("tenant", config).unwrap();
    let tenants = registry.keyed("tenant", 5).unwrap();
    drop(tenants.get("acme").unwrap());
    let call = tenant.try_acquire().unwrap();
    test.advance(Duration::from_secs(1));
    call.complete(Outcome::Success);
    let _held = tenant.try_acquire().unwrap();

    let json = serde_json::to_string_pretty(&registry.snapshot()).unwrap();
    assert_eq!(json, include_str!("snapshot.json").trim_end());
}
