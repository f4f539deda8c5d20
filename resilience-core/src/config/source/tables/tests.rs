use proptest::prelude::*;

use super::*;
use crate::config::key::Schema;
use crate::config::layers::{Findings, understand};
use crate::config::source::Unfit;

const FORMATS: [Format; 3] = [Format::Toml, Format::Yaml, Format::Json];

/// Key, text and line of each setting; or the problems.
fn read(format: Format, text: &str) -> Result<Vec<(String, String, u32)>, Vec<String>> {
    match parse(format, &"app".into(), text) {
        Ok(written) => Ok(written
            .into_iter()
            .map(|written| {
                let line = match written.place {
                    Place::File { line, .. } => line.expect("every value has a line"),
                    Place::Variable(_) => unreachable!("it is a file"),
                };
                let text = match written.unfit {
                    None => written.text,
                    Some(unfit) => format!("{unfit:?}"),
                };
                (written.key, text, line)
            })
            .collect()),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

fn settings(settings: &[(&str, &str, u32)]) -> Vec<(String, String, u32)> {
    settings
        .iter()
        .map(|(key, text, line)| ((*key).to_owned(), (*text).to_owned(), *line))
        .collect()
}

/// What is read, without the lines.
fn pairs(format: Format, text: &str) -> Vec<(String, String)> {
    let settings = read(format, text).unwrap();
    settings
        .into_iter()
        .map(|(key, text, _)| (key, text))
        .collect()
}

fn told(format: Format, text: &str) -> String {
    read(format, text).unwrap_err().join("; ")
}

#[test]
fn ids_are_exact_and_keys_may_be_flat_or_nested() {
    let toml = "defaults.adaptiveLimit.maxLimit = 1
[instances]
'flat.adaptiveLimit.maxLimit' = 5

[instances.'A.b'.adaptiveLimit]
maxLimit = 2
[instances.A.c.adaptiveLimit]
maxLimit = 3
['instances.GET /search'.adaptive_limit]
max_limit = 4";
    assert_eq!(
        read(Format::Toml, toml),
        Ok(settings(&[
            ("defaults.adaptiveLimit.maxLimit", "1", 1),
            ("instances.flat.adaptiveLimit.maxLimit", "5", 3),
            ("instances.A.b.adaptiveLimit.maxLimit", "2", 6),
            ("instances.A.c.adaptiveLimit.maxLimit", "3", 8),
            ("instances.GET /search.adaptive_limit.max_limit", "4", 10),
        ]))
    );
    let yaml = "defaults:
  adaptiveLimit: { maxLimit: 1 }
instances:
  # flat
  flat.adaptiveLimit.maxLimit: 5
  Client<Foo>::get:
    adaptiveLimit:
      maxLimit:
        2
  007: {adaptiveLimit: {maxLimit: 3}}
";
    assert_eq!(
        read(Format::Yaml, yaml),
        Ok(settings(&[
            ("defaults.adaptiveLimit.maxLimit", "1", 2),
            ("instances.flat.adaptiveLimit.maxLimit", "5", 5),
            ("instances.Client<Foo>::get.adaptiveLimit.maxLimit", "2", 8),
            ("instances.007.adaptiveLimit.maxLimit", "3", 10),
        ]))
    );
    let json = r#"{
        "defaults": {"adaptiveLimit": {"maxLimit": 1}},
        "instances": {
            "A.b": {"adaptiveLimit":
                {"maxLimit":
                    2}},
            "\u00e9\"": {"adaptiveLimit": {"maxLimit": 3}}
        }
    }"#;
    assert_eq!(
        read(Format::Json, json),
        Ok(settings(&[
            ("defaults.adaptiveLimit.maxLimit", "1", 2),
            ("instances.A.b.adaptiveLimit.maxLimit", "2", 5),
            ("instances.é\".adaptiveLimit.maxLimit", "3", 7),
        ]))
    );
}

#[test]
fn the_same_settings_are_the_same_in_every_format() {
    // What is written for it in TOML, YAML and JSON, and its text.
    let rows = [
        ("20", "20", "20", "20"),
        ("-1", "-1", "-1", "-1"),
        ("10.6", "10.6", "10.6", "10.6"),
        ("100.0", "100.0", "100.0", "100.0"),
        ("1e-7", "1e-7", "1e-7", "0.0000001"),
        ("1e2", "1e2", "1e2", "100.0"),
        ("true", "true", "true", "true"),
        ("'true'", "'true'", "\"true\"", "true"),
        ("'on'", "on", "\"on\"", "on"),
        ("'250ms'", "250ms", "\"250ms\"", "250ms"),
        ("'0x10'", "'0x10'", "\"0x10\"", "0x10"),
        ("' 20 # c'", "' 20 # c'", "\" 20 # c\"", " 20 # c"),
        ("['x', 'y']", "[x, y]", "[\"x\", \"y\"]", "x,y"),
        ("['x']", "\n  - x", "[\"x\"]", "x,"),
        ("[]", "[]", "[]", ","),
        ("[[1]]", "[[1]]", "[[1]]", "NestedList"),
        ("[{a = 1}]", "\n  - a: 1", "[{\"a\": 1}]", "NestedList"),
        ("['x,y']", "['x,y']", "[\"x,y\"]", "CommaInItem"),
        ("2026-01-01", "2026-01-01", "\"2026-01-01\"", "2026-01-01"),
        (
            "9223372036854775807",
            "9223372036854775807",
            "9223372036854775807",
            "9223372036854775807",
        ),
    ];
    for (toml, yaml, json, text) in rows {
        let expected = vec![("a.b".to_owned(), text.to_owned())];
        assert_eq!(pairs(Format::Toml, &format!("a.b = {toml}")), expected);
        assert_eq!(pairs(Format::Yaml, &format!("a:\n b: {yaml}")), expected);
        let json = format!("{{\"a\": {{\"b\": {json}}}}}");
        assert_eq!(pairs(Format::Json, &json), expected);
        assert_eq!(pairs(Format::Yaml, &json), expected);
    }
}

/// All that one file says, as it is understood: lines, sections, ids, texts and problems.
fn understood(name: &str, text: &str) -> Vec<String> {
    let schema = Schema::default().policy("adaptiveLimit", ["maxLimit", "window", "dropOn"]);
    let written = match crate::config::source::properties::parse(text.as_bytes()) {
        Ok(pairs) if name == "properties" => pairs
            .into_iter()
            .map(|pair| Written {
                key: pair.key,
                text: pair.value,
                unfit: None,
                place: Place::Variable("of no matter".into()),
            })
            .collect(),
        _ => {
            let format = FORMATS
                .into_iter()
                .find(|format| format!("{format:?}").eq_ignore_ascii_case(name))
                .unwrap();
            parse(format, &"app".into(), text).unwrap()
        }
    };
    let mut findings = Findings::default();
    let entries = understand(&schema, written, &mut findings);
    let mut told: Vec<String> = entries
        .iter()
        .map(|entry| format!("{:?} {}", entry.key, entry.text))
        .collect();
    told.sort();
    told.extend(findings.warnings.iter().map(ToString::to_string));
    told.extend(findings.problems.iter().map(ToString::to_string));
    told
}

#[test]
fn the_guide_says_the_same_in_every_format() {
    let guide = include_str!("../../../../../docs/configuration.md");
    let example = |format: &str| {
        let begin = format!("```{format}\n# the same in every format\n");
        // JSON has no comments.
        let begin = match format {
            "json" => "```json\n".to_owned(),
            _ => begin,
        };
        let (_, rest) = guide
            .split_once(&begin)
            .unwrap_or_else(|| panic!("{format}"));
        rest.split_once("```").unwrap().0
    };
    let expected = understood("properties", example("properties"));
    assert_eq!(expected.len(), 5, "{expected:?}");
    for format in ["toml", "yaml", "json"] {
        assert_eq!(understood(format, example(format)), expected, "{format}");
    }
}

#[test]
fn what_is_no_value_is_an_error_where_it_is_ours() {
    let yaml = "
servers: [{host: &h x}]
other: {<<: *h, y: *h, n: , t: !x y}
instances:
  a: {adaptiveLimit: {maxLimit: , window: !x 1s, dropOn: [[x]]}}
  b: *h
  c: !x {adaptiveLimit: {maxLimit: 5}}
  d: {adaptiveLimit: {<<: *h}}
  e: {adaptiveLimit: {maximum: }}
configs:
";
    let told = understood("yaml", yaml);
    assert!(told[0].ends_with("maxLimit\" } 5"), "{told:?}");
    assert!(told[1].starts_with("`configs` is of no policy"), "{told:?}");
    assert_eq!(
        told[2..],
        [
            "`instances.a.adaptiveLimit.maxLimit` is null, which no property is: leave it out where it says nothing; at app:5 [R4C-CFG-006]",
            "`instances.a.adaptiveLimit.window` has a tag, which nothing here has: write the value without it; at app:5 [R4C-CFG-006]",
            "`instances.a.adaptiveLimit.dropOn` is a list of lists or tables, which no property is; at app:5 [R4C-CFG-006]",
            "`instances.b` is an alias, which is not followed: write out what it stands for; at app:6 [R4C-CFG-006]",
            "`instances.c` has a tag, which nothing here has: write the value without it; at app:7 [R4C-CFG-006]",
            "`instances.d.adaptiveLimit.<<` merges a table, which is not done: write out what is in it; at app:8 [R4C-CFG-006]",
            "`instances.e.adaptiveLimit.maximum` has the unknown property \"maximum\"; `adaptiveLimit` has `config`, `dropOn`, `maxLimit`, `window`; at app:9 [R4C-CFG-005]",
        ]
    );
}

#[test]
fn what_one_format_alone_has_keeps_its_meaning() {
    for (text, value) in [
        ("a = 1_000", "1000"),
        ("a = +5", "5"),
        ("a = 0x1F", "31"),
        ("a = 0b11", "3"),
        ("a = inf", "inf"),
        ("a = 1979-05-27 07:32:00", "1979-05-27 07:32:00"),
        ("a = '''\nx'''", "x"),
    ] {
        assert_eq!(pairs(Format::Toml, text), [("a".to_owned(), value.into())]);
    }
    for (text, value) in [
        ("a: 0x1F", "31"),
        ("a: 0o17", "15"),
        ("a: 010", "010"),
        ("a: 1_000", "1_000"),
        ("a: .inf", ".inf"),
        ("a: yes", "yes"),
        ("a: &anchor 5", "5"),
        ("a: >-\n  x\n  y", "x y"),
        ("a:", "Null"),
        ("a: ~", "Null"),
        ("a: 'null'", "null"),
        ("a: !!str 5", "Tag"),
        ("a: 99999999999999999999999", "99999999999999999999999"),
    ] {
        assert_eq!(pairs(Format::Yaml, text), [("a".to_owned(), value.into())]);
    }
    for (text, value) in [
        ("null", "Null"),
        ("1e400", "1e400"),
        ("99999999999999999999999", "99999999999999999999999"),
        ("\"\\u0041\"", "A"),
    ] {
        let text = format!("{{\"a\": {text}}}");
        assert_eq!(pairs(Format::Json, &text), [("a".to_owned(), value.into())]);
    }
}

#[test]
fn nothing_and_comments_are_no_settings() {
    for text in ["", "# c\n"] {
        assert_eq!(read(Format::Toml, text), Ok(vec![]));
        assert_eq!(read(Format::Yaml, text), Ok(vec![]));
    }
    assert_eq!(read(Format::Yaml, "---\n# c\n"), Ok(vec![]));
    assert_eq!(read(Format::Json, " {}\n"), Ok(vec![]));
    assert_eq!(
        told(Format::Json, ""),
        "unexpected end of file, a value was expected; at app:1 [R4C-CFG-002]"
    );
}

#[test]
fn a_fault_is_told_in_one_line_with_its_place() {
    for (format, text, says) in [
        (
            Format::Toml,
            "a = 1\nb = = 2\n\nc = 'x",
            "extra `=`, expected nothing; at app:2 [R4C-CFG-002]; \
             invalid literal string, expected `'`; at app:4 [R4C-CFG-002]",
        ),
        (
            Format::Json,
            "{\"a\": 1,\r\n\"b\" 2}",
            "what follows a name is not `:` and a value; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Json,
            "{\"a\": 1,\n\n}",
            "trailing commas are not allowed; at app:3 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "a: 1\n b: 2\n",
            "mapping values are not allowed in this context; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "a: 1\n---\nb: 2\n",
            "a second document begins, where one is read; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "%YAML 1.1\n---\nb: 2\n",
            "YAML of another version than 1.2 is not read; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "a: 1\n? [b]\n: 2\n",
            "a name is a text, and no list, table or alias; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "a: &x b\n*x : 2\n",
            "a name is a text, and no list, table or alias; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "a: 1\n: 2\n",
            "a name is missing; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Json,
            "\n[1]",
            "a list is in the place of a table of names and values; at app:2 [R4C-CFG-002]",
        ),
        (
            Format::Yaml,
            "text",
            "a value is in the place of a table of names and values; at app:1 [R4C-CFG-002]",
        ),
    ] {
        assert_eq!(told(format, text), says);
    }
    for format in FORMATS {
        assert_eq!(
            told(format, "\n\0"),
            "a NUL character is in the text; at app:2 [R4C-CFG-002]"
        );
        assert_eq!(
            told(format, "\u{feff}"),
            "a second byte order mark is in the text; at app:1 [R4C-CFG-002]"
        );
    }
}

#[test]
fn a_name_that_is_given_twice_is_told_with_both_places() {
    let twice = "`b` is given twice: before at app:2; at app:4 [R4C-CFG-002]";
    for (format, text) in [
        (
            Format::Json,
            "{\"a\": {\n\"b\": 1,\n\"c\": 2,\n\"\\u0062\": 2}}",
        ),
        (
            Format::Json,
            "{\"a\": [{\n\"b\": 1,\n\"c\": 2,\n\"b\": 2}]}",
        ),
        (Format::Yaml, "a:\n  b: 1\n  c: 2\n  \"b\": 2\n"),
        (Format::Toml, "[a]\nb = 1\nc = 2\n'b' = 2"),
        (Format::Toml, "[a]\nb.x = 1\nc = 2\nb = 2"),
        (Format::Toml, "\n[b]\nc = 2\n[b]"),
        (Format::Toml, "\n[a.b]\nc = 2\n[a.b]"),
        (Format::Toml, "# é\na = {b = 1, c = {},\n\nb = 2}"),
    ] {
        assert_eq!(told(format, text), twice, "{text}");
    }
    assert_eq!(
        read(Format::Toml, "a = 1\na = 2\nb = 1\nb = 2").unwrap_err(),
        [
            "`a` is given twice: before at app:1; at app:2 [R4C-CFG-002]",
            "`b` is given twice: before at app:3; at app:4 [R4C-CFG-002]",
        ]
    );
    let many = told(Format::Yaml, &"a: 1\n".repeat(1_000));
    assert_eq!(many.matches("before at app:1").count(), 100);
    assert!(many.ends_with("899 more names are given twice; at app [R4C-CFG-002]"));
    // The same key in two spellings is found where keys are understood, which needs the lines of both.
    assert_eq!(
        read(Format::Yaml, "a: {b.c: 1}\na.b: {c: 2}"),
        Ok(settings(&[("a.b.c", "1", 1), ("a.b.c", "2", 2)]))
    );
}

#[test]
fn aliases_merges_and_tags_are_not_followed() {
    let text = "a: &x {b: 1}
c: *x
d:
  <<: *x
  e: !secret f
g: !map
  h: [*x]
";
    assert_eq!(
        read(Format::Yaml, text),
        Ok(settings(&[
            ("a.b", "1", 1),
            ("c", "Alias", 2),
            ("d.<<", "Merge", 4),
            ("d.e", "Tag", 5),
            ("g", "Tag", 6),
            ("g.h", "Alias", 7),
        ]))
    );
    assert_eq!(
        told(Format::Yaml, "a: &x {b: 1}\n<<: *x"),
        "`<<` merges a table, which is not done: write out what is in it; at app:2 [R4C-CFG-002]"
    );
    assert_eq!(pairs(Format::Yaml, "'<<': 1"), [("<<".into(), "1".into())]);
    assert!(Unfit::Alias.hides_settings() && !Unfit::Null.hides_settings());
}

#[test]
fn hostile_files_are_refused() {
    for (format, text) in [
        (Format::Toml, format!("a = {}", "[".repeat(100_000))),
        (Format::Toml, format!("[{}a]", "a.".repeat(100_000))),
        (Format::Toml, format!("{}a = 1", "a.".repeat(100_000))),
        (Format::Toml, format!("a = {}", "{a=".repeat(100_000))),
        (Format::Json, "[".repeat(100_000)),
        (Format::Json, "{\"a\":".repeat(100_000)),
        (Format::Json, format!("{{\"a\":{}", "[".repeat(100_000))),
        (Format::Yaml, "[".repeat(100_000)),
        (Format::Yaml, "- ".repeat(100_000)),
        (Format::Yaml, "? ".repeat(100_000)),
        (Format::Yaml, "{a: ".repeat(100_000)),
        (
            Format::Yaml,
            (0..1_000).map(|depth| " ".repeat(depth) + "a:\n").collect(),
        ),
    ] {
        assert!(read(format, &text).is_err());
    }
    // Neither the dots nor the braces are too many by themselves.
    let dotted = vec!["a"; 79].join(".");
    let braces = format!(
        "{}a = 1{}",
        format!("{dotted} = {{").repeat(78),
        "}".repeat(78)
    );
    assert_eq!(
        told(Format::Toml, &format!("[{dotted}]\nb = 1\n{braces}")),
        "tables and lists stand too deep in each other; at app:3 [R4C-CFG-002]"
    );
    let long: Vec<String> = (0..1_000)
        .map(|line| format!("a.b.c{line}.d = [{{ e.f = 1.5 }}]"))
        .collect();
    assert_eq!(pairs(Format::Toml, &long.join("\n")).len(), 1_000);
    let deep = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(Format::Json, &deep(127)).is_ok());
    assert_eq!(
        told(Format::Json, &deep(128)),
        "tables and lists stand more than 128 deep in each other; at app:1 [R4C-CFG-002]"
    );
}

#[test]
fn aliases_of_aliases_cost_nothing() {
    let levels = (1..100).map(|level| {
        let before = format!("*a{},", level - 1).repeat(10);
        format!("a{level}: &a{level} [{before}]")
    });
    let bomb: Vec<String> = ["a0: &a0 [x, x]".to_owned()]
        .into_iter()
        .chain(levels)
        .collect();
    assert_eq!(pairs(Format::Yaml, &bomb.join("\n")).len(), 100);
}

#[test]
fn short_names_under_a_long_one_are_bounded() {
    let long = "n".repeat(1_000);
    let many: Vec<String> = (0..20_000).map(|name| format!("\"{name}\":1")).collect();
    let json = format!("{{\"{long}\": {{{}}}}}", many.join(","));
    let toml = format!("[{long}]\n{}", many.join("\n").replace(':', "="));
    for (format, text) in [
        (Format::Json, &json),
        (Format::Yaml, &json),
        (Format::Toml, &toml),
    ] {
        let told = told(format, text);
        assert!(
            told.starts_with("the keys are longer than 16777216 bytes"),
            "{told}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "\\PC{0,60}|[a-c0-9.'\"\\[\\]{}=:,#&*!<?|>%~\r\n -]{0,80}|(?s:.){0,40}"
    ) {
        for format in FORMATS {
            if let Err(problems) = parse(format, &"app".into(), &text) {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    prop_assert!(problem.text.contains("; at app"), "{}", problem);
                    prop_assert!(!problem.text.contains('\n'));
                }
            }
        }
    }

    /// JSON is as strict as the reference says, but for names given twice.
    #[test]
    fn json_is_what_serde_json_takes_for_it(
        text in "[\\[\\]{}\"a:,0-2.eE+tru\\\\u-]{0,12}|\\{\"a\":[-+0-9.eE]{1,8}\\}|\"(\\\\u[dD][89cC]0[01]|\\\\[a-z/]|\\PC){0,3}\""
    ) {
        let object = format!("{{\"k\": {text}}}");
        let known = serde_json::from_str::<serde_json::Value>(&object);
        match read(Format::Json, &object) {
            Ok(_) => prop_assert!(known.is_ok() || known.unwrap_err().to_string().contains("out of range"), "{}", object),
            Err(problems) => prop_assert!(known.is_err() || problems[0].contains("twice"), "{} {:?}", object, problems),
        }
    }

    #[test]
    fn any_id_comes_back_from_every_format(id in "[^.\\p{Cc}\u{feff}]{1,12}", limit: u32) {
        let expected = vec![(format!("instances.{id}.adaptiveLimit.maxLimit"), limit.to_string())];
        let quoted = serde_json::to_string(&id).unwrap();
        let json = format!("{{\"instances\": {{{quoted}: {{\"adaptiveLimit\": {{\"maxLimit\": {limit}}}}}}}}}");
        prop_assert_eq!(&pairs(Format::Json, &json), &expected);
        prop_assert_eq!(&pairs(Format::Yaml, &json), &expected);
        let toml = format!("[instances.{quoted}.adaptiveLimit]\nmaxLimit = {limit}");
        prop_assert_eq!(&pairs(Format::Toml, &toml), &expected);
    }

    /// Tables in TOML stand in no order; their settings do, and the lines are those of the names.
    #[test]
    fn lines_are_those_of_the_names(gaps in prop::collection::vec((0_usize..3, "[a-z]{1,3}"), 1..12)) {
        let mut toml = Vec::new();
        let mut yaml = Vec::new();
        let mut expected = Vec::new();
        for (index, (gap, name)) in gaps.iter().enumerate() {
            for _ in 0..*gap {
                toml.push(String::new());
                yaml.push("# c".to_owned());
            }
            toml.push(format!("{name}{index}.b = {index}"));
            yaml.push(format!("{name}{index}: {{b: {index}}}"));
            expected.push((format!("{name}{index}.b"), index.to_string(), toml.len() as u32));
        }
        let (toml, yaml) = (toml.join("\n"), yaml.join("\r\n"));
        prop_assert_eq!(read(Format::Toml, &toml), Ok(expected.clone()));
        prop_assert_eq!(read(Format::Yaml, &yaml), Ok(expected));
    }
}
