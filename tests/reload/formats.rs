//! The same file in every format: what a limit takes from it, and what is told about it.

use resilience::Error;
use resilience::limit::LimitConfig;

use crate::support::{Directory, manual};

/// In each the value stands on the line that is told.
fn files(max_limit: &str) -> [(&'static str, String, u32); 4] {
    [
        (
            "app.properties",
            format!("# c\ninstances.my_crate\\:\\:get.adaptiveLimit.maxLimit={max_limit}\n"),
            2,
        ),
        (
            "app.toml",
            format!("[instances.'my_crate::get'.adaptiveLimit]\n\nmaxLimit = {max_limit}\n"),
            3,
        ),
        (
            "app.yaml",
            format!(
                "instances:\n  my_crate::get:\n    adaptiveLimit:\n      maxLimit: {max_limit}\n"
            ),
            4,
        ),
        (
            "app.json",
            format!(
                "{{\"instances\": {{\n\"my_crate::get\":\n{{\n\"adaptiveLimit\": {{\n\"maxLimit\": {max_limit}}}}}}}}}"
            ),
            5,
        ),
    ]
}

#[test]
fn a_setting_and_its_line_come_from_every_format() -> Result<(), Error> {
    let directory = Directory::new();
    for (name, content, line) in files("50") {
        let file = directory.write(name, &content);
        let (builder, _) = manual();
        let registry = builder.file(&file).build()?;
        let limit = registry.register("my_crate::get", LimitConfig::new())?;
        assert_eq!(limit.snapshot().max_limit, 50, "{name}");
        let explained = registry.explain("my_crate::get")?.to_string();
        let place = format!("{}:{line}", file.display());
        assert!(explained.contains(&place), "{explained}");
    }
    Ok(())
}

#[test]
fn a_mistake_is_told_in_the_same_words_with_its_line_in_every_format() {
    let directory = Directory::new();
    for (wrong, told) in [
        (
            "10.6",
            "is \"10.6\", allowed is a whole number from 1 to 1000000",
        ),
        (
            "true",
            "is \"true\", allowed is a whole number from 1 to 1000000",
        ),
        ("0", "is \"0\", allowed is a whole number from 1 to 1000000"),
        (
            "99999999999999999999999",
            "is \"99999999999999999999999\", allowed is a whole number from 1 to 1000000",
        ),
    ] {
        for (name, content, line) in files(wrong) {
            let file = directory.write(name, &content);
            let (builder, _) = manual();
            let error = builder.file(&file).build().unwrap_err().to_string();
            let wanted = format!(
                "`instances.my_crate::get.adaptiveLimit.maxLimit` {told}; at {}:{line}",
                file.display()
            );
            assert!(error.contains(&wanted), "{error}\n{wanted}");
        }
    }
}
