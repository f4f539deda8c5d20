//! Against the table of keys, and against anything at all.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const POLICY: &str = "adaptiveLimit";
const PROPERTIES: [&str; 13] = [
    "algorithm",
    "alpha",
    "backoffRatio",
    "beta",
    "dropOn",
    "enabled",
    "initialLimit",
    "maxLimit",
    "minLimit",
    "minWindowSamples",
    "rttTolerance",
    "threshold",
    "window",
];

fn schema() -> Schema {
    Schema::default().policy(POLICY, PROPERTIES)
}

fn suggested(name: &Value) -> Option<String> {
    name.as_str().map(|name| format!("did you mean `{name}`?"))
}

#[test]
fn every_key_of_the_table_means_what_it_should() {
    let cases = include_str!("../../../../tests/vectors/config/keys.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 63);
    let mut wrong = Vec::new();
    for case in &cases {
        let key = case["key"].as_str().unwrap();
        let meaning = schema().read(key, case["value"].as_str().unwrap_or("1"));
        let right = match &meaning {
            Meaning::Ours(key) => {
                let (section, id) = match &key.section {
                    Section::Defaults => ("defaults", None),
                    Section::Config(id) => ("configs", Some(&**id)),
                    Section::Instance(id) => ("instances", Some(&**id)),
                };
                case["section"] == section
                    && case["id"].as_str() == id
                    && case["property"] == key.property
            }
            Meaning::OtherPolicy => case["warning"] == "other_policy",
            Meaning::NotOurs => case["ignored"] == "not_ours",
            Meaning::Fault(fault) => {
                let kind = match fault {
                    KeyFault::TooLong => "too_long",
                    KeyFault::NameMissing { .. } => "name_missing",
                    KeyFault::DefaultsTakeNoName { .. } => "defaults_takes_no_name",
                    KeyFault::ReservedConfigName { .. } => "reserved_config_name",
                    KeyFault::ConfigNotAllowedHere => "config_not_allowed_here",
                    KeyFault::UnknownSection { .. } => "unknown_section",
                    KeyFault::UnknownPolicy { .. } => "unknown_policy",
                    KeyFault::UnknownProperty { .. } => "unknown_property",
                    KeyFault::Incomplete => "incomplete_key",
                    KeyFault::EndsEarly { .. } => "colon_ends_key",
                };
                let suggests =
                    !kind.starts_with("unknown") || fault.says().1 == suggested(&case["suggest"]);
                case["error"] == kind && suggests
            }
        };
        if !right {
            wrong.push(format!("{case} gave {meaning:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), wrong);
}

#[test]
fn a_key_that_its_file_cut_short_is_told_with_its_rest() {
    for (key, value, rest) in [
        (
            "instances.my_crate",
            ":client::search.adaptiveLimit.maxLimit=5",
            ":client::search.adaptiveLimit.maxLimit",
        ),
        (
            "instances.GET",
            "/b.adaptive-limit.config : x",
            "/b.adaptive-limit.config",
        ),
    ] {
        let rest = rest.to_owned();
        assert_eq!(
            schema().read(key, value),
            Meaning::Fault(KeyFault::EndsEarly { rest })
        );
    }
    // Somebody's text about a key.
    let about = "see instances.a.adaptiveLimit.maxLimit";
    assert_eq!(schema().read("app.help", about), Meaning::NotOurs);
}

#[test]
fn hostile_keys_are_faults() {
    let schema = schema();
    let dots = ".".repeat(200_000);
    assert_eq!(schema.read(&dots, &dots), Meaning::NotOurs);
    let long = format!("instances.{dots}.adaptiveLimit.maxLimit");
    assert_eq!(schema.read(&long, "1"), Meaning::Fault(KeyFault::TooLong));
    let policies = format!("instances{}", ".adaptiveLimit".repeat(50_000));
    assert!(matches!(schema.read(&policies, "1"), Meaning::Fault(_)));
    assert_eq!(schema.read(&"x".repeat(1_000_000), "1"), Meaning::NotOurs);
    assert!(matches!(
        schema.read("instances.\0.adaptiveLimit.maxLimit", "1"),
        Meaning::Ours(_)
    ));
}

#[test]
fn a_fault_says_what_is_allowed_and_what_may_be_meant() {
    let Meaning::Fault(fault) = schema().read("defaults.adaptiveLimit.maxLimt", "1") else {
        panic!("the key has no such property")
    };
    let (says, hint) = fault.says();
    assert!(
        says.starts_with("has the unknown property \"maxLimt\"; `adaptiveLimit` has `algorithm`, "),
        "{says}"
    );
    assert_eq!(hint.unwrap(), "did you mean `maxLimit`?");
}

/// Spells a name in one of the ways that mean the same.
fn respelt(name: &str, how: u8) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && how & 1 == 1 {
            out.push(if how & 2 == 2 { '-' } else { '_' });
        }
        out.push(if how & 4 == 4 {
            c.to_ascii_uppercase()
        } else {
            c
        });
    }
    out
}

proptest! {
    #[test]
    fn any_key_is_read_or_refused(key: String, value: String) {
        let _ = schema().read(&key, &value);
        let _ = schema().read_variable(&key);
    }

    #[test]
    fn anything_of_what_has_a_meaning_is_read_or_refused(
        parts in prop::collection::vec("instances|defaults|configs|adaptiveLimit|maxLimit|config|default|_|-|[a-z.:= ]{0,3}", 0..7),
        value in "[a.: =]{0,3}(\\.adaptiveLimit)?(\\.maxLimit)?[=: ]?",
    ) {
        let key = parts.join(".");
        if let Meaning::Fault(fault) = schema().read(&key, &value) {
            let _ = fault.says();
        }
        let _ = schema().read_variable(&parts.join("__"));
    }

    #[test]
    fn any_id_comes_back_from_any_spelling(id in "[^\\x00]{1,20}", property in 0..PROPERTIES.len(), how: [u8; 3]) {
        let property = PROPERTIES[property];
        let key = format!(
            "{}.{id}.{}.{}",
            respelt("instances", how[0]),
            respelt(POLICY, how[1]),
            respelt(property, how[2]),
        );
        let section = Section::Instance(id.into());
        prop_assert_eq!(
            schema().read(&key, "1"),
            Meaning::Ours(Key { section, policy: POLICY, property })
        );
    }
}
