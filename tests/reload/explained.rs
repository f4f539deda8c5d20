//! What a registry says about its settings: why they are what they are, and whether all of them fit.

use resilience::limit::LimitConfig;
use resilience::{Code, Error};

use crate::support::{Directory, manual, says};

#[test]
fn every_setting_has_a_value_and_says_where_it_comes_from() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "defaults.adaptiveLimit.maxLimit=150\n\
         configs.backend.adaptiveLimit.max-limit=100\n\
         configs.backend.adaptiveLimit.algorithm=AIMD\n\
         instances.orders.adaptiveLimit.rttTolerance=2\n",
    );
    let (builder, _) = manual();
    let registry = builder
        .defaults(LimitConfig::new().min_limit(3))
        .file(&file)
        .variables(|| {
            [(
                "RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT",
                "90",
            )]
        })
        .build()?;
    registry.register_with("orders", "backend", LimitConfig::new().initial_limit(30))?;
    let explanation = registry.explain("orders")?;
    let of = |property: &str| explanation.get(property).unwrap();

    let max = of("maxLimit");
    assert_eq!(max.value, "90");
    says(
        &max.from,
        &["RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT"],
    );
    let overridden: Vec<_> = max
        .overridden
        .iter()
        .map(|over| over.value.as_str())
        .collect();
    assert_eq!(overridden, ["100", "150"]);
    says(&max.overridden[0].from, &["`backend`", "app.properties:2"]);
    says(&max.overridden[1].from, &["defaults", "app.properties:1"]);

    says(&of("minLimit").from, &["defaults", "explained.rs:"]);
    says(
        &of("initialLimit").from,
        &["`register_with`", "explained.rs:"],
    );
    assert_eq!(of("algorithm").value, "aimd");
    assert_eq!(
        (of("window").value.as_str(), of("window").from.as_str()),
        ("1s", "built-in default")
    );
    // It is set, and it changes nothing.
    assert!(!of("rttTolerance").in_use && of("backoffRatio").in_use);
    says(
        &explanation.to_string(),
        &[
            "limit `orders`:",
            "maxLimit",
            "90",
            "over",
            "app.properties:1",
            "not used",
        ],
    );
    Ok(())
}

#[test]
fn the_explanation_is_of_what_is_in_force() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=50\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    registry.register("orders", LimitConfig::new())?;
    directory.write(
        "app.properties",
        "instances.orders.adaptiveLimit.maxLimit=0\n",
    );
    registry.reload().unwrap_err();
    says(&registry.explain("orders")?.to_string(), &["50"]);
    Ok(())
}

#[test]
fn an_id_that_nothing_has_is_told_with_the_nearest() {
    let (builder, _) = manual();
    let registry = builder.build().unwrap();
    registry.register("orders", LimitConfig::new()).unwrap();
    let error = registry.explain("ordres").unwrap_err();
    assert_eq!(error.code(), Code::UNKNOWN_INSTANCE);
    says(&error.to_string(), &["`orders`"]);
}

#[test]
fn a_check_tells_what_nobody_has_noticed() -> Result<(), Error> {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "configs.unused.adaptiveLimit.maxLimit=100\n\
         configs.used.adaptiveLimit.maxLimit=100\n\
         instances.ordres.adaptiveLimit.maxLimit=100\n\
         instances.orders.adaptiveLimit.maxLimit=100\n\
         instances.orders.adaptiveLimit.increaseBy=2\n",
    );
    let (builder, _) = manual();
    let registry = builder.file(&file).build()?;
    registry.register_with("orders", "used", LimitConfig::new())?;
    let text = registry.check().unwrap_err().to_string();
    says(
        &text,
        &[
            "`ordres`",
            "app.properties:3",
            "`orders`?",
            "`unused`",
            "app.properties:1",
            "increaseBy",
            "app.properties:5",
        ],
    );
    assert!(!text.contains("`used`"), "{text}");

    directory.write(
        "app.properties",
        "configs.used.adaptiveLimit.maxLimit=100\n",
    );
    registry.reload()?;
    registry.check()?;
    Ok(())
}

#[test]
fn what_nobody_sets_is_told_as_it_is_in_force() -> Result<(), Error> {
    let (builder, _) = manual();
    let registry = builder
        .values("limits", || {
            Ok::<_, Error>([
                ("defaults.adaptiveLimit.maxLimit", "7"),
                ("instances.gradient2.adaptiveLimit.algorithm", "gradient2"),
                ("instances.vegas.adaptiveLimit.algorithm", "vegas"),
                ("instances.vegas.adaptiveLimit.preset", "netflix"),
            ])
        })
        .build()?;
    let explained = |id: &'static str, property: &str| {
        registry.register(id, LimitConfig::new()).unwrap();
        let mut settings = registry.explain(id).unwrap().settings.into_iter();
        let setting = settings.find(|setting| setting.property == property);
        setting
            .map(|setting| (setting.value, setting.from))
            .unwrap()
    };
    let built_in = |value: &str| (value.to_owned(), "built-in default".to_owned());
    // The nearest to 20 that there is.
    assert_eq!(explained("gradient2", "initialLimit"), built_in("7"));
    assert_eq!(explained("gradient2", "smoothing"), built_in("0.2"));
    assert_eq!(explained("gradient2", "deviations"), built_in("all"));
    assert_eq!(explained("vegas", "smoothing"), built_in("1"));
    assert_eq!(explained("orders", "headroom"), built_in("0.5"));
    assert_eq!(explained("orders", "algorithm"), built_in("knee"));
    let (deviations, from) = explained("vegas", "deviations");
    assert_eq!(deviations, "none");
    says(&from, &["preset", "instance `vegas` at limits"]);
    Ok(())
}

#[test]
fn a_check_tells_what_was_left_out_and_misspelt() -> Result<(), Error> {
    let names = [
        "RESILIENCE_INSTANCES_ORDERS_ADAPTIVE_LIMIT_MAX_LIMIT",
        "RESILIENCE_DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMIT",
        "RESILIENCE__CONFIGS__BACKEND__MAX_LIMIT",
    ];
    let others = [
        "RESILIENCE_SERVICE_HOST",
        "RESILIENCE",
        "RESILIENCE_INSTANCE",
    ];
    let (builder, _) = manual();
    let registry = builder
        .values("limits", || {
            Ok::<_, Error>([("instances.orders.max-limit", "5")])
        })
        .variables(move || names.into_iter().chain(others).map(|name| (name, "5")))
        .build()?;
    let error = registry.check().unwrap_err().to_string();
    says(&error, &names);
    says(
        &error,
        &[
            "`instances.orders.max-limit`",
            "`maxLimit` is a property of `adaptiveLimit`",
        ],
    );
    assert_eq!(error.lines().count(), 5, "{error}");
    Ok(())
}
