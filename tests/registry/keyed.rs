//! Limits by key: never more than the cap, and none is lost that anybody uses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ScopedJoinHandle;

use proptest::prelude::*;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::{KeyedLimits, Registry};
use resilience::{Code, Outcome};

fn tenants(cap: usize) -> (Registry, KeyedLimits) {
    let registry = Registry::new();
    let config = LimitConfig::new().initial_limit(1).max_limit(1);
    registry.register("tenant", config).unwrap();
    let keyed = registry.keyed("tenant", cap).unwrap();
    (registry, keyed)
}

fn ids(registry: &Registry) -> Vec<String> {
    let limits = registry.snapshot().limits;
    limits.iter().map(|limit| limit.id.to_string()).collect()
}

/// The id of the limit that a key is given. The handle ends with that.
fn id_of(keyed: &KeyedLimits, key: &str) -> String {
    keyed.get(key).unwrap().id().to_string()
}

#[test]
fn a_key_has_a_limit_of_its_own_that_is_found_by_id_too() {
    let (registry, keyed) = tenants(10);
    let (acme, other) = (keyed.get("acme").unwrap(), keyed.get("other").unwrap());
    let held = acme.try_acquire().unwrap();
    assert!(acme.try_acquire().is_err() && keyed.get("acme").unwrap().try_acquire().is_err());
    assert!(other.try_acquire().is_ok());
    assert_eq!(
        registry.adaptive_limit("tenant/acme").unwrap().in_flight(),
        1
    );
    drop(held);
    assert_eq!(ids(&registry), ["tenant", "tenant/acme", "tenant/other"]);
    let counts = &registry.snapshot().keyed[0];
    assert_eq!(*counts, keyed.snapshot());
    assert_eq!(
        (counts.id.as_str(), counts.max_instances, counts.instances),
        ("tenant", 10, 2)
    );
}

#[test]
fn the_one_that_was_used_the_longest_time_ago_makes_room() {
    let (registry, keyed) = tenants(3);
    for key in ["a", "b", "c", "a"] {
        keyed.get(key).unwrap();
    }
    keyed.get("d").unwrap();
    assert_eq!(
        ids(&registry),
        ["tenant", "tenant/a", "tenant/c", "tenant/d"]
    );
    // A look-up by id is a use.
    registry.adaptive_limit("tenant/c").unwrap();
    keyed.get("e").unwrap();
    keyed.get("f").unwrap();
    assert_eq!(
        ids(&registry),
        ["tenant", "tenant/c", "tenant/e", "tenant/f"]
    );
    let counts = keyed.snapshot();
    assert_eq!((counts.evicted, counts.overflowed), (3, 0));
}

#[test]
fn what_was_counted_is_lost_with_the_limit() {
    let (_, keyed) = tenants(1);
    let limit = keyed.get("a").unwrap();
    limit.try_acquire().unwrap().complete(Outcome::Success);
    assert_eq!(limit.snapshot().counters.succeeded, 1);
    drop(limit);
    keyed.get("b").unwrap();
    assert_eq!(keyed.get("a").unwrap().snapshot().counters.succeeded, 0);
}

/// A way to use a limit, kept for as long as what it returns.
type Use = fn(AdaptiveLimit) -> Box<dyn std::any::Any>;

#[test]
fn one_that_is_in_use_is_never_evicted_and_others_share_one_if_all_are() {
    let uses: [(&str, Use); 4] = [
        ("a handle", |limit| Box::new(limit)),
        ("a permit", |limit| {
            Box::new(limit.try_acquire_owned().unwrap())
        }),
        ("a subscription", |limit| Box::new(limit.subscribe(|_| {}))),
        ("a call that never ends", |limit| {
            std::mem::forget(limit.try_acquire().unwrap());
            Box::new(())
        }),
    ];
    for (what, use_it) in uses {
        let (_, keyed) = tenants(1);
        let kept = use_it(keyed.get("a").unwrap());
        // Asked for again and again, so that it is no matter of what was looked at last time.
        for _ in 0..3 {
            assert_eq!(id_of(&keyed, "b"), "tenant", "{what}");
        }
        assert_eq!(id_of(&keyed, "a"), "tenant/a", "{what}");
        let counts = keyed.snapshot();
        let counts = (counts.instances, counts.evicted, counts.overflowed);
        assert_eq!(counts, (1, 0, 3), "{what}");
        drop(kept);
        if what != "a call that never ends" {
            assert_eq!(id_of(&keyed, "b"), "tenant/b", "{what}");
            assert_eq!(keyed.snapshot().evicted, 1, "{what}");
        }
    }
}

#[test]
fn keys_beyond_the_cap_are_limited_together() {
    let (_, keyed) = tenants(1);
    let _held = keyed.get("a").unwrap();
    let (b, c) = (keyed.get("b").unwrap(), keyed.get("c").unwrap());
    let _call = b.try_acquire().unwrap();
    let error = c.try_acquire().unwrap_err();
    assert!(error.is_limit_exceeded());
    assert_eq!(error.id().unwrap().as_str(), "tenant");
}

#[test]
fn the_limit_of_an_attribute_is_none_of_them_and_stays() {
    #[resilience::adaptive_limit(name = "tenant", registry = registry)]
    fn shared(registry: &Registry) -> Result<(), resilience::Error> {
        Ok(())
    }
    let registry = Registry::new();
    shared(&registry).unwrap();
    let keyed = registry.keyed("tenant", 1).unwrap();
    for key in ["a", "b", "c"] {
        keyed.get(key).unwrap();
        shared(&registry).unwrap();
    }
    let counters = registry
        .adaptive_limit("tenant")
        .unwrap()
        .snapshot()
        .counters;
    assert_eq!(counters.succeeded, 4);
}

#[test]
fn keys_that_would_garble_a_log_are_refused() {
    let (registry, keyed) = tenants(10);
    let long = "x".repeat(257);
    for (key, fault) in [
        ("", "is empty"),
        ("a\nb", "control character"),
        (&long, "is longer than 256 bytes"),
    ] {
        let error = keyed.get(key).unwrap_err();
        assert_eq!(error.code(), Code::RESERVED_NAME);
        let text = error.to_string();
        assert!(
            text.contains(fault) && text.contains("`tenant`") && text.len() < 200,
            "{text}"
        );
    }
    keyed.get(&long[1..]).unwrap();
    // Whatever else a user sends is a key.
    for key in ["tenant", "a/b", "a.b", "Zoë", "[a]"] {
        assert_eq!(id_of(&keyed, key), format!("tenant/{key}"));
        registry.adaptive_limit(&format!("tenant/{key}")).unwrap();
    }
}

#[test]
fn a_cap_is_told_once_and_for_a_limit_that_there_is() {
    let (registry, _) = tenants(10);
    let code = |id, cap| {
        registry
            .keyed(id, cap)
            .map(drop)
            .map_err(|error| error.code())
    };
    assert_eq!(code("tenant", 10), Ok(()));
    assert_eq!(code("tenant", 11), Err(Code::SETTINGS_DIFFER));
    assert_eq!(code("tenant", 0), Err(Code::INVALID_SETTING));
    assert_eq!(code("tenants", 10), Err(Code::UNKNOWN_INSTANCE));
    let text = registry.keyed("tenants", 10).unwrap_err().to_string();
    assert!(text.contains("did you mean `tenant`?"), "{text}");
}

/// Settings from outside.
type Settings = Vec<(&'static str, &'static str)>;

/// A registry whose settings from outside can be changed.
fn with_settings(settings: &[(&'static str, &'static str)]) -> (Registry, Arc<Mutex<Settings>>) {
    let values = Arc::new(Mutex::new(settings.to_vec()));
    let read = values.clone();
    let registry = Registry::builder()
        .values("test", move || {
            Ok::<_, std::io::Error>(read.lock().unwrap().clone())
        })
        .build()
        .unwrap();
    registry.register("tenant", LimitConfig::new()).unwrap();
    (registry, values)
}

#[test]
fn settings_of_the_family_and_of_a_key_are_laid_over_each_other_and_reloaded() {
    let (registry, values) = with_settings(&[
        ("instances.tenant.adaptiveLimit.maxLimit", "50"),
        ("instances.tenant.adaptiveLimit.minLimit", "2"),
        ("instances.tenant/vip.adaptiveLimit.maxLimit", "90"),
    ]);
    let keyed = registry.keyed("tenant", 10).unwrap();
    let bounds = |key: &str| {
        let snapshot = keyed.get(key).unwrap().snapshot();
        (snapshot.min_limit, snapshot.max_limit)
    };
    assert_eq!((bounds("a"), bounds("vip")), ((2, 50), (2, 90)));
    registry.check().unwrap();
    let explained = registry.explain("tenant/vip").unwrap();
    let most = explained.get("maxLimit").unwrap();
    assert_eq!((&*most.value, &*most.overridden[0].value), ("90", "50"));
    assert_eq!(explained.id.as_str(), "tenant/vip");

    // Those that are there, and those that come.
    *values.lock().unwrap() = vec![
        ("instances.tenant.adaptiveLimit.maxLimit", "40"),
        ("instances.tenant/b.adaptiveLimit.maxLimit", "7"),
    ];
    let held = keyed.get("a").unwrap();
    registry.reload().unwrap();
    assert_eq!(held.snapshot().max_limit, 40);
    assert_eq!(
        [bounds("a"), bounds("vip"), bounds("b"), bounds("c")],
        [(1, 40), (1, 40), (1, 7), (1, 40)]
    );
    assert!(!registry.reload_if_changed().unwrap());

    // All or nothing, also where a key that is not there would be wrong.
    *values.lock().unwrap() = vec![
        ("instances.tenant.adaptiveLimit.maxLimit", "30"),
        ("instances.tenant/z.adaptiveLimit.minLimit", "31"),
    ];
    let text = registry.reload().unwrap_err().to_string();
    assert!(text.contains("30") && text.contains("31"), "{text}");
    assert_eq!(held.snapshot().max_limit, 40);
}

#[test]
fn a_key_without_its_family_is_a_mistake_and_a_wrong_one_is_found_when_the_family_is_made() {
    let (registry, _) = with_settings(&[
        ("instances.tenants/vip.adaptiveLimit.maxLimit", "90"),
        ("instances.tenant/vip.adaptiveLimit.minLimit", "900"),
    ]);
    let text = registry.check().unwrap_err().to_string();
    assert!(text.contains("tenants/vip"), "{text}");
    let text = registry.keyed("tenant", 10).unwrap_err().to_string();
    assert!(text.contains("900"), "{text}");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Use(u8),
    Hold(u8),
    LetGo(u8),
}

fn step() -> impl Strategy<Value = Step> {
    (0..3, 0..8_u8).prop_map(|(what, key)| match what {
        0 => Step::Use(key),
        1 => Step::Hold(key),
        _ => Step::LetGo(key),
    })
}

proptest! {
    /// Against the plainest thing that does the same: a list, the last used at its end.
    #[test]
    fn eviction_is_that_of_a_list_in_the_order_of_use(
        cap in 1..5_usize,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let (_, keyed) = tenants(cap);
        let mut list: Vec<u8> = Vec::new();
        let mut held: HashMap<u8, AdaptiveLimit> = HashMap::new();
        for step in steps {
            let (key, holds) = match step {
                Step::LetGo(key) => {
                    held.remove(&key);
                    continue;
                }
                Step::Use(key) => (key, false),
                Step::Hold(key) => (key, true),
            };
            let known = list.iter().position(|known| *known == key);
            let free = list.iter().position(|known| !held.contains_key(known));
            let expected = if let Some(at) = known {
                list.remove(at);
                true
            } else if list.len() < cap {
                true
            } else if let Some(at) = free {
                // Those in use that were met on the way are in use now, so they come after.
                let passed: Vec<u8> = list.drain(..at).collect();
                list.remove(0);
                list.extend(passed);
                true
            } else {
                false
            };
            let limit = keyed.get(&key.to_string()).unwrap();
            if expected {
                list.push(key);
                prop_assert_eq!(limit.id().as_str(), format!("tenant/{key}"));
                if holds {
                    held.insert(key, limit);
                }
            } else {
                prop_assert_eq!(limit.id().as_str(), "tenant");
            }
            prop_assert_eq!(keyed.snapshot().instances, list.len());
        }
    }
}

const KEYS: usize = 24;
const CALLS: u64 = 1500;

#[test]
fn a_storm_of_keys_never_makes_a_second_limit_of_a_key_that_is_in_use() {
    const CAP: usize = 12;
    let (registry, values) = with_settings(&[]);
    let one = ("instances.tenant.adaptiveLimit.maxLimit", "1");
    let start = ("instances.tenant.adaptiveLimit.initialLimit", "1");
    *values.lock().unwrap() = vec![one, start];
    registry.reload().unwrap();
    let keyed = registry.keyed("tenant", CAP).unwrap();
    let inside: Vec<AtomicU32> = (0..=KEYS).map(|_| AtomicU32::new(0)).collect();
    let (served, rejected, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8_usize)
            .map(|thread| {
                let (keyed, inside, served, rejected) = (&keyed, &inside, &served, &rejected);
                scope.spawn(move || {
                    let mut number = thread * 7 + 1;
                    for _ in 0..CALLS {
                        number = (number * 1_103_515_245 + 12_345) % (1 << 31);
                        let key = (number >> 8) % KEYS;
                        let limit = keyed.get(&key.to_string()).unwrap();
                        let shared = limit.id().as_str() == "tenant";
                        let inside = &inside[if shared { KEYS } else { key }];
                        let Ok(permit) = limit.try_acquire_owned() else {
                            rejected.fetch_add(1, Ordering::Relaxed);
                            continue;
                        };
                        drop(limit);
                        let calls = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        assert_eq!(calls, 1, "two limits for key {key}");
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        permit.complete(Outcome::Ignored);
                        served.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut round = 0_u32;
            while !over.load(Ordering::Relaxed) {
                round += 1;
                let mut settings = vec![one, start];
                if round.is_multiple_of(2) {
                    settings.push(("instances.tenant.adaptiveLimit.algorithm", "aimd"));
                    settings.push(("instances.tenant/3.adaptiveLimit.algorithm", "vegas"));
                }
                *values.lock().unwrap() = settings;
                registry.reload().unwrap();
                let snapshot = registry.snapshot();
                assert!(snapshot.keyed[0].instances <= CAP);
                assert!(snapshot.limits.is_sorted_by(|a, b| a.id < b.id));
                std::thread::yield_now();
            }
        });
        let ended: Vec<_> = callers.into_iter().map(ScopedJoinHandle::join).collect();
        // Also if a caller has panicked.
        over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    let counts = keyed.snapshot();
    assert!(counts.instances <= CAP && counts.evicted > 0, "{counts:?}");
    assert_eq!(
        served.into_inner() + rejected.into_inner(),
        8 * CALLS,
        "{counts:?}"
    );
    // Nobody is in use any more, so each key finds a place, and with the settings that are in force.
    let algorithm = registry
        .adaptive_limit("tenant")
        .unwrap()
        .snapshot()
        .algorithm;
    for key in (0..KEYS).filter(|key| *key != 3) {
        let limit = keyed.get(&key.to_string()).unwrap();
        assert_eq!(limit.id().as_str(), format!("tenant/{key}"));
        assert_eq!(limit.in_flight(), 0);
        assert_eq!(limit.snapshot().algorithm, algorithm);
    }
}
