//! A registry on a clock that the test moves.

use std::time::Duration;

use super::{Calls, Dependency, Script};
use crate::limit::AdaptiveLimit;
use crate::registry::{Builder, Registry};
use crate::time::ManualClock;

/// A registry on a clock that the test moves.
///
/// Each test has its own, so tests that run at once do not see each other's calls. Functions with an attribute use its limits
/// in [`scope`](Self::scope) and in [`calls`](Self::calls); under another runtime, wrap a future with
/// [`Registry::scope_future`].
///
/// # Examples
///
/// ```
/// use resilience::testing::TestRegistry;
/// use resilience::{Error, adaptive_limit};
///
/// #[adaptive_limit(name = "orders")]
/// fn order() -> Result<(), Error> {
///     Ok(())
/// }
///
/// let test = TestRegistry::new();
/// test.scope(order).unwrap();
/// assert_eq!(test.limit("orders").snapshot().counters.succeeded, 1);
/// ```
#[derive(Clone, Debug)]
pub struct TestRegistry {
    registry: Registry,
    clock: ManualClock,
}

impl TestRegistry {
    /// Returns a registry with the built-in defaults, on a clock that reads 0.
    #[track_caller]
    pub fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// Returns a registry that `set_up` has set up, on a clock that reads 0.
    ///
    /// # Panics
    ///
    /// If there is anything wrong with the settings.
    #[track_caller]
    pub fn with(set_up: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::new();
        let builder = set_up(Registry::builder()).clock(clock.clone());
        match builder.build() {
            Ok(registry) => Self { registry, clock },
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the registry.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the clock.
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// Moves the clock on in one step. With [`Calls`], let them [do it](Calls::advance).
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Runs `run` with this registry in the place of the process-wide one, see [`Registry::scope`].
    pub fn scope<R>(&self, run: impl FnOnce() -> R) -> R {
        self.registry.scope(run)
    }

    /// Returns the limit of that id.
    ///
    /// # Panics
    ///
    /// If there is none: that of an attribute is made on the function's first call.
    #[track_caller]
    pub fn limit(&self, id: &str) -> AdaptiveLimit {
        match self.registry.adaptive_limit(id) {
            Ok(limit) => limit,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns a dependency that takes as long as its script says, on this clock.
    pub fn dependency<T>(&self, script: Script<T>) -> Dependency<T> {
        Dependency::new(&self.clock, script)
    }

    /// Returns a place for calls that run beside each other in this registry, on this thread.
    pub fn calls<'a>(&self) -> Calls<'a> {
        Calls::new(self)
    }
}

impl Default for TestRegistry {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}
