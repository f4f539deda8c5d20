//! What is told when something is wrong, and that all of it is told at once.

use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::limit::algorithm::{Calls, Jitter, QueueSize, VegasBaseline};
use resilience::registry::Registry;
use resilience::{Code, Error};

fn refused(config: LimitConfig) -> Error {
    Registry::new()
        .register("tested", config)
        .expect_err("the settings are wrong")
}

#[test]
fn each_value_out_of_range_is_named_with_its_range_and_place() {
    let set = LimitConfig::new;
    let infinite = f64::INFINITY;
    let cases = [
        (
            set().initial_limit(0),
            "`initial_limit` is 0, allowed is from 1 to 1000000",
        ),
        (set().min_limit(0), "`min_limit` is 0,"),
        (set().max_limit(1_000_001), "`max_limit` is 1000001,"),
        (
            set().min_window_samples(0),
            "`min_window_samples` is 0, allowed is from 1 to 1000000",
        ),
        (
            set().window(Duration::ZERO),
            "`window` is 0ns, allowed is from 1ms to 1h",
        ),
        (set().window(Duration::MAX), "allowed is from 1ms to 1h"),
        (
            set().backoff_ratio(0.49),
            "`backoff_ratio` is 0.49, allowed is from 0.5 to below 1",
        ),
        (set().backoff_ratio(1.0), "`backoff_ratio` is 1.0,"),
        (set().backoff_ratio(f64::NAN), "`backoff_ratio` is NaN,"),
        (
            set().smoothing(0.0),
            "`smoothing` is 0.0, allowed is above 0, up to 1",
        ),
        (set().smoothing(f64::NAN), "`smoothing` is NaN,"),
        (
            set().rtt_tolerance(0.99),
            "`rtt_tolerance` is 0.99, allowed is from 1 to 100",
        ),
        (set().rtt_tolerance(infinite), "`rtt_tolerance` is inf,"),
        (
            set().queue_size(QueueSize::Fixed(1_000_001)),
            "`queue_size` is Fixed(1000001), allowed is from 0 to 1000000",
        ),
        (set().long_window(0), "`long_window` is 0,"),
        (set().increase_by(0), "`increase_by` is 0,"),
        (
            set().latency_threshold(Duration::ZERO),
            "`latency_threshold` is 0ns, allowed is from 1ns to 1h",
        ),
        (
            set().alpha(Calls::Log10(1001)),
            "`alpha` is Log10(1001), allowed is up to 1000000 fixed",
        ),
        (
            set().beta(Calls::Fixed(1_000_001)),
            "`beta` is Fixed(1000001),",
        ),
        (
            set().threshold(Calls::Log10(1001)),
            "`threshold` is Log10(1001),",
        ),
        (
            set().jitter(Jitter::Fixed(0.0)),
            "`jitter` is Fixed(0.0), allowed is above 0, up to 1",
        ),
        (
            set().jitter(Jitter::Fixed(f64::NAN)),
            "`jitter` is Fixed(NaN),",
        ),
        (
            set().probe_multiplier(0),
            "`probe_multiplier` is 0, allowed is 1 or more",
        ),
        (
            set().baseline(VegasBaseline::Quantile {
                quantile: 1.1,
                windows: 5,
            }),
            "allowed is a quantile from 0 to 1",
        ),
    ];
    for (config, expected) in cases {
        let error = refused(config);
        let text = error.to_string();
        assert_eq!(error.codes(), [Code::INVALID_SETTING], "{text}");
        assert!(text.contains(expected), "{text}\n  should say: {expected}");
        assert!(
            text.contains(&format!("in `register` at {}:", file!())),
            "{text}"
        );
    }
}

#[test]
fn every_mistake_of_a_builder_is_told_at_once_and_the_same_way_each_time() {
    #[derive(Debug)]
    struct Stay;
    impl resilience::limit::algorithm::Algorithm for Stay {
        fn update(
            &mut self,
            _: &resilience::limit::window::Window,
        ) -> resilience::limit::algorithm::Decision {
            resilience::limit::algorithm::Decision::new(
                1.0,
                resilience::event::Reason::custom("stay"),
            )
        }
    }
    let build = || {
        Registry::builder()
            .defaults(LimitConfig::new().max_limit(0).smoothing(7.0))
            .config("backend", LimitConfig::new().algorithm("amid"))
            .config("backend", LimitConfig::new())
            .config("", LimitConfig::new().increase_by(0))
            .config(
                "own",
                LimitConfig::new()
                    .min_limit(10)
                    .initial_limit(3)
                    .max_limit(5),
            )
            .config("Default", LimitConfig::new())
            .algorithm("gradient-2", |_| Stay)
            .algorithm("stay", |_| Stay)
            .algorithm("stay", |_| Stay)
            .build()
            .unwrap_err()
    };
    let error = build();
    let text = error.to_string();
    assert!(
        text.starts_with("11 problems with the settings:\n"),
        "{text}"
    );
    for expected in [
        "`max_limit` is 0",
        "`smoothing` is 7.0",
        "`algorithm` is \"amid\", allowed is one of knee, gradient2, aimd, vegas, stay; in config `backend` at",
        "did you mean `aimd`?",
        "the name of config \"backend\" was added before",
        "the name of config \"\" is empty",
        "`increase_by` is 0",
        "`max_limit` (5) is below `min_limit` (10); in config `own` at",
        "`initial_limit` (3) is below `min_limit` (10); in config `own` at",
        "the name of config \"Default\" is reserved",
        "the name of algorithm \"gradient-2\" is the name of a built-in algorithm",
        "the name of algorithm \"stay\" was added before",
    ] {
        assert!(text.contains(expected), "{text}\n  should say: {expected}");
    }
    assert!((0..20).all(|_| build().to_string() == text));
}

#[test]
fn bounds_out_of_order_say_where_each_of_them_comes_from() {
    let registry = Registry::builder()
        .defaults(LimitConfig::new().min_limit(30))
        .config("backend", LimitConfig::new().max_limit(10))
        .build()
        .unwrap();
    let error = registry
        .register_with("orders", "backend", LimitConfig::new())
        .unwrap_err();
    let text = error.to_string();
    assert_eq!(error.code(), Code::INVALID_SETTING);
    assert!(
        text.starts_with("`max_limit` (10, from config `backend` at "),
        "{text}"
    );
    assert!(
        text.contains(") is below `min_limit` (30, from defaults at "),
        "{text}"
    );
    assert!(text.ends_with("[R4C-REG-001]"), "{text}");

    let text = refused(LimitConfig::new().initial_limit(300)).to_string();
    assert!(
        text.contains("is above `max_limit` (200, from the built-in default)"),
        "{text}"
    );
}

#[test]
fn an_unknown_config_is_named_with_the_nearest() {
    let registry = Registry::builder()
        .config("backend", LimitConfig::new())
        .build()
        .unwrap();
    let error = registry
        .register_with("orders", "bakcend", LimitConfig::new())
        .unwrap_err();
    assert_eq!(error.code(), Code::UNKNOWN_CONFIG);
    let text = error.to_string();
    assert!(
        text.starts_with("the registry has no config `bakcend`, asked for by `register_with` at "),
        "{text}"
    );
    assert!(text.contains("did you mean `backend`?"), "{text}");
    let far = registry
        .register_with("orders", "x", LimitConfig::new())
        .unwrap_err()
        .to_string();
    assert!(far.contains("its configs are: `backend`"), "{far}");
    // Nothing was made.
    assert!(registry.snapshot().limits.is_empty());
}

#[test]
fn an_unknown_id_is_named_with_the_nearest() {
    let registry = Registry::new();
    registry.register("orders", LimitConfig::new()).unwrap();
    let error = registry.adaptive_limit("ordres").unwrap_err();
    assert_eq!(error.code(), Code::UNKNOWN_INSTANCE);
    assert_eq!(
        error.to_string(),
        "the registry has no limit `ordres`; did you mean `orders`? [R4C-REG-009]"
    );
    let far = registry.adaptive_limit("payments").unwrap_err().to_string();
    assert!(
        far.contains("`payments`; its limits are: `orders`. An attribute's limit is made on"),
        "{far}"
    );
}

#[test]
fn an_empty_id_is_refused() {
    let error = Registry::new()
        .register("  ", LimitConfig::new())
        .unwrap_err();
    assert_eq!(error.code(), Code::RESERVED_NAME);
}

#[test]
fn an_unknown_config_and_a_value_out_of_range_are_told_together() {
    let error = Registry::new()
        .register_with("orders", "backend", LimitConfig::new().max_limit(0))
        .unwrap_err();
    assert_eq!(error.codes(), [Code::INVALID_SETTING, Code::UNKNOWN_CONFIG]);
}

#[test]
fn a_name_of_any_length_is_answered_at_once() {
    let registry = Registry::builder()
        .config("c".repeat(1_000_000), LimitConfig::new())
        .build()
        .unwrap();
    let long = "a".repeat(1_000_000);
    registry.register(long.clone(), LimitConfig::new()).unwrap();
    let unknown = registry.adaptive_limit(&"b".repeat(1_000_000)).unwrap_err();
    assert!(!unknown.to_string().contains("did you mean"));
    // Case still makes no difference.
    let near = registry.adaptive_limit(&"A".repeat(1_000_000)).unwrap_err();
    assert!(near.to_string().contains(&long));
    let config = registry
        .register_with("orders", &"d".repeat(1_000_000), LimitConfig::new())
        .unwrap_err();
    assert_eq!(config.code(), Code::UNKNOWN_CONFIG);
}

#[test]
fn a_name_that_cannot_be_printed_on_a_line_is_refused() {
    let registry = Registry::new();
    let error = registry.register("a\nb", LimitConfig::new()).unwrap_err();
    assert_eq!(error.code(), Code::RESERVED_NAME);
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    let built = Registry::builder()
        .config("a\nb", LimitConfig::new())
        .kind("a\u{85}b", |_| false)
        .build();
    let error = built.unwrap_err().to_string();
    assert_eq!(error.matches("control character").count(), 2, "{error}");
    assert_eq!(error.lines().count(), 3, "{error}");

    let values = || Ok::<_, resilience::Error>([("instances.a\nb.adaptiveLimit.maxLimit", "5")]);
    let registry = Registry::builder()
        .values("limits", values)
        .build()
        .unwrap();
    let error = registry.check().unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
}
