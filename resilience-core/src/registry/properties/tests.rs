use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::config::key::Schema;
use crate::config::layers::{External, Findings, understand};
use crate::config::place::Place;
use crate::config::source::{Written, environment};

const CONTEXT: Context<'static> = Context {
    algorithms: &["mine"],
    kinds: &["busy"],
};

fn set(name: &str, text: &str) -> Result<LimitConfig, WrongValue> {
    let property = Property::<LimitConfig>::find(name).unwrap_or_else(|| panic!("no `{name}`"));
    let mut config = LimitConfig::new();
    (property.set)(&mut config, text, &CONTEXT).map(|()| config)
}

#[test]
fn every_field_is_a_property_once_and_named_alike() {
    let fields: Vec<String> = format!("{:#?}", LimitConfig::new())
        .lines()
        .filter_map(|line| {
            line.trim()
                .split_once(": None")
                .map(|(field, _)| field.to_owned())
        })
        .collect();
    assert!(fields.len() > 20, "{fields:?}");
    let listed: Vec<_> = PROPERTIES.iter().map(|property| property.field).collect();
    assert_eq!(listed, fields);
    for property in PROPERTIES {
        let folded = property.field.replace('_', "");
        assert_eq!(property.name.to_ascii_lowercase(), folded);
    }
}

#[test]
fn ranges_are_told_as_they_are_checked() {
    let config = LimitConfig {
        initial_limit: Some(0),
        min_limit: Some(0),
        max_limit: Some(0),
        window: Some(Duration::ZERO),
        min_window_samples: Some(0),
        max_wait: Some(Duration::from_nanos(1)),
        queue_limit: Some(0),
        backoff_ratio: Some(0.0),
        smoothing: Some(0.0),
        rtt_tolerance: Some(0.0),
        queue_size: Some(QueueSize::Fixed(u32::MAX)),
        long_window: Some(0),
        increase_by: Some(0),
        alpha: Some(Calls::Fixed(u32::MAX)),
        beta: Some(Calls::Fixed(u32::MAX)),
        threshold: Some(Calls::Fixed(u32::MAX)),
        probe_multiplier: Some(0),
        jitter: Some(Jitter::Fixed(0.0)),
        baseline: Some(VegasBaseline::Quantile {
            quantile: 2.0,
            windows: 1,
        }),
        latency_threshold: Some(Duration::ZERO),
        growth_bound: Some(GrowthBound::InFlight { gain: 0.5 }),
        headroom: Some(11.0),
        drain: Some(Drain::Every(1)),
        drop_share: Some(1.0),
        sensitivity: Some(0.0),
        ..LimitConfig::new()
    };
    let told: Vec<_> = PROPERTIES
        .iter()
        .filter(|property| !property.range.is_empty())
        .map(|property| (property.field, property.range))
        .collect();
    let checked: Vec<_> = config
        .out_of_range()
        .into_iter()
        .map(|found| (found.property, found.range))
        .collect();
    assert_eq!(told, checked);
}

#[test]
fn every_value_of_the_table_is_read_or_refused_as_it_should() {
    let cases = include_str!("../../../../tests/vectors/config/values.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 230);
    let mut wrong = Vec::new();
    // No property of this policy is a list of errors; how one is read is tested with the reader.
    for case in cases.iter().filter(|case| case["property"] != "dropOn") {
        let name = case["property"].as_str().unwrap();
        let property = Property::<LimitConfig>::find(name).unwrap();
        let result = set(name, case["input"].as_str().unwrap());
        let right = match &result {
            Ok(config) => {
                let shown = (property.show)(config).unwrap();
                let expected = &case["value"];
                let same_number = || {
                    expected
                        .as_f64()?
                        .eq(&shown.parse::<f64>().ok()?)
                        .then_some(())
                };
                expected.as_str() == Some(&shown)
                    || expected.as_bool().is_some_and(|on| shown == on.to_string())
                    || same_number().is_some()
            }
            Err(wrong) => {
                let kind = match (wrong.code, property.kind) {
                    (Code::CONFIG_OUT_OF_RANGE, _) => "out_of_range",
                    (Code::UNKNOWN_ALGORITHM, _) => "unknown_algorithm",
                    (_, kind) if kind.starts_with("a whole number") => "not_a_whole_number",
                    (_, "a decimal number") => "not_a_decimal",
                    (_, "true or false") => "not_a_boolean",
                    (_, other) => other,
                };
                case["error"] == kind
            }
        };
        if !right {
            wrong.push(format!("{case} gave {result:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

#[test]
fn the_structured_ones_are_read_in_each_of_their_forms() {
    let shown = |name: &str, text: &str| {
        let config = set(name, text).unwrap_or_else(|wrong| panic!("{name} {text}: {wrong:?}"));
        (Property::<LimitConfig>::find(name).unwrap().show)(&config).unwrap()
    };
    for (name, text, canonical) in [
        ("queueSize", " square-root ", "squareRoot(4)"),
        ("queueSize", "SQUAREROOT( 8 )", "squareRoot(8)"),
        ("alpha", "12", "12"),
        ("beta", "3 * LOG10", "3*log10"),
        ("threshold", "0*log10", "0*log10"),
        ("jitter", "0.750", "0.75"),
        (
            "jitter",
            "Seeded(18446744073709551615)",
            "seeded(18446744073709551615)",
        ),
        ("baseline", "Minimum", "minimum"),
        ("baseline", "quantile(0.1,10)", "quantile(0.1, 10)"),
        ("growthBound", "OFF", "off"),
        ("growthBound", "in-flight(1.50)", "inFlight(1.5)"),
        ("growthBound", "BDP(2,600)", "bdp(2, 600)"),
        ("deviations", "ALL", "all"),
        ("deviations", "none", "none"),
        (
            "deviations",
            "cut-once, cut_on_drop,,CutOnce",
            "cutOnDrop, cutOnce",
        ),
        ("preset", "NETFLIX", "netflix"),
        ("window", "1500ms", "1500ms"),
        ("window", "0.5m", "30s"),
        ("algorithm", "mine", "mine"),
    ] {
        assert_eq!(shown(name, text), canonical, "{name} {text}");
    }
    let code = |name: &str, text: &str| set(name, text).unwrap_err().code;
    for (name, text) in [
        ("queueSize", "squareRoot()"),
        ("queueSize", "squareRoot(8"),
        ("queueSize", "cubeRoot"),
        ("alpha", "3*ln"),
        ("alpha", "*log10"),
        ("alpha", "log10"),
        ("jitter", "seeded"),
        ("jitter", "seeded(-1)"),
        ("baseline", "quantile"),
        ("baseline", "quantile(0.1)"),
        ("baseline", "quantile(0.1, 10, 1)"),
        ("baseline", "minimum()"),
        ("growthBound", ""),
        ("growthBound", "bdp(2)"),
        ("growthBound", "bdp"),
        ("growthBound", "inFlight(2, 600)"),
        ("deviations", ""),
        ("deviations", "all, cutOnce"),
        ("deviations", "cutTwice"),
        ("window", "5"),
    ] {
        assert_eq!(code(name, text), Code::CONFIG_WRONG_VALUE, "{name} {text}");
    }
    for (name, text) in [
        ("queueSize", "squareRoot(1000001)"),
        ("alpha", "1001*log10"),
        ("alpha", "1000001"),
        ("probeMultiplier", "4294967296"),
        ("probeMultiplier", "0"),
        ("jitter", "1.1"),
        ("jitter", "seeded(18446744073709551616)"),
        ("baseline", "quantile(1.1, 10)"),
        ("baseline", "quantile(0.1, 0)"),
        ("growthBound", "bdp(0.9, 600)"),
        ("growthBound", "bdp(2, 0)"),
        ("growthBound", "inFlight(101)"),
        ("window", "999us"),
        ("window", "99999999999999999999h"),
        ("latencyThreshold", "0ns"),
    ] {
        assert_eq!(code(name, text), Code::CONFIG_OUT_OF_RANGE, "{name} {text}");
    }
    assert_eq!(
        code("algorithm", "Mine"),
        Code::UNKNOWN_ALGORITHM,
        "names that were added are exact"
    );
}

#[test]
fn a_file_and_a_variable_become_the_settings_they_say() {
    let schema = Schema::default().with::<LimitConfig>();
    let mut findings = Findings::default();
    let written = [
        ("defaults.adaptiveLimit.maxLimit", "100"),
        ("instances.my_app::search.adaptive-limit.window", "250ms"),
        ("instances.my_app::search.adaptive-limit.algorithm", "elbow"),
    ];
    let file = written
        .into_iter()
        .zip(1..)
        .map(|((key, text), line)| Written {
            key: key.to_owned(),
            text: text.to_owned(),
            unfit: None,
            place: Place::File {
                file: "app.properties".into(),
                line: Some(line),
            },
        });
    let file = understand(&schema, file.collect(), &mut findings);
    let mut names = environment::Names::default();
    names.add_all(&file);
    let min_limit = "RESILIENCE__INSTANCES__MY_APP__SEARCH__ADAPTIVE_LIMIT__MIN_LIMIT";
    let variables = [
        ("RESILIENCE__DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMIT", "0"),
        (min_limit, "5"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let variables = environment::read(variables, &schema, &names, &mut findings);
    let external = External::<LimitConfig>::collect(&[file, variables], &CONTEXT, &mut findings);

    let search = &external.instances["my_app::search"];
    let expected = LimitConfig::new()
        .window(Duration::from_millis(250))
        .min_limit(5);
    assert_eq!(search.patch, expected);
    assert_eq!(
        search.settings["minLimit"].place,
        Place::Variable(min_limit.into())
    );
    let kept = LimitConfig::new().max_limit(100);
    assert_eq!(external.defaults.patch, kept, "what is wrong sets nothing");
    let told: Vec<_> = findings.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "`instances.my_app::search.adaptive-limit.algorithm` is \"elbow\", allowed is the name of an algorithm; at \
             app.properties:3; known are `aimd`, `gradient2`, `knee`, `mine`, `vegas` [R4C-REG-002]",
            "`RESILIENCE__DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMIT` is \"0\", allowed is a whole number from 1 to 1000000 \
             [R4C-CFG-007]",
        ]
    );
}

fn ratio() -> impl Strategy<Value = f64> {
    prop_oneof![0.5..1.0, Just(0.5), Just(0.1 + 0.2 + 0.4)]
}

fn any_calls() -> impl Strategy<Value = Calls> {
    prop_oneof![
        (0..=1_000_000_u32).prop_map(Calls::Fixed),
        (0..=1000_u32).prop_map(Calls::Log10),
    ]
}

fn any_deviations() -> impl Strategy<Value = Deviations> {
    any::<[bool; 8]>().prop_map(|on| {
        let mut deviations = Deviations::NONE;
        for ((_, switch), on) in switches(&mut deviations).into_iter().zip(on) {
            *switch = on;
        }
        deviations
    })
}

fn any_config() -> impl Strategy<Value = LimitConfig> {
    let count = || 1..=1_000_000_u32;
    let queue_size = prop_oneof![
        (0..=1_000_000_u32).prop_map(QueueSize::Fixed),
        (0..=1_000_000_u32).prop_map(|min| QueueSize::SquareRoot { min }),
    ];
    let jitter = prop_oneof![
        ratio().prop_map(Jitter::Fixed),
        any::<u64>().prop_map(Jitter::Seeded)
    ];
    let baseline = prop_oneof![
        Just(VegasBaseline::Minimum),
        (0.0..=1.0, 1..=10_000_u32)
            .prop_map(|(quantile, windows)| VegasBaseline::Quantile { quantile, windows }),
    ];
    let preset = prop_oneof![Just(Preset::Netflix), Just(Preset::Repaired)];
    let algorithm = prop_oneof![Just("gradient2"), Just("vegas"), Just("mine")];
    let numbers = (
        count(),
        count(),
        count(),
        count(),
        count(),
        count(),
        1..=u32::MAX,
    );
    let ratios = (ratio(), 1e-12..1.0_f64, 1.0..100.0_f64);
    let times = (1_000_000..=3_600_000_000_000_u64, 1..=3_600_000_000_000_u64);
    let calls = (any_calls(), any_calls(), any_calls());
    let growth_bound = prop_oneof![
        Just(GrowthBound::Off),
        (1.0..=100.0_f64).prop_map(|gain| GrowthBound::InFlight { gain }),
        (1.0..=100.0_f64, count()).prop_map(|(gain, windows)| GrowthBound::Bdp { gain, windows }),
    ];
    let growth = (any::<bool>(), growth_bound);
    let structured = (queue_size, jitter, baseline, any_deviations(), growth);
    let kinds = prop_oneof![
        Just(Kinds::default()),
        Just(Kinds::from(["timeout"])),
        Just(Kinds::from(["bulkhead-full", "busy"]))
    ];
    let named = (algorithm, preset, any::<bool>(), kinds);
    let drain = prop_oneof![
        Just(Drain::Off),
        (10..=1_000_000_u32).prop_map(Drain::Every)
    ];
    let wait = prop_oneof![Just(0), 1_000_000..=3_600_000_000_000_u64];
    let mode = prop_oneof![Just(Mode::Enforce), Just(Mode::Observe)];
    let waiting = (wait, count(), mode);
    let knee = (0.0..=10.0_f64, drain, 0.0..1.0_f64, 0.25..=4.0_f64);
    (
        numbers, ratios, times, calls, structured, named, waiting, knee,
    )
        .prop_map(
            |(numbers, ratios, times, calls, structured, named, waiting, knee)| LimitConfig {
                algorithm: Some(named.0.into()),
                initial_limit: Some(numbers.0),
                min_limit: Some(numbers.1),
                max_limit: Some(numbers.2),
                window: Some(Duration::from_nanos(times.0)),
                min_window_samples: Some(numbers.3),
                enabled: Some(named.2),
                max_wait: Some(Duration::from_nanos(waiting.0)),
                queue_limit: Some(waiting.1),
                mode: Some(waiting.2),
                drop_on: Some(named.3),
                preset: Some(named.1),
                backoff_ratio: Some(ratios.0),
                smoothing: Some(ratios.1),
                rtt_tolerance: Some(ratios.2),
                queue_size: Some(structured.0),
                long_window: Some(numbers.4),
                increase_by: Some(numbers.5),
                alpha: Some(calls.0),
                beta: Some(calls.1),
                threshold: Some(calls.2),
                probe_multiplier: Some(numbers.6),
                jitter: Some(structured.1),
                baseline: Some(structured.2),
                deviations: Some(structured.3),
                latency_threshold: Some(Duration::from_nanos(times.1)),
                once_per_rtt: Some(structured.4.0),
                growth_bound: Some(structured.4.1),
                headroom: Some(knee.0),
                drain: Some(knee.1),
                drop_share: Some(knee.2),
                sensitivity: Some(knee.3),
            },
        )
}

proptest! {
    #[test]
    fn what_is_shown_sets_the_same(config in any_config()) {
        let mut read = LimitConfig::new();
        for property in PROPERTIES {
            let shown = (property.show)(&config).unwrap();
            let set = (property.set)(&mut read, &shown, &CONTEXT);
            prop_assert!(set.is_ok(), "{} = {shown}: {set:?}", property.name);
        }
        prop_assert_eq!(read, config);
    }

    #[test]
    fn any_text_is_read_or_refused_and_a_refused_one_sets_nothing(
        text in "\\PC{0,30}|(squareRoot|seeded|quantile|minimum|all|none|cutOnce|[0-9]{1,8}|\\*|log10|[(),. ]){0,6}"
    ) {
        for property in PROPERTIES {
            let mut config = LimitConfig::new();
            if (property.set)(&mut config, &text, &CONTEXT).is_err() {
                prop_assert_eq!(config, LimitConfig::new());
            } else {
                prop_assert!(config.sets(property.field));
                prop_assert!(config.out_of_range().is_empty());
            }
        }
    }
}

#[test]
fn the_guide_has_every_property_as_it_is() {
    let guide = include_str!("../../../../docs/configuration.md");
    let rows: Vec<&str> = guide
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let expected: Vec<String> = PROPERTIES
        .iter()
        .map(|property| {
            format!(
                "| `{}` | {} | {} | {} |",
                property.name,
                property.allowed(),
                property.default,
                property.live
            )
        })
        .collect();
    assert_eq!(rows, expected);
}
