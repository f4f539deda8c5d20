//! What the tests of this binary share.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use resilience::Outcome;
use resilience::event::Reason;
use resilience::limit::algorithm::{Algorithm, Decision};
use resilience::limit::window::Window;
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::{Builder, Registry};
use resilience::time::ManualClock;

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A registry's builder on a clock that the test moves.
pub(crate) fn manual() -> (Builder, ManualClock) {
    let clock = ManualClock::new();
    (Registry::builder().clock(clock.clone()), clock)
}

/// A limit of its own registry, on a clock that the test moves.
pub(crate) fn limit(config: LimitConfig) -> (AdaptiveLimit, ManualClock) {
    let (builder, clock) = manual();
    let registry = builder.build().unwrap();
    (registry.register("tested", config).unwrap(), clock)
}

/// A limit that never moves and the windows it closed.
pub(crate) fn recorded(config: LimitConfig) -> (AdaptiveLimit, ManualClock, Windows) {
    let (builder, clock) = manual();
    let windows = Windows::default();
    let noted = windows.clone();
    let registry = builder
        .algorithm("recorder", move |bounds| {
            Recorder(noted.clone(), bounds.initial())
        })
        .build()
        .unwrap();
    (
        registry
            .register("tested", config.algorithm("recorder"))
            .unwrap(),
        clock,
        windows,
    )
}

/// The windows that a [`recorded`] limit closed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows(Arc<Mutex<Vec<Window>>>);

impl Windows {
    pub(crate) fn all(&self) -> Vec<Window> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Window {
        self.all().pop().expect("no window has closed")
    }
}

#[derive(Debug)]
struct Recorder(Windows, u32);

impl Algorithm for Recorder {
    fn update(&mut self, window: &Window) -> Decision {
        self.0.0.lock().unwrap().push(window.clone());
        Decision::new(f64::from(self.1), Reason::custom("recorded"))
    }
}

/// Makes `count` calls at once that all take `latency` and end with `outcome`.
pub(crate) fn calls(
    limit: &AdaptiveLimit,
    clock: &ManualClock,
    count: u32,
    latency: Duration,
    outcome: Outcome,
) {
    let permits: Vec<_> = (0..count).map(|_| limit.try_acquire().unwrap()).collect();
    clock.advance(latency);
    for permit in permits {
        permit.complete(outcome);
    }
}
