//! What the tests of this binary share.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use resilience::Outcome;
use resilience::event::Event;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::{Builder, Registry};
use resilience::time::ManualClock;

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A registry's builder on a clock that the test moves.
pub(crate) fn builder() -> (Builder, ManualClock) {
    let clock = ManualClock::new();
    (Registry::builder().clock(clock.clone()), clock)
}

/// A registry on a clock that the test moves.
pub(crate) fn manual() -> (Registry, ManualClock) {
    let (builder, clock) = builder();
    (builder.build().unwrap(), clock)
}

/// A registry on a clock that the test moves, and the value of a key of its settings, for the test to change.
pub(crate) fn with_setting(
    key: &'static str,
    value: &'static str,
) -> (Registry, ManualClock, Arc<Mutex<&'static str>>) {
    let value = Arc::new(Mutex::new(value));
    let source = value.clone();
    let (builder, clock) = builder();
    let registry = builder
        .values("a test's own", move || {
            let value = (*source.lock().unwrap()).to_owned();
            Ok::<_, &str>(vec![(key.to_owned(), value)])
        })
        .build()
        .unwrap();
    (registry, clock, value)
}

/// A limit that moves with every window of one call or more: by one up, or down by a tenth after a drop.
pub(crate) fn moving(registry: &Registry, id: &str) -> AdaptiveLimit {
    let config = LimitConfig::new()
        .algorithm("aimd")
        .min_window_samples(1)
        .initial_limit(2);
    registry.register(id.to_owned(), config).unwrap()
}

/// Makes `count` calls at once that all take a second, and so closes a window.
pub(crate) fn calls(limit: &AdaptiveLimit, clock: &ManualClock, count: u32, outcome: Outcome) {
    let permits: Vec<_> = (0..count).map(|_| limit.try_acquire().unwrap()).collect();
    clock.advance(seconds(1));
    for permit in permits {
        permit.complete(outcome);
    }
}

/// Takes all slots of a limit and is rejected once more.
pub(crate) fn rejected(limit: &AdaptiveLimit) {
    let mut permits = Vec::new();
    while let Ok(permit) = limit.try_acquire() {
        permits.push(permit);
    }
}

/// The events that a listener heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    pub(crate) fn listener(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let heard = self.0.clone();
        move |event| heard.lock().unwrap().push(event.clone())
    }

    /// Those since the last time, in words.
    pub(crate) fn texts(&self) -> Vec<String> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        heard.iter().map(ToString::to_string).collect()
    }
}
