//! A scenario, run.

use std::fmt;

use super::contender::Contender;
use super::report::Report;
use super::run::{Plan, run};
use super::scenario::Scenario;
use super::score::{search, slice};
use crate::error::Error;
use crate::registry::{Builder, Registry};

/// Runs a [`Scenario`] for one or more [`Contender`]s.
///
/// # Examples
///
/// With an algorithm of your own:
///
/// ```
/// use resilience::event::Reason;
/// use resilience::limit::algorithm::{Algorithm, Decision};
/// use resilience::limit::window::Window;
/// use resilience::registry::Registry;
/// use resilience::sim::{Contender, Scenario, Simulation};
///
/// #[derive(Debug)]
/// struct Twelve;
/// impl Algorithm for Twelve {
///     fn update(&mut self, _: &Window) -> Decision {
///         Decision::new(12.0, Reason::custom("as ever"))
///     }
/// }
///
/// let scenario = Scenario::parse("small.toml", r#"
///     duration = "10s"
///     dependency = { servers = 10, latency = "20ms" }
///     clients = [{ load = { open = { per_second = 1000 } } }]
/// "#)?;
/// let report = Simulation::new(&scenario)
///     .registry(|| Registry::builder().algorithm("twelve", |_| Twelve))
///     .contender(Contender::algorithm("twelve"))
///     .without_search()
///     .run()?;
/// assert_eq!(report.results[0].phases[0].limit, 12.0);
/// # Ok::<(), resilience::Error>(())
/// ```
#[must_use]
pub struct Simulation<'s> {
    scenario: &'s Scenario,
    contenders: Vec<Contender>,
    setup: Box<dyn Fn() -> Builder + Sync + 's>,
    progress: Box<dyn FnMut(&str) + 's>,
    search: Search,
    samples: u64,
}

/// Where the best fixed limit is looked for.
#[derive(Debug)]
enum Search {
    /// Nowhere.
    Not,
    /// Wherever it may be.
    Wide,
    Among(Vec<u32>),
}

impl<'s> Simulation<'s> {
    /// Returns a simulation of a scenario, without contenders yet.
    pub fn new(scenario: &'s Scenario) -> Self {
        Self {
            scenario,
            contenders: Vec::new(),
            setup: Box::new(Registry::builder),
            progress: Box::new(|_| {}),
            search: Search::Wide,
            samples: 180,
        }
    }

    /// Adds a contender.
    pub fn contender(mut self, contender: Contender) -> Self {
        self.contenders.push(contender);
        self
    }

    /// Adds contenders.
    pub fn contenders(mut self, contenders: impl IntoIterator<Item = Contender>) -> Self {
        self.contenders.extend(contenders);
        self
    }

    /// Sets what makes the registry of each run, for algorithms and defaults of your own. Its clock is replaced.
    pub fn registry(mut self, setup: impl Fn() -> Builder + Sync + 's) -> Self {
        self.setup = Box::new(setup);
        self
    }

    /// Hears what is being done, in words, before each run.
    pub fn on_progress(mut self, heard: impl FnMut(&str) + 's) -> Self {
        self.progress = Box::new(heard);
        self
    }

    /// Leaves out the search for the best fixed limit, which takes some thirty runs, and with it regret and settling.
    pub fn without_search(mut self) -> Self {
        self.search = Search::Not;
        self
    }

    /// Looks for the best fixed limit among these and those at the knee alone, which takes as many runs: for a scenario whose
    /// best limits, [`PhaseReference::best_fixed`](super::PhaseReference::best_fixed), are known from an earlier report.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::sim::{Contender, Scenario, Simulation};
    ///
    /// let scenario = Scenario::parse("small.toml", r#"
    ///     duration = "10s"
    ///     dependency = { servers = 10, latency = "20ms" }
    ///     clients = [{ load = { open = { per_second = 1000 } } }]
    /// "#)?;
    /// let run = |simulation: Simulation<'_>| simulation.contender(Contender::fixed(5)).run();
    /// let searched = run(Simulation::new(&scenario))?;
    /// let best = searched.phases[0].best_fixed.unwrap();
    /// let known = run(Simulation::new(&scenario).search_among([best]))?;
    /// assert_eq!(known.results[0].regret, searched.results[0].regret);
    /// # Ok::<(), resilience::Error>(())
    /// ```
    pub fn search_among(mut self, limits: impl IntoIterator<Item = u32>) -> Self {
        self.search = Search::Among(limits.into_iter().map(|limit| limit.max(1)).collect());
        self
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// As the registry has them: `R4C-REG-001` for settings that are out of range or contradict each other,
    /// `R4C-REG-002` for an algorithm that there is not.
    pub fn run(mut self) -> Result<Report, Error> {
        let scenario = self.scenario;
        let slice = slice(scenario);
        let setup = &*self.setup;
        let progress = &mut self.progress;
        // First, since a mistake in the settings is found at once and the search takes its time.
        let mut records = Vec::new();
        for contender in &self.contenders {
            progress(&format!("{}: {}", scenario.name(), contender.name));
            let guard = contender.guard(scenario);
            let plan = Plan {
                scenario,
                guard: &guard,
                setup,
                duration: scenario.duration,
                slice,
                samples: self.samples,
            };
            records.push((contender.name.clone(), run(plan)?));
        }
        let mut heard = |limit| progress(&format!("{}: fixed {limit}", scenario.name()));
        let among = match &self.search {
            Search::Wide | Search::Not => None,
            Search::Among(limits) => Some(&limits[..]),
        };
        let references = match self.search {
            Search::Not => None,
            _ => Some(search(scenario, setup, slice, among, &mut heard)?),
        };
        let mut report = Report::new(scenario, references.as_deref());
        for (name, record) in records {
            report.add(name, scenario, record, references.as_deref());
        }
        Ok(report)
    }
}

impl fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("scenario", &self.scenario.name)
            .field("contenders", &self.contenders)
            .finish_non_exhaustive()
    }
}
