//! Sets up a registry in code.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Registry;
use super::instances::Instances;
use super::layers::{Algorithms, Layer};
use crate::error::{Code, Error, Origin, Problem};
use crate::limit::LimitConfig;
use crate::limit::algorithm::{Algorithm, Bounds};
use crate::limit::settings::{Factory, built_in};
use crate::time::{Clock, SharedClock};

/// Collects what a registry is set up with; made by [`Registry::builder`].
///
/// For each limit and each property the highest of these that sets it wins: the built-in default, the registry's
/// [defaults](Self::defaults), the named [config](Self::config) that the limit asks for, the limit's own settings.
#[derive(Default)]
#[must_use]
pub struct Builder {
    clock: Option<SharedClock>,
    defaults: Option<Layer>,
    configs: Vec<(String, Layer)>,
    algorithms: Vec<(String, Origin, Factory)>,
}

impl Builder {
    /// Sets the clock that latencies and windows are measured by: the system's by default, a
    /// [`ManualClock`](crate::time::ManualClock) in tests.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(SharedClock::Other(Arc::new(clock)));
        self
    }

    /// Sets what limits have that neither their config nor they themselves set. A second call replaces the first.
    #[track_caller]
    pub fn defaults(mut self, config: LimitConfig) -> Self {
        self.defaults = Some(Layer::new("defaults", Some(Origin::caller()), config));
        self
    }

    /// Adds a named config, for limits that ask for it with `config = "name"`.
    #[track_caller]
    pub fn config(mut self, name: impl Into<String>, config: LimitConfig) -> Self {
        let name = name.into();
        let layer = Layer::new(format!("config `{name}`"), Some(Origin::caller()), config);
        self.configs.push((name, layer));
        self
    }

    /// Adds an algorithm under a name, for limits that ask for it with `algorithm`.
    ///
    /// `make` is called for each limit, with the bounds it has to keep to. It may be called more than once for a limit, on
    /// several threads that ask for it first; one algorithm is kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::event::Reason;
    /// use resilience::limit::LimitConfig;
    /// use resilience::limit::algorithm::{Algorithm, Decision};
    /// use resilience::limit::window::Window;
    /// use resilience::registry::Registry;
    ///
    /// #[derive(Debug)]
    /// struct Stay(f64);
    /// impl Algorithm for Stay {
    ///     fn update(&mut self, _: &Window) -> Decision {
    ///         Decision::new(self.0, Reason::custom("stays where it is"))
    ///     }
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .algorithm("stay", |bounds| Stay(f64::from(bounds.initial())))
    ///     .build()?;
    /// let orders = registry.register("orders", LimitConfig::new().algorithm("stay"))?;
    /// assert_eq!(orders.snapshot().algorithm, "stay");
    /// # Ok::<(), resilience::Error>(())
    /// ```
    #[track_caller]
    pub fn algorithm<A: Algorithm>(
        mut self,
        name: impl Into<String>,
        make: impl Fn(Bounds) -> A + Send + Sync + 'static,
    ) -> Self {
        self.algorithms.push((
            name.into(),
            Origin::caller(),
            Arc::new(move |bounds| Box::new(make(bounds))),
        ));
        self
    }

    /// Returns the registry.
    ///
    /// # Errors
    ///
    /// All problems at once: `R4C-REG-001` for a value out of range, `R4C-REG-002` for an algorithm that nobody added,
    /// `R4C-REG-003` for a config or an algorithm whose name is empty, reserved or given twice.
    pub fn build(self) -> Result<Registry, Error> {
        let mut problems = Vec::new();
        let mut algorithms = BTreeMap::new();
        for (name, origin, factory) in self.algorithms {
            let fault = if name.trim().is_empty() {
                Some("is empty")
            } else if built_in(&name).is_some() {
                Some("is the name of a built-in algorithm")
            } else if algorithms.contains_key(&name) {
                Some("was added before")
            } else {
                None
            };
            if let Some(fault) = fault {
                let text = format!("the name of algorithm \"{name}\" {fault}; added at {origin}");
                problems.push(Problem::new(Code::RESERVED_NAME, text));
            } else {
                algorithms.insert(name, factory);
            }
        }
        // Also of those whose names are at fault.
        for layer in self
            .defaults
            .iter()
            .chain(self.configs.iter().map(|(_, layer)| layer))
        {
            problems.extend(layer.problems(&Algorithms(&algorithms)));
            problems.extend(layer.contradictions());
        }
        let mut configs = BTreeMap::new();
        for (name, layer) in self.configs {
            let fault = if name.trim().is_empty() {
                Some("is empty")
            } else if ["default", "defaults"].contains(&name.to_ascii_lowercase().as_str()) {
                Some("is reserved: use `Builder::defaults`")
            } else if configs.contains_key(&name) {
                Some("was added before")
            } else {
                None
            };
            if let Some(fault) = fault {
                let origin = layer
                    .origin
                    .map(|origin| format!("; added at {origin}"))
                    .unwrap_or_default();
                let text = format!("the name of config \"{name}\" {fault}{origin}");
                problems.push(Problem::new(Code::RESERVED_NAME, text));
            } else {
                configs.insert(name, layer);
            }
        }
        if problems.is_empty() {
            let clock = self.clock.unwrap_or_else(SharedClock::system);
            Ok(Registry(Arc::new(Instances::new(
                clock,
                self.defaults,
                configs,
                algorithms,
            ))))
        } else {
            Err(Error::settings(problems))
        }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithms: Vec<_> = self.algorithms.iter().map(|(name, ..)| name).collect();
        f.debug_struct("Builder")
            .field("clock", &self.clock)
            .field("defaults", &self.defaults)
            .field("configs", &self.configs)
            .field("algorithms", &algorithms)
            .finish()
    }
}
