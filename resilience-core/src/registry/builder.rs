//! Sets up a registry in code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::Registry;
use super::instances::{InCode, Instances};
use super::layers::{Layer, Named, Origins, illegible};
use crate::config::sources::Sources;
use crate::error::{Code, Error, Origin, Problem};
use crate::limit::LimitConfig;
use crate::limit::algorithm::{Algorithm, Bounds};
use crate::limit::settings::{Factory, built_in};
use crate::outcome::overload::{KINDS, Predicate};
use crate::time::{Clock, SharedClock};

/// Collects what a registry is set up with; made by [`Registry::builder`].
///
/// For each limit and each property the highest of these that sets it wins: the built-in default, the registry's
/// [defaults](Self::defaults), the `defaults` of [files](Self::file) and other sources outside of the code, the named
/// [config](Self::config) that the limit asks for, the same of those sources, the limit's own settings, and what those
/// sources say about that one limit.
///
/// # Examples
///
/// ```no_run
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// Registry::builder()
///     .defaults(LimitConfig::new().max_limit(500))
///     .file("config/limits.properties") // configs.backend.adaptiveLimit.maxLimit=100
///     .profile("prod") // config/limits-prod.properties
///     .environment() // RESILIENCE__CONFIGS__BACKEND__ADAPTIVE_LIMIT__MAX_LIMIT=100
///     .build()?
///     .install()?;
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct Builder {
    clock: Option<SharedClock>,
    defaults: Option<Layer>,
    configs: Vec<(String, Origin, Layer)>,
    algorithms: Vec<(String, Origin, Factory)>,
    kinds: Vec<(String, Origin, Predicate)>,
    sources: Sources,
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
        self.defaults = Some(Layer::new(
            "defaults",
            Origins::One(Origin::caller()),
            config,
        ));
        self
    }

    /// Adds a named config, for limits that ask for it with `config = "name"`.
    #[track_caller]
    pub fn config(mut self, name: impl Into<String>, config: LimitConfig) -> Self {
        let name = name.into();
        let origin = Origin::caller();
        let layer = Layer::new(format!("config `{name}`"), Origins::One(origin), config);
        self.configs.push((name, origin, layer));
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

    /// Adds a kind of errors under a name, for limits that ask for it with [`drop_on`](LimitConfig::drop_on) or the property
    /// `dropOn`: so that what means overload can be changed without a release.
    ///
    /// `is` is asked about what caused an error, one cause after the other. The error itself, which may borrow, tells its
    /// kind by [`OfKind`](crate::outcome::OfKind). So of an error in a `Box<dyn Error>` or an `anyhow::Error`, which may borrow
    /// and cannot implement that, only the causes are asked about: put a context around it.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::registry::Registry;
    /// use std::io;
    ///
    /// let registry = Registry::builder()
    ///     .kind("connection-reset", |error| {
    ///         error
    ///             .downcast_ref::<io::Error>()
    ///             .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
    ///     })
    ///     .values("limits", || {
    ///         let drop_on = "timeout, connection-reset";
    ///         Ok::<_, io::Error>([("instances.orders.adaptiveLimit.dropOn", drop_on)])
    ///     })
    ///     .build()?;
    /// # Ok::<(), resilience::Error>(())
    /// ```
    #[track_caller]
    pub fn kind(
        mut self,
        name: impl Into<String>,
        is: impl Fn(&(dyn std::error::Error + 'static)) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.kinds
            .push((name.into(), Origin::caller(), Arc::new(is)));
        self
    }

    /// Adds a file of settings, which must be there. What it says wins over the files before it.
    ///
    /// The name's ending tells the format: `.properties`, and with the features of those names `.toml`, `.yaml`, `.yml` and
    /// `.json`. It is read by [`build`](Self::build) and by each
    /// [`reload`](Registry::reload), up to 1 MiB, as UTF-8.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.file(path.into(), true);
        self
    }

    /// Adds a file of settings that need not be there.
    pub fn file_if_present(mut self, path: impl Into<PathBuf>) -> Self {
        self.sources.file(path.into(), false);
        self
    }

    /// Also reads the files of a profile, as far as they are there: with `prod` beside each `limits.properties` a
    /// `limits-prod.properties`. They win over all files without a profile, and over [`values`](Self::values). A second call
    /// replaces the first.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.sources.profile(name.into());
        self
    }

    /// Also reads the environment: `RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT`. It wins over files.
    pub fn environment(self) -> Self {
        self.variables(std::env::vars_os)
    }

    /// As [`environment`](Self::environment), of variables from elsewhere, as in tests. A second call of either replaces the
    /// first.
    pub fn variables<I, N, V>(mut self, variables: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: IntoIterator<Item = (N, V)>,
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = move || {
            let variables = variables().into_iter();
            variables
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        };
        self.sources.variables(Arc::new(variables));
        self
    }

    /// Adds keys and values from anywhere else, such as a configuration server. They win over the sources before.
    ///
    /// `values` is called by [`build`](Self::build) and by each [`reload`](Registry::reload), which it must not call
    /// itself. `name` is told as the place of its values. If it fails or panics, what it said before holds.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::limit::LimitConfig;
    /// use resilience::registry::Registry;
    ///
    /// let registry = Registry::builder()
    ///     .values("the configuration server", || {
    ///         Ok::<_, std::io::Error>([("configs.backend.adaptiveLimit.maxLimit", "100")])
    ///     })
    ///     .build()?;
    /// let orders = registry.register_with("orders", "backend", LimitConfig::new())?;
    /// assert_eq!(orders.snapshot().max_limit, 100);
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn values<I, K, V, E>(
        mut self,
        name: impl Into<Arc<str>>,
        values: impl Fn() -> Result<I, E> + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<String>,
        V: Into<String>,
        E: fmt::Display,
    {
        let values = move || match values() {
            Ok(values) => Ok(values
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect()),
            Err(error) => Err(error.to_string()),
        };
        self.sources.values(name.into(), Arc::new(values));
        self
    }

    /// Adds what a program has read with the `config` crate, in its own ways. It wins over the sources before.
    ///
    /// Its keys are those of files, as tables in tables. Mind that `config`'s own environment source lower-cases names, and
    /// that its file sources may: ids are exact here.
    #[cfg(feature = "config")]
    pub fn config_source(mut self, config: ::config::Config) -> Self {
        self.sources.built(config);
        self
    }

    /// Returns the registry.
    ///
    /// # Errors
    ///
    /// All problems at once: `R4C-REG-001` for a value out of range, `R4C-REG-002` for an algorithm and `R4C-REG-006` for a
    /// kind of errors that nobody added, `R4C-REG-003` for a config, an algorithm or a kind whose name is empty, reserved or given twice, and `R4C-CFG-001` to
    /// `R4C-CFG-010` for files and other sources.
    pub fn build(self) -> Result<Registry, Error> {
        let mut problems = Vec::new();
        let mut algorithms = BTreeMap::new();
        for (name, origin, factory) in self.algorithms {
            let fault = if let Some(fault) = illegible(&name) {
                Some(fault)
            } else if built_in(&name).is_some() {
                Some("is the name of a built-in algorithm")
            } else if algorithms.contains_key(&name) {
                Some("was added before")
            } else {
                None
            };
            if let Some(fault) = fault {
                let text = format!("the name of algorithm {name:?} {fault}; added at {origin}");
                problems.push(Problem::new(Code::RESERVED_NAME, text));
            } else {
                algorithms.insert(name, factory);
            }
        }
        let mut kinds = BTreeMap::new();
        for (name, origin, is) in self.kinds {
            let fault = if let Some(fault) = illegible(&name) {
                Some(fault)
            } else if name.contains(',') || name.trim() != name {
                Some("has a comma or white space at an end, and cannot be told in a list")
            } else if KINDS.contains(&name.as_str()) {
                Some("is the name of a built-in kind")
            } else if kinds.contains_key(&name) {
                Some("was added before")
            } else {
                None
            };
            if let Some(fault) = fault {
                let text =
                    format!("the name of the kind of errors {name:?} {fault}; added at {origin}");
                problems.push(Problem::new(Code::RESERVED_NAME, text));
            } else {
                kinds.insert(name, is);
            }
        }
        let named = Named {
            algorithms: &algorithms,
            kinds: &kinds,
        };
        // Also of those whose names are at fault.
        for layer in self
            .defaults
            .iter()
            .chain(self.configs.iter().map(|(.., layer)| layer))
        {
            problems.extend(layer.problems(&named));
            problems.extend(layer.contradictions());
        }
        let mut configs = BTreeMap::new();
        for (name, origin, layer) in self.configs {
            let fault = if let Some(fault) = illegible(&name) {
                Some(fault)
            } else if ["default", "defaults"].contains(&name.to_ascii_lowercase().as_str()) {
                Some("is reserved: use `Builder::defaults`")
            } else if configs.contains_key(&name) {
                Some("was added before")
            } else {
                None
            };
            if let Some(fault) = fault {
                let text = format!("the name of config {name:?} {fault}; added at {origin}");
                problems.push(Problem::new(Code::RESERVED_NAME, text));
            } else {
                configs.insert(name, layer);
            }
        }
        let clock = self.clock.unwrap_or_else(SharedClock::system);
        let code = InCode {
            defaults: self.defaults,
            configs,
            algorithms,
            kinds,
        };
        match Instances::read_first(clock, code, self.sources) {
            Ok(instances) if problems.is_empty() => Ok(Registry(Arc::new(instances))),
            Ok(_) => Err(Error::settings(problems)),
            Err(more) => {
                problems.extend(more);
                Err(Error::settings(problems))
            }
        }
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithms: Vec<_> = self.algorithms.iter().map(|(name, ..)| name).collect();
        let kinds: Vec<_> = self.kinds.iter().map(|(name, ..)| name).collect();
        f.debug_struct("Builder")
            .field("clock", &self.clock)
            .field("defaults", &self.defaults)
            .field("configs", &self.configs)
            .field("algorithms", &algorithms)
            .field("kinds", &kinds)
            .field("sources", &self.sources)
            .finish()
    }
}
