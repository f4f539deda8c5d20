use proptest::prelude::*;

use ::config::FileFormat;

use super::*;

fn read(format: Format, text: &str) -> Result<Vec<(String, String)>, Vec<String>> {
    match parse(format, &"app".into(), text) {
        Ok(written) => Ok(written
            .into_iter()
            .map(|written| (written.key, written.text))
            .collect()),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn ids_are_exact_and_keys_may_be_flat_or_nested() {
    let expected = Ok(pairs(&[
        ("defaults.adaptiveLimit.maxLimit", "1"),
        ("instances.A.b.adaptiveLimit.maxLimit", "2"),
        ("instances.Client<Foo>::get.adaptiveLimit.maxLimit", "3"),
        ("instances.GET /search.adaptive_limit.max_limit", "4"),
        ("instances.flat.adaptiveLimit.maxLimit", "5"),
    ]));
    let toml = "
        defaults.adaptiveLimit.maxLimit = 1
        [instances]
        'flat.adaptiveLimit.maxLimit' = 5
        [instances.'A.b'.adaptiveLimit]
        maxLimit = 2
        [instances.'Client<Foo>::get'.adaptiveLimit]
        maxLimit = 3
        ['instances.GET /search'.adaptive_limit]
        max_limit = 4";
    assert_eq!(read(Format::Toml, toml), expected);
    let yaml = "
defaults:
  adaptiveLimit: { maxLimit: 1 }
instances:
  flat.adaptiveLimit.maxLimit: 5
  A.b:
    adaptiveLimit:
      maxLimit: 2
  Client<Foo>::get:
    adaptiveLimit:
      maxLimit: 3
instances.GET /search:
  adaptive_limit:
    max_limit: 4
";
    assert_eq!(read(Format::Yaml, yaml), expected);
    let json = r#"{
        "defaults": {"adaptiveLimit": {"maxLimit": 1}},
        "instances": {
            "flat.adaptiveLimit.maxLimit": 5,
            "A.b": {"adaptiveLimit": {"maxLimit": 2}},
            "Client<Foo>::get": {"adaptiveLimit": {"maxLimit": 3}}
        },
        "instances.GET /search": {"adaptive_limit": {"max_limit": 4}}
    }"#;
    assert_eq!(read(Format::Json, json), expected);
}

#[test]
fn values_mean_what_is_written() {
    let expected = Ok(pairs(&[
        ("a", "10.6"),
        ("b", "true"),
        ("c", "100.0"),
        ("d", "0.0000001"),
        ("e", "x,y"),
        ("f", "x,"),
        ("g", ","),
        ("h", " 20 # twenty"),
        ("i", "-1"),
    ]));
    let toml = "a = 10.6\nb = true\nc = 100.0\nd = 1e-7\ne = ['x', 'y']\nf = ['x']\ng = []\nh = ' 20 # twenty'\ni = -1";
    assert_eq!(read(Format::Toml, toml), expected);
    let yaml =
        "a: 10.6\nb: true\nc: 100.0\nd: 1e-7\ne: [x, y]\nf:\n- x\ng: []\nh: ' 20 # twenty'\ni: -1";
    assert_eq!(read(Format::Yaml, yaml), expected);
    let json = r#"{"a": 10.6, "b": true, "c": 100.0, "d": 1e-7, "e": ["x", "y"], "f": ["x"], "g": [], "h": " 20 # twenty", "i": -1}"#;
    assert_eq!(read(Format::Json, json), expected);
    assert_eq!(
        read(Format::Yaml, "a: on\nb: 0x10\nc: 2026-01-01\nd:\n"),
        Ok(pairs(&[
            ("a", "on"),
            ("b", "16"),
            ("c", "2026-01-01"),
            ("d", "")
        ]))
    );
}

#[test]
fn nothing_and_comments_are_no_settings() {
    for text in ["", "# c\n"] {
        assert_eq!(read(Format::Toml, text), Ok(vec![]));
        assert_eq!(read(Format::Yaml, text), Ok(vec![]));
    }
    assert_eq!(read(Format::Json, "{}"), Ok(vec![]));
}

#[test]
fn a_fault_is_told_in_one_line_with_its_place() {
    let told = |format, text: &str| read(format, text).unwrap_err().join("; ");
    assert_eq!(
        told(Format::Toml, "a = 1\nb = = 2\n"),
        "app: TOML parse error at line 2, column 5: extra `=`, expected nothing [R4C-CFG-002]"
    );
    assert_eq!(
        told(Format::Json, "{\"a\": 1,\n\"b\" 2}"),
        "app: expected `:` at line 2 column 5 [R4C-CFG-002]"
    );
    assert_eq!(
        told(Format::Yaml, "a: 1\n b: 2\n"),
        "app: mapping values are not allowed in this context at byte 7 line 2 column 3 [R4C-CFG-002]"
    );
    assert!(
        told(Format::Json, "{\"a\": {\"b\": 1,\n\"b\": 2}}")
            .contains("`b` is given twice at line 2")
    );
    assert!(told(Format::Yaml, "a: 1\na: 2\n").contains("duplicated key"));
    assert!(told(Format::Toml, "a = 1\na = 2\n").contains("duplicate key"));
    assert!(read(Format::Json, "[1]").is_err());
    assert!(read(Format::Yaml, "a: 1\n---\nb: 2\n").is_err());
    let lists = read(Format::Toml, "b = [{c = 1}]\na = [[1]]\nd = ['x,y']").unwrap_err();
    assert_eq!(
        lists,
        [
            "`a` is a list of lists or tables, which no property is; at app [R4C-CFG-006]",
            "`b` is a list of lists or tables, which no property is; at app [R4C-CFG-006]",
            "`d` is a list with an item that holds a comma; at app [R4C-CFG-006]",
        ]
    );
}

#[test]
fn hostile_files_are_refused() {
    for (format, text) in [
        (Format::Toml, format!("a = {}", "[".repeat(200_000))),
        (Format::Toml, format!("[{}a]", "a.".repeat(200_000))),
        (Format::Json, "[".repeat(200_000)),
        (Format::Json, "{\"a\":".repeat(100_000)),
        (Format::Yaml, "[".repeat(200_000)),
        (Format::Yaml, "- ".repeat(200_000)),
        (Format::Yaml, "? ".repeat(200_000)),
        (Format::Yaml, "{a: ".repeat(200_000)),
    ] {
        assert!(read(format, &text).is_err());
    }
    // As deep as it may be, which the parser survives on the small stack of a test.
    let deep: Vec<String> = (0..=256)
        .map(|depth| {
            format!(
                "{}a:
{0}- b:",
                " ".repeat(depth)
            )
        })
        .collect();
    let _ = read(
        Format::Yaml,
        &deep.join(
            "
",
        ),
    );
    let _ = read(Format::Yaml, &format!("{}x", "- ".repeat(128)));
    let _ = read(
        Format::Yaml,
        &format!("{}{}", "- ".repeat(128), "[".repeat(255)),
    );
}

#[test]
fn what_a_program_built_is_a_source_too() {
    let config = Config::builder()
        .add_source(::config::File::from_str(
            "[instances.'a.b'.adaptiveLimit]\nmaxLimit = 7",
            FileFormat::Toml,
        ))
        .set_override("defaults.adaptiveLimit.backoffRatio", 0.8)
        .unwrap()
        .build()
        .unwrap();
    let written = from_config(&config).unwrap();
    let told: Vec<_> = written
        .iter()
        .map(|written| {
            (
                written.key.as_str(),
                written.text.as_str(),
                written.place.to_string(),
            )
        })
        .collect();
    let place = "a `config::Config`".to_owned();
    assert_eq!(
        told,
        [
            ("defaults.adaptiveLimit.backoffRatio", "0.8", place.clone()),
            ("instances.a.b.adaptiveLimit.maxLimit", "7", place),
        ]
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}|[a-c0-9.'\"\\[\\]{}=:,#\n -]{0,60}") {
        for format in [Format::Toml, Format::Yaml, Format::Json] {
            let _ = read(format, &text);
        }
    }

    #[test]
    fn any_id_comes_back_from_every_format(id in "[^.\\p{Cc}\u{feff}]{1,12}", limit: u32) {
        let expected = Ok(vec![(format!("instances.{id}.adaptiveLimit.maxLimit"), limit.to_string())]);
        let quoted = serde_json::to_string(&id).unwrap();
        let json = format!("{{\"instances\": {{{quoted}: {{\"adaptiveLimit\": {{\"maxLimit\": {limit}}}}}}}}}");
        prop_assert_eq!(&read(Format::Json, &json), &expected);
        prop_assert_eq!(&read(Format::Yaml, &json), &expected);
        let toml = format!("[instances.{quoted}.adaptiveLimit]\nmaxLimit = {limit}");
        prop_assert_eq!(&read(Format::Toml, &toml), &expected);
    }
}
