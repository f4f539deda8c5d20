//! The rules of docs/architecture.md that a compiler does not check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use resilience::Code;

/// The floors of the core, lowest first: a module uses its own floor and those below.
const FLOORS: &[&[&str]] = &[
    &["sync", "time", "id"],
    &["error", "outcome", "event"],
    &["limit"],
    &["config"],
    &["registry"],
    &["pipeline", "pool", "engine"],
    // Every exported macro is reached from the root.
    &[
        "private",
        "__private",
        "__announce",
        "testing",
        "sim",
        "integrations",
    ],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "rs")
}

/// The files below a folder whose names end like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == ending)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The code of a file, without comments and without its tests, which may look at anything.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text
        .split("\n#[cfg(all(test")
        .next()
        .unwrap()
        .split("\n#[cfg(test)]")
        .next()
        .unwrap();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first names after `crate::`, also within braces.
fn crate_modules(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        let group = rest
            .strip_prefix('{')
            .map(|rest| rest.split('}').next().unwrap());
        let names: Vec<&str> = group.map_or_else(|| vec![rest], |group| group.split(',').collect());
        for name in names {
            let name: String = name
                .trim()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            // Types at the root are re-exports; the library itself names their modules.
            if name.starts_with(|c: char| c.is_lowercase() || c == '_') {
                found.push(name);
            }
        }
    }
    found
}

#[test]
fn no_module_uses_a_floor_above_its_own() {
    let source = root().join("resilience-core/src");
    let mut checked = 0;
    for file in rust_files(&source) {
        let relative = file.strip_prefix(&source).unwrap();
        let module = relative
            .components()
            .next()
            .unwrap()
            .as_os_str()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let own = floor(module).unwrap_or_else(|| panic!("`{module}` stands on no floor"));
        for used in crate_modules(&code(&file)) {
            let Some(floor) = floor(&used) else {
                panic!("{}: `{used}` stands on no floor", relative.display())
            };
            assert!(
                floor <= own,
                "{}: floor {own} uses `{used}` on floor {floor}",
                relative.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} uses were found");
}

#[test]
fn algorithms_know_neither_clock_nor_atomics_nor_registry() {
    for file in rust_files(&root().join("resilience-core/src/limit/algorithm")) {
        let code = code(&file);
        for used in crate_modules(&code) {
            assert!(
                ["event", "limit"].contains(&used.as_str()),
                "{}: uses `{used}`",
                file.display()
            );
        }
        for foreign in ["std::time", "std::sync", "thread_local"] {
            assert!(
                !code.contains(foreign),
                "{}: uses `{foreign}`",
                file.display()
            );
        }
    }
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = root().join("docs/errors");
    let mut pages: BTreeMap<String, String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                fs::read_to_string(path).unwrap(),
            )
        })
        .collect();
    let index = pages
        .remove("README")
        .expect("docs/errors/README.md lists the codes");
    for (code, title) in Code::TABLE {
        let page = pages
            .remove(code.as_str())
            .unwrap_or_else(|| panic!("{code} has no page"));
        assert!(
            page.starts_with(&format!("# {code}: {title}\n")),
            "{code}: the page's title is not the table's"
        );
        for section in ["\n## Cause\n", "\n## Fix\n"] {
            assert!(page.contains(section), "{code}: no section{section}");
        }
        assert!(
            index.contains(&format!("[{code}]({code}.md)")),
            "{code} is not in the index"
        );
    }
    assert!(pages.is_empty(), "pages of no code: {:?}", pages.keys());
}

#[test]
fn every_code_that_a_compile_error_names_is_in_the_table() {
    let mut named = 0;
    for file in rust_files(&root().join("resilience-macros/src")) {
        let text = fs::read_to_string(&file).unwrap();
        for (at, prefix) in text.match_indices("R4C-ATR-") {
            let code = &text[at..at + prefix.len() + 3];
            let known = Code::TABLE.iter().any(|(known, _)| known.as_str() == code);
            assert!(known, "{}: {code} is not in the table", file.display());
            named += 1;
        }
    }
    assert!(named > 0, "the macro crate names no code");
}

#[test]
fn manifests_keep_to_the_layout_and_to_versions_in_one_place() {
    let manifest = fs::read_to_string(root().join("resilience/Cargo.toml")).unwrap();
    assert!(
        !manifest.contains("path = \"../resilience-macros\""),
        "versions are pinned in the workspace's manifest"
    );
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for pinned in ["resilience-core", "resilience-macros"] {
        let line = workspace
            .lines()
            .find(|line| line.starts_with(&format!("{pinned} = ")))
            .unwrap();
        assert!(
            line.contains("version = \"="),
            "{pinned} is not pinned: what the attribute expands to changes with it"
        );
    }
}

/// What is written for people.
fn guides() -> Vec<PathBuf> {
    let mut guides = files(&root().join("docs"), "md");
    guides.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|file| root().join(file)));
    guides
}

/// The targets of the links in a page, but for those in code.
fn links(page: &str) -> Vec<&str> {
    let text = page.split("```").step_by(2);
    text.flat_map(|text| text.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

#[test]
fn every_link_from_page_to_page_leads_to_a_file() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for guide in guides() {
        for link in links(&fs::read_to_string(&guide).unwrap()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || link.contains("://") {
                continue;
            }
            checked += 1;
            if !guide.with_file_name(file).is_file() {
                let guide = guide.strip_prefix(root()).unwrap();
                broken.push(format!("{}: {link}", guide.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 30, "only {checked} links were found");
}

#[test]
fn the_code_of_every_guide_is_compiled() {
    let facade = fs::read_to_string(root().join("resilience/src/lib.rs")).unwrap();
    for file in guides() {
        let guide = file.strip_prefix(root()).unwrap();
        let has_code = fs::read_to_string(&file).unwrap().contains("```rust");
        let included = facade.contains(&format!("include_str!(\"../../{}\")", guide.display()));
        assert_eq!(
            has_code,
            included,
            "{}: has code that is not run, or is listed without",
            guide.display()
        );
    }
}
