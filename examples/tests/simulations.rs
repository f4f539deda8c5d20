//! The committed report on the gallery is what the code makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use examples::gallery::{self, GALLERY};
use examples::simulations::{scenarios, section};
use examples::{pictures, remedies};

fn root() -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"));
    examples.parent().unwrap().to_owned()
}

#[test]
fn the_gallery_holds_every_file_of_its_folder() {
    let mut files: Vec<String> = fs::read_dir(root().join("examples/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut listed: Vec<String> = GALLERY
        .iter()
        .map(|(name, _)| format!("{name}.toml"))
        .collect();
    listed.sort();
    assert_eq!(files, listed);
    assert_eq!(scenarios().unwrap().len(), GALLERY.len());
}

/// The whole of it takes a minute in a release build, see `ci/simulate --check`; these have few calls.
#[test]
fn some_of_the_report_is_made_again_byte_for_byte() {
    let docs = root().join("docs");
    let page = fs::read_to_string(docs.join("simulations.md")).unwrap();
    let worth = fs::read_to_string(docs.join("remedies.md")).unwrap();
    for name in ["one-server", "seconds", "ten-clients", "light-load"] {
        let scenario = gallery::find(name).unwrap().unwrap();
        let section = section(&scenario, |_| {}).unwrap();
        assert!(
            page.contains(&section.text),
            "docs/simulations.md is not what the code makes of `{name}`: run `ci/simulate` and look at the difference\n{}",
            section.text
        );
        let chart = fs::read_to_string(docs.join(format!("simulations/{name}.svg"))).unwrap();
        // Not `assert_eq`: nobody wants to read both.
        assert!(
            chart == section.chart,
            "the chart of `{name}` is another: run `ci/simulate`"
        );
        for row in remedies::rows(&section) {
            assert!(
                worth.contains(&row),
                "docs/remedies.md is not what the code makes of `{name}`: run `ci/simulate` and look at the difference\n{row}"
            );
        }
    }
}

#[test]
fn the_pictures_of_the_guide_are_there_and_what_the_code_makes() {
    let docs = root().join("docs");
    let guide = fs::read_to_string(docs.join("algorithms.md")).unwrap();
    let mut shown: Vec<String> = pictures::SHOWN.map(str::to_owned).into();
    shown.push("knee".to_owned());
    for name in &shown {
        assert!(
            guide.contains(&format!("(algorithms/{name}.svg)")),
            "{name}"
        );
        let picture = fs::read_to_string(docs.join(format!("algorithms/{name}.svg"))).unwrap();
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    }
    let files = fs::read_dir(docs.join("algorithms")).unwrap().count();
    assert_eq!(files, shown.len(), "pictures that nothing makes");
    let knee = fs::read_to_string(docs.join("algorithms/knee.svg")).unwrap();
    assert!(
        Some(knee) == pictures::knee(),
        "the picture of knee is another: run `ci/simulate`"
    );
}

fn simulate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simulate"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn the_program_prints_a_table_and_writes_what_it_is_asked_for() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulate");
    let _ = fs::remove_dir_all(&folder);
    let (chart, json) = (folder.join("new/a.svg"), folder.join("new/a.json"));
    let output = simulate(&[
        "light-load",
        "--seconds",
        "5",
        "--algorithm",
        "vegas:window=200ms,fixed:30",
        "--chart",
        chart.to_str().unwrap(),
        "--json",
        json.to_str().unwrap(),
    ]);
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{err}");
    assert!(out.starts_with("light-load: less than a third"), "{out}");
    assert!(
        out.contains("\nvegas:window=200ms  ") && out.contains("\nfixed:30 "),
        "{out}"
    );
    assert!(fs::read_to_string(chart).unwrap().starts_with("<svg"));
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(report["results"][1]["name"], "fixed:30");
}

/// What the program prints and writes about a scenario.
fn written(folder: &Path) -> [Vec<u8>; 3] {
    let _ = fs::remove_dir_all(folder);
    let (chart, json) = (folder.join("a.svg"), folder.join("a.json"));
    let output = simulate(&[
        "ten-clients",
        "--seconds",
        "4",
        "--chart",
        chart.to_str().unwrap(),
        "--json",
        json.to_str().unwrap(),
    ]);
    assert!(output.status.success());
    [
        output.stdout,
        fs::read(chart).unwrap(),
        fs::read(json).unwrap(),
    ]
}

#[test]
fn another_process_writes_the_same_byte_for_byte() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [one, other] = ["one", "other"].map(|name| written(&folder.join(name)));
    assert!(one.iter().all(|bytes| bytes.len() > 100));
    // Not `assert_eq`: nobody wants to read all of it.
    assert!(one == other, "the two differ");
}

#[test]
fn the_program_says_what_is_wrong_and_fails() {
    let output = simulate(&["light-lod"]);
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("did you mean `light-load`?"), "{err}");
}

#[test]
fn the_program_lists_the_gallery() {
    let out = String::from_utf8(simulate(&["list"]).stdout).unwrap();
    assert_eq!(out.lines().count(), GALLERY.len());
}
