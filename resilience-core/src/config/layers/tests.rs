//! With a policy made for it, so that what is tested is not what the limit's properties are.

use super::*;
use crate::config::patch::Property;

#[derive(Clone, Debug, Default, PartialEq)]
struct Toy {
    size: Option<u32>,
    on: Option<bool>,
}

impl Patch for Toy {
    const POLICY: &'static str = "toyPolicy";

    fn properties() -> &'static [Property<Self>] {
        const PROPERTIES: &[Property<Toy>] = &[
            Property {
                name: "size",
                field: "size",
                kind: "a whole number",
                range: "from 1 to 10",
                default: "1",
                live: "at once",
                set: |toy, text, _| {
                    toy.size = Some(value::count(text)?);
                    if (1..=10).contains(&toy.size.unwrap_or(0)) {
                        Ok(())
                    } else {
                        Err(WrongValue::out_of_range())
                    }
                },
                show: |toy| toy.size.map(|size| size.to_string()),
            },
            Property {
                name: "isOn",
                field: "on",
                kind: "true or false",
                range: "",
                default: "true",
                live: "at once",
                set: |toy, text, _| {
                    toy.on = Some(value::boolean(text)?);
                    Ok(())
                },
                show: |toy| toy.on.map(|on| on.to_string()),
            },
        ];
        PROPERTIES
    }

    fn overlay(&mut self, higher: &Self) {
        self.size = higher.size.or(self.size);
        self.on = higher.on.or(self.on);
    }
}

fn source(file: &str, pairs: &[(&str, &str)]) -> Vec<Written> {
    let written = pairs.iter().zip(1..).map(|((key, text), line)| Written {
        key: (*key).to_owned(),
        text: (*text).to_owned(),
        unfit: None,
        place: Place::File {
            file: file.into(),
            line: Some(line),
        },
    });
    written.collect()
}

fn collect(sources: &[Vec<Written>]) -> (External<Toy>, Findings) {
    let schema = Schema::default().with::<Toy>();
    let mut findings = Findings::default();
    let sources: Vec<_> = sources
        .iter()
        .map(|source| understand(&schema, source.clone(), &mut findings))
        .collect();
    let external = External::collect(&sources, &Context::default(), &mut findings);
    (external, findings)
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn later_sources_win_property_by_property() {
    let (external, findings) = collect(&[
        source(
            "a",
            &[
                ("defaults.toy-policy.size", " 1 "),
                ("defaults.toyPolicy.isOn", "on"),
                ("server.port", "80"),
            ],
        ),
        source(
            "b",
            &[
                ("DEFAULTS.TOY_POLICY.SIZE", "2"),
                ("configs.c.toyPolicy.size", "3"),
                ("instances.i.toyPolicy.config", " c "),
            ],
        ),
    ]);
    assert!(
        findings.problems.is_empty() && findings.warnings.is_empty(),
        "{findings:?}"
    );
    let (size, on) = (Some(2), Some(true));
    assert_eq!(external.defaults.patch, Toy { size, on });
    let from = |property| external.defaults.settings[property].place.to_string();
    assert_eq!((from("size"), from("isOn")), ("b:1".into(), "a:2".into()));
    assert_eq!(external.configs["c"].patch.size, Some(3));
    let config = external.instances["i"].config.as_ref().unwrap();
    assert_eq!(
        (config.text.as_str(), config.place.to_string()),
        ("c", "b:3".into())
    );
}

#[test]
fn all_problems_of_all_sources_are_told_with_their_places() {
    let (external, findings) = collect(&[
        source(
            "a",
            &[
                ("defaults.toyPolicy.size", "0"),
                ("defaults.toyPolicy.Size", "5"),
                ("default.toyPolicy.size", "5"),
                ("defaults.toyPolicy.isOn", "ture"),
                ("instances.i.toyPolicy.config", "Default"),
                ("instances.i.bulkhead.size", "1"),
            ],
        ),
        source(
            "b",
            &[
                ("defaults.toyPolicy.size", "ten # or so"),
                ("instances.i.toyPolicy.sise", "1"),
            ],
        ),
    ]);
    assert_eq!(
        texts(&findings.problems),
        [
            "`default.toyPolicy.size` has the unknown section \"default\", allowed is one of `configs`, `defaults`, \
             `instances`; at a:3; did you mean `defaults`? [R4C-CFG-003]",
            "`instances.i.toyPolicy.sise` has the unknown property \"sise\"; `toyPolicy` has `config`, `isOn`, `size`; at b:2; \
             did you mean `size`? [R4C-CFG-005]",
            "`defaults.toyPolicy.size` is \"0\", allowed is a whole number from 1 to 10; at a:1 [R4C-CFG-007]",
            "`defaults.toyPolicy.Size` is given twice: \"5\" at a:2, before as `defaults.toyPolicy.size` \"0\" at a:1 \
             [R4C-CFG-008]",
            "`defaults.toyPolicy.isOn` is \"ture\", allowed is true or false; at a:4; did you mean `true`? [R4C-CFG-006]",
            "`instances.i.toyPolicy.config` is \"Default\", allowed is the name of a config; at a:5; defaults are below every \
             instance and need no mention [R4C-CFG-006]",
            "`defaults.toyPolicy.size` is \"ten # or so\", allowed is a whole number from 1 to 10; at b:1; what follows a \
             value on its line is part of it: comments stand on lines of their own [R4C-CFG-006]",
        ]
    );
    assert_eq!(
        texts(&findings.warnings),
        [
            "`instances.i.bulkhead.size` is of no policy that is known, and has no effect; at a:6 [R4C-CFG-014]"
        ]
    );
    assert_eq!(external.defaults.patch, Toy::default());
    assert!(external.defaults.settings.is_empty());
}
