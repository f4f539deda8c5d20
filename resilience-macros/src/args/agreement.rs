//! What the attribute checks at compile time is what the registry checks at run time: this crate cannot use the core, so
//! both know names and ranges.

use std::time::Duration;

use resilience::limit::LimitConfig;
use resilience::limit::algorithm::Bounds;
use resilience::registry::Registry;

use super::{bounds, duration, key, text};

fn refusal(config: LimitConfig) -> Option<String> {
    let refused = Registry::new().register("limit", config).err()?;
    Some(refused.to_string())
}

#[test]
fn on_the_algorithms() {
    let names = text::ALGORITHMS.join(", ");
    let refusal = refusal(LimitConfig::new().algorithm("none of them")).expect("unknown");
    let allowed = format!("allowed is one of {names}; ");
    assert!(refusal.contains(&allowed), "{refusal}");
}

#[test]
fn on_the_settings_that_are_no_options() {
    let config = format!("{:#?}", LimitConfig::new());
    let settings: Vec<&str> = config
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.trim()))
        .filter(|setting| !key::names().contains(setting))
        .collect();
    assert_eq!(settings, key::CONFIGURED);
}

#[test]
fn on_the_largest_limit() {
    assert_eq!(bounds::MOST, u64::from(Bounds::MAX));
}

#[test]
fn on_the_range_of_windows() {
    let window = |nanos| refusal(LimitConfig::new().window(Duration::from_nanos(nanos)));
    let (shortest, longest) = (*duration::RANGE.start(), *duration::RANGE.end());
    assert_eq!((window(shortest), window(longest)), (None, None));
    assert!(window(shortest - 1).is_some() && window(longest + 1).is_some());
}

#[test]
fn on_the_range_of_waits() {
    let wait = |nanos| refusal(LimitConfig::new().max_wait(Duration::from_nanos(nanos)));
    let (shortest, longest) = (*duration::RANGE.start(), *duration::RANGE.end());
    // In code 0 is no wait; in an attribute one leaves it out.
    assert_eq!((wait(0), wait(shortest), wait(longest)), (None, None, None));
    assert!(wait(1).is_some() && wait(shortest - 1).is_some() && wait(longest + 1).is_some());
}

#[test]
fn on_the_nearest_name() {
    for line in include_str!("../../../tests/nearest.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [given, known, suggestion] = fields[..] else {
            panic!("{line}")
        };
        let known: Vec<&str> = known.split(' ').collect();
        let suggestion = Some(suggestion).filter(|suggestion| !suggestion.is_empty());
        assert_eq!(key::nearest(given, &known), suggestion, "{line}");
    }
}
