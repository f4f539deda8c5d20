//! Which layer's value wins, and what bounds come out.

use std::path::Path;
use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::registry::Registry;
use serde_json::Value;

fn vectors(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("vectors")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_case_of_precedence_between_the_layers_in_code() {
    let vectors = vectors("resolve.json");
    let mut tried = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let layers = case["maxLimit_in"].as_object().unwrap();
        if layers.keys().any(|layer| layer.starts_with("ext_")) {
            // Files are layers of their own and come from elsewhere.
            continue;
        }
        let max = |layer: &str| {
            layers.get(layer).map_or(LimitConfig::new(), |max| {
                LimitConfig::new().max_limit(max.as_u64().unwrap() as u32)
            })
        };
        let mut builder = Registry::builder().defaults(max("code_defaults"));
        if layers.contains_key("code_config") {
            builder = builder.config("backend", max("code_config"));
        }
        let registry = builder.build().unwrap();
        let limit = match case["config_attr"].as_str() {
            None => registry.register("tested", max("attribute")),
            Some(config) => registry.register_with("tested", config, max("attribute")),
        };
        match limit {
            Ok(limit) => {
                let seen = limit.snapshot().max_limit;
                assert_eq!(Some(u64::from(seen)), case["maxLimit"].as_u64(), "{case}");
            }
            Err(error) => assert_eq!(case["error"], error.code().as_str(), "{case}"),
        }
        tried += 1;
    }
    assert!(tried == 16, "{tried} cases");
}

#[test]
fn every_case_of_bounds() {
    let vectors = vectors("bounds.json");
    let cases = vectors.as_array().unwrap();
    assert_eq!(cases.len(), 125);
    for case in cases {
        let number = |key: &str| case[key].as_u64().map(|value| value as u32);
        let mut config = LimitConfig::new();
        if let Some(min) = number("minLimit") {
            config = config.min_limit(min);
        }
        if let Some(initial) = number("initialLimit") {
            config = config.initial_limit(initial);
        }
        if let Some(max) = number("maxLimit") {
            config = config.max_limit(max);
        }
        match Registry::new().register("tested", config) {
            Ok(limit) => {
                let seen = limit.snapshot();
                let seen = [seen.min_limit, seen.initial_limit, seen.max_limit].map(Some);
                assert_eq!(
                    seen,
                    [number("min"), number("initial"), number("max")],
                    "{case}"
                );
                assert!(case["error"].is_null(), "{case}");
            }
            Err(error) => {
                assert_eq!(case["error"], "bounds", "{case}: {error}");
                let text = error.to_string();
                for key in case["keys"].as_array().unwrap() {
                    let key = match key.as_str().unwrap() {
                        "initialLimit" => "`initial_limit`",
                        "minLimit" => "`min_limit`",
                        _ => "`max_limit`",
                    };
                    assert!(text.contains(key), "{case}: {text}");
                }
            }
        }
    }
}

#[test]
fn each_property_comes_from_the_highest_layer_that_sets_it() {
    let registry = Registry::builder()
        .defaults(
            LimitConfig::new()
                .algorithm("vegas")
                .max_limit(500)
                .initial_limit(50),
        )
        .config("backend", LimitConfig::new().algorithm("AIMD").min_limit(5))
        .build()
        .unwrap();
    let own = LimitConfig::new()
        .initial_limit(7)
        .window(Duration::from_millis(20));
    let seen = registry
        .register_with("orders", "backend", own)
        .unwrap()
        .snapshot();
    assert_eq!(seen.algorithm, "aimd");
    assert_eq!(
        (seen.min_limit, seen.initial_limit, seen.max_limit),
        (5, 7, 500)
    );
}
