//! The gallery of examples/scenarios, and the committed report on it.

use std::fs;

use resilience::sim::Scenario;

use crate::support::{folder, gallery, names, result};

#[test]
fn every_scenario_can_be_read_and_says_what_it_is_about() {
    let names = names();
    assert!(names.len() >= 30, "only {} scenarios", names.len());
    for name in names {
        let scenario = gallery(&name);
        assert_eq!(scenario.name(), name);
        assert!(scenario.about().len() > 20, "{name}");
    }
}

#[test]
fn the_report_has_every_scenario_and_a_chart_for_it() {
    let docs = folder().join("../../docs");
    let page = fs::read_to_string(docs.join("simulations.md")).unwrap();
    for name in names() {
        assert!(
            page.contains(&format!("\n## {name}\n")),
            "{name} is not in docs/simulations.md: run ci/simulate"
        );
        assert!(
            docs.join(format!("simulations/{name}.svg")).is_file(),
            "{name} has no chart: run ci/simulate"
        );
    }
    let charts = fs::read_dir(docs.join("simulations")).unwrap().count();
    assert_eq!(
        charts,
        names().len(),
        "charts of scenarios that are no more: run ci/simulate"
    );
}

#[test]
fn the_scenario_of_the_guide_is_one() {
    let guide = fs::read_to_string(folder().join("../../docs/simulator.md")).unwrap();
    let toml = guide.split("```toml\n").nth(1).unwrap();
    let scenario = Scenario::parse("guide.toml", toml.split("```").next().unwrap()).unwrap();
    let result = result(&scenario, "vegas");
    assert!(result.served > 10_000 && result.failed > 0, "{result:?}");
}

/// The keys that the reader knows, by where it asks for them.
#[test]
fn the_guide_has_every_key() {
    let guide = fs::read_to_string(folder().join("../../docs/simulator.md")).unwrap();
    let reader = folder().join("../../resilience-core/src/sim/read");
    let mut keys = Vec::new();
    for file in ["limit.rs", "schedules.rs", "tables.rs"] {
        let code = fs::read_to_string(reader.join(file)).unwrap();
        // All keys and names are plain words in quotes; texts for people have spaces or marks.
        let quoted = code.split('"').skip(1).step_by(2);
        let words = quoted.filter(|text| text.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        keys.extend(words.filter(|word| word.len() > 1).map(str::to_owned));
    }
    keys.sort();
    keys.dedup();
    let known = |key: &String| {
        guide
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == key)
    };
    let missing: Vec<_> = keys.iter().filter(|key| !known(key)).collect();
    assert!(
        keys.len() > 40 && missing.is_empty(),
        "{} keys, missing: {missing:?}",
        keys.len()
    );
}
