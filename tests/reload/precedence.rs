//! Which layer's value wins, over all seven.

use std::path::Path;

use resilience::limit::LimitConfig;
use serde_json::Value;

use crate::support::{Directory, manual};

#[test]
fn every_case_of_precedence() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/resolve.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 128);
    let directory = Directory::new();
    for case in cases {
        let layers = case["maxLimit_in"].as_object().unwrap();
        let max = |layer: &str| layers.get(layer).map(|max| max.as_u64().unwrap() as u32);
        let config = |layer: &str| {
            max(layer).map_or(LimitConfig::new(), |max| LimitConfig::new().max_limit(max))
        };
        let outside = [
            ("ext_defaults", "defaults"),
            ("ext_config", "configs.backend"),
            ("ext_instance", "instances.tested"),
        ];
        let lines: String = outside
            .iter()
            .filter_map(|(layer, section)| {
                Some(format!(
                    "{section}.adaptiveLimit.maxLimit={}\n",
                    max(layer)?
                ))
            })
            .collect();
        let file = directory.write("app.properties", &format!("# settings\n{lines}"));
        let (builder, _) = manual();
        let mut builder = builder.file(&file).defaults(config("code_defaults"));
        if layers.contains_key("code_config") {
            builder = builder.config("backend", config("code_config"));
        }
        let registry = builder.build().unwrap();
        let limit = match case["config_attr"].as_str() {
            None => registry.register("tested", config("attribute")),
            Some(name) => registry.register_with("tested", name, config("attribute")),
        };
        match limit {
            Ok(limit) => {
                let seen = limit.snapshot().max_limit;
                assert_eq!(Some(u64::from(seen)), case["maxLimit"].as_u64(), "{case}");
            }
            Err(error) => assert_eq!(case["error"], error.code().as_str(), "{case}"),
        }
    }
}

#[test]
fn an_instance_takes_another_config_by_its_key() {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "configs.slow.adaptiveLimit.maxLimit=5\n\
         configs.fast.adaptiveLimit.maxLimit=500\n\
         instances.orders.adaptiveLimit.config=slow\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build().unwrap();
    let orders = registry
        .register_with("orders", "fast", LimitConfig::new())
        .unwrap();
    assert_eq!(orders.snapshot().max_limit, 5);
}
