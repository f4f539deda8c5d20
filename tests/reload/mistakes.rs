//! Many mistakes, told at once and always in the same words.

use std::collections::HashSet;

use crate::support::{Directory, manual, says};

const FIFTEEN: &str = "\
defaults.adaptiveLimit.maxLimt=10
defaults.adaptiveLimit.minLimit=0
defaults.adaptiveLimits.minLimit=1
default.adaptiveLimit.minLimit=1
configs.adaptiveLimit.minLimit=1
configs.default.adaptiveLimit.minLimit=1
configs.backend.adaptiveLimit.config=other
configs.backend.adaptiveLimit.window=500
configs.backend.adaptiveLimit.algorithm=gradient
instances..adaptiveLimit.minLimit=1
instances.orders.adaptiveLimit.enabled=ture
instances.orders.adaptiveLimit.maxLimit=20 # twenty
instances.orders.adaptiveLimit.backoffRatio=80%
instances.orders.adaptiveLimit.backoff-ratio=1.5
instances.my_crate::search.adaptiveLimit.maxLimit=5
";

#[test]
fn fifteen_faults_are_one_error_of_fifteen_lines_and_always_the_same() {
    let directory = Directory::new();
    let file = directory.write("app.properties", FIFTEEN);
    let build = || {
        let (builder, _) = manual();
        builder.file(&file).build().unwrap_err().to_string()
    };
    let texts: HashSet<String> = (0..100).map(|_| build()).collect();
    assert_eq!(texts.len(), 1);
    let text = texts.into_iter().next().unwrap();
    println!("{text}");
    let told: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(told.len(), 15, "{text}");
    for line in 1..=15 {
        let place = format!("app.properties:{line}");
        let of_the_line = |told: &&&str| {
            told.split(|c: char| !(c.is_alphanumeric() || "./-_:".contains(c)))
                .any(|word| word.ends_with(&place))
        };
        assert!(
            told.iter().filter(of_the_line).count() >= 1,
            "nothing about line {line} in {text}"
        );
    }
}

#[test]
fn bounds_that_contradict_each_other_are_told_with_their_lines() {
    let directory = Directory::new();
    let file = directory.write(
        "app.properties",
        "# c\ndefaults.adaptiveLimit.maxLimit=7\ndefaults.adaptiveLimit.minLimit=9\n",
    );
    let (builder, _) = manual();
    let error = builder.file(file).build().unwrap_err();
    says(
        &error.to_string(),
        &["app.properties:2", "app.properties:3"],
    );
}
