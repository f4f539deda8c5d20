//! Readers alone; with the properties that use them they are tested where those are.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn durations_are_those_of_the_attribute() {
    let cases = include_str!("../../../../tests/vectors/durations.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    for case in &cases {
        let read = duration(case["text"].as_str().unwrap()).ok();
        let nanos = read.map(|duration| duration.as_nanos() as u64);
        assert_eq!(nanos, case["nanos"].as_u64(), "{case}");
    }
}

#[test]
fn what_is_likely_meant_is_told() {
    let hint = |wrong: WrongValue| wrong.hint.unwrap_or_default();
    assert!(hint(whole("20 # twenty").unwrap_err()).starts_with("what follows a value"));
    assert!(hint(whole("20;").unwrap_err()).starts_with("what follows a value"));
    assert_eq!(hint(boolean("ture").unwrap_err()), "did you mean `true`?");
    assert_eq!(
        hint(choice("gradient", &["gradient2"]).unwrap_err()),
        "did you mean `gradient2`?"
    );
    assert_eq!(
        hint(duration("5").unwrap_err()),
        "a number alone has no unit: is it 5ms or 5s?"
    );
    assert_eq!(
        hint(duration("5 s").unwrap_err()),
        "the units are ns, us, ms, s, m and h, right behind the number"
    );
    assert_eq!(hint(decimal("80%").unwrap_err()), "80% is written 0.8");
}

#[test]
fn lists_of_errors_name_every_stranger() {
    let cases = include_str!("../../../../tests/vectors/config/values.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    let of_errors = cases.iter().filter(|case| case["property"] == "dropOn");
    assert_eq!(of_errors.clone().count(), 12);
    for case in of_errors {
        let (given, names) = match kinds(case["input"].as_str().unwrap(), &[]) {
            Ok(names) => ("value", names),
            Err((names, _)) => ("names", names),
        };
        let expected: Vec<&str> = case[given]
            .as_array()
            .unwrap_or_else(|| panic!("{case} gave {names:?}"))
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{case}");
    }
    assert_eq!(kinds("mine", &["mine"]), Ok(vec!["mine"]));
}

#[test]
fn a_name_is_not_empty_and_not_that_of_the_defaults() {
    assert_eq!(name(" backend "), Ok("backend"));
    assert!(name("  ").is_err());
    assert!(name("Defaults").is_err());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*|[0-9.,%# ;a-zA-Z()*]{0,40}|[0-9]{300,400}(\\.[0-9]{300,400})?[a-z]{0,2}") {
        let _ = whole(&text);
        let _ = count(&text);
        let _ = decimal(&text);
        let _ = boolean(&text);
        let _ = duration(&text);
        let _ = choice(&text, &["gradient2", "aimd"]);
        let _ = kinds(&text, &["mine"]);
        let _ = name(&text);
    }

    #[test]
    fn numbers_come_back(number: u64, ratio in 0.0..1e9_f64, nanos: u64) {
        prop_assert_eq!(whole(&number.to_string()), Ok(number));
        prop_assert_eq!(decimal(&ratio.to_string()), Ok(ratio));
        let time = Duration::from_nanos(nanos);
        prop_assert_eq!(duration(&show_duration(time)), Ok(time));
    }
}
