//! Against the table of names, and against anything at all.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const POLICY: &str = "adaptiveLimit";

fn schema() -> Schema {
    let properties = [
        "maxLimit",
        "backoffRatio",
        "initialLimit",
        "minWindowSamples",
        "rttTolerance",
        "enabled",
        "window",
        "dropOn",
    ];
    Schema::default().policy(POLICY, properties)
}

fn table() -> Value {
    serde_json::from_str(include_str!(
        "../../../../../tests/vectors/config/environment.json"
    ))
    .unwrap()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect()
}

fn instances(ids: &[&str]) -> Names {
    let mut names = Names::default();
    for id in ids {
        names.add_instance(id);
    }
    names
}

fn read(variables: &[&str], names: &Names) -> (Vec<Entry>, Findings) {
    let mut findings = Findings::default();
    let variables = variables.iter().map(|name| (name.into(), "7".into()));
    let entries = super::read(variables, &schema(), names, &mut findings);
    (entries, findings)
}

#[test]
fn every_name_of_the_table_is_about_what_it_should() {
    for case in table()["forward"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap_or_default();
        let mut names = Names::default();
        let section = match case["section"].as_str().unwrap() {
            "defaults" => Section::Defaults,
            "configs" => {
                names.add_config(id);
                Section::Config(id.into())
            }
            _ => {
                names.add_instance(id);
                Section::Instance(id.into())
            }
        };
        for name in texts(&case["env"]) {
            let (entries, findings) = read(&[name], &names);
            assert!(
                findings.problems.is_empty() && findings.warnings.is_empty(),
                "{name}: {findings:?}"
            );
            let key = &entries[0].key;
            assert_eq!((&key.section, key.policy), (&section, POLICY), "{name}");
            assert_eq!(key.property, case["property"].as_str().unwrap(), "{name}");
            assert_eq!(entries[0].place.to_string(), format!("variable {name}"));
        }
    }
}

#[test]
fn ids_that_are_spelt_alike_are_told_apart_by_nobody() {
    for pair in table()["collisions"].as_array().unwrap() {
        let ids = texts(pair);
        let name = format!(
            "RESILIENCE__INSTANCES__{}__ADAPTIVE_LIMIT__MAX_LIMIT",
            spelt(ids[0])
        );
        let (entries, findings) = read(&[&name], &instances(&ids));
        assert!(entries.is_empty(), "{entries:?}");
        let problem = findings.problems[0].to_string();
        assert!(
            ids.iter().all(|id| problem.contains(&format!("`{id}`"))),
            "{problem}"
        );
        assert!(problem.ends_with("[R4C-CFG-010]"), "{problem}");
        let (_, findings) = read(&[], &instances(&ids));
        assert!(
            findings.problems.is_empty(),
            "nothing is wrong with the ids alone"
        );
    }
}

#[test]
fn what_matches_nothing_is_reported_and_what_is_not_ours_is_not() {
    let table = table();
    let names = instances(&["orders"]);
    let unmatched = texts(&table["unmatched_is_reported"]);
    let reports: Vec<String> = unmatched
        .iter()
        .map(|name| {
            let (entries, findings) = read(&[name], &names);
            assert!(entries.is_empty());
            let all = findings.problems.iter().chain(&findings.warnings);
            all.map(ToString::to_string).collect::<String>()
        })
        .collect();
    assert_eq!(
        reports,
        [
            "variable RESILIENCE__INSTANCES__ORDRES__ADAPTIVE_LIMIT__MAX_LIMIT is about no known instance: none is spelt \
             \"ORDRES\"; did you mean `ORDERS`? [R4C-CFG-009]",
            "`RESILIENCE__DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMT` has the unknown property \"MAX_LIMT\"; `adaptiveLimit` has \
             `backoffRatio`, `dropOn`, `enabled`, `initialLimit`, `maxLimit`, `minWindowSamples`, `rttTolerance`, `window`; \
             did you mean `maxLimit`? [R4C-CFG-005]",
            "variable RESILIENCE__FOO has no known section; a name is RESILIENCE__DEFAULTS__<policy>__<property>, or with \
             CONFIGS or INSTANCES and a name in between [R4C-CFG-003]",
        ]
    );
    let (entries, findings) = read(&texts(&table["not_ours"]), &names);
    assert!(entries.is_empty() && findings.problems.is_empty() && findings.warnings.is_empty());
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_utf_8_is_a_problem() {
    use std::os::unix::ffi::OsStringExt;
    let mut findings = Findings::default();
    let name = "RESILIENCE__DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMIT";
    let variables = [(name.into(), OsString::from_vec(vec![b'1', 0xff]))];
    let entries = super::read(variables, &schema(), &Names::default(), &mut findings);
    assert!(entries.is_empty());
    assert_eq!(
        findings.problems[0].to_string(),
        format!("the value of variable {name} is not UTF-8 [R4C-CFG-006]")
    );
}

proptest! {
    #[test]
    fn any_name_is_read_or_refused(name in "(RESILIENCE__)?((INSTANCES|CONFIGS|DEFAULTS|ADAPTIVE_LIMIT|MAX_LIMIT|[A-Z_]{0,3})_{0,3}){0,6}\\PC{0,3}") {
        let _ = read(&[&name], &instances(&["a", "a-b", "a_b"]));
    }

    #[test]
    fn any_known_id_is_found_by_its_spelling(id in "\\PC{1,12}") {
        let name = format!("RESILIENCE__INSTANCES__{}__ADAPTIVE_LIMIT__MAX_LIMIT", spelt(&id));
        let (entries, _) = read(&[&name], &instances(&[&id]));
        prop_assert_eq!(&entries[0].key.section, &Section::Instance(id.as_str().into()));
    }
}
