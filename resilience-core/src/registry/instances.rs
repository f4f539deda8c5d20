//! The instances of a registry and the settings they run with.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::call_site::CallSite;
use super::explain::Explanation;
use super::external::External;
use super::layers::{Layer, Named, illegible, resolve};
use crate::config::key::Schema;
use crate::config::layers as outside;
use crate::config::patch::Context;
use crate::config::quote::named;
use crate::config::sources::{Reading, Sources};
use crate::error::{Code, Error, Problem, did_you_mean, listed};
use crate::event::Event;
use crate::id::Id;
use crate::limit::LimitConfig;
use crate::limit::instance::Instance;
use crate::limit::listeners::Listeners;
use crate::limit::settings::{Factory, LimitSettings};
use crate::outcome::overload::Predicate;
use crate::time::SharedClock;

pub(crate) struct Instances {
    clock: SharedClock,
    code: InCode,
    sources: Sources,
    known: RwLock<Known>,
    /// Held while the sources are read and what they say is put in force: one reading after the other. Whoever holds it may
    /// be in foreign code for as long as that likes, so a call never takes it.
    reads: Mutex<()>,
    /// Held while settings from outside are put in force, until the last instance runs with them. Taken after `reads`.
    last: Mutex<LastRead>,
    listeners: Listeners,
}

/// What the program says itself.
#[derive(Default)]
pub(crate) struct InCode {
    pub(crate) defaults: Option<Layer>,
    pub(crate) configs: BTreeMap<String, Layer>,
    pub(crate) algorithms: BTreeMap<String, Factory>,
    pub(crate) kinds: BTreeMap<String, Predicate>,
}

impl InCode {
    fn named(&self) -> Named<'_> {
        Named {
            algorithms: &self.algorithms,
            kinds: &self.kinds,
        }
    }
}

/// What the sources outside of the program said.
#[derive(Default)]
struct LastRead {
    in_force: Reading,
    /// Read after that and found to be wrong.
    refused: Option<Reading>,
}

/// An instance and the settings it is to take.
type Decided = (Arc<Instance>, Arc<LimitSettings>);

/// An instance that takes other settings, and what is to be told of it.
type Changed = (Arc<Instance>, Option<Event>);

// Clocks and factories are foreign code, but nothing of ours is half changed when one of them panics.
impl UnwindSafe for Instances {}
impl RefUnwindSafe for Instances {}

/// Instances are added and never replaced or removed: who holds one holds the one.
#[derive(Default)]
struct Known {
    by_id: HashMap<Id, Made>,
    /// By the address of the call site, for registries whose call sites look them up on each call.
    by_site: HashMap<usize, Arc<Instance>>,
    /// The settings from outside that are in force.
    external: Arc<External>,
    /// Why what the sources said last is not in force.
    stale: Option<Error>,
    /// How often somebody asked for something new.
    asks: u64,
}

/// An instance, and all there is to find its settings again.
struct Made {
    instance: Arc<Instance>,
    /// What it was made with or was last told to run with; it may be about to.
    settings: Arc<LimitSettings>,
    /// What the places that share it ask for, each once. The first is that of the place which it was made by.
    asks: Vec<Arc<Ask>>,
}

impl Made {
    /// Whether somebody has asked for the same, and so gets the same.
    fn knows(&self, ask: &Ask) -> bool {
        self.asks.iter().any(|asked| asked.is_for_the_same(ask))
    }
}

/// What a place asks for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) own: Layer,
    pub(crate) config: Option<String>,
}

impl Ask {
    /// Whether both get the same settings, whatever is laid under and over them.
    fn is_for_the_same(&self, other: &Self) -> bool {
        self.config == other.config && self.own.config == other.own.config
    }
}

impl Default for Instances {
    fn default() -> Self {
        Self::new(SharedClock::system(), InCode::default(), Sources::default())
    }
}

impl Instances {
    fn new(clock: SharedClock, code: InCode, sources: Sources) -> Self {
        Self {
            clock,
            code,
            sources,
            known: RwLock::default(),
            reads: Mutex::default(),
            last: Mutex::default(),
            listeners: Listeners::default(),
        }
    }

    /// Reads the sources for the first time, and tells what is wrong with them.
    pub(crate) fn read_first(
        clock: SharedClock,
        code: InCode,
        sources: Sources,
    ) -> Result<Self, Vec<Problem>> {
        let instances = Self::new(clock, code, sources);
        let reading = instances.sources.read();
        let external = instances.external(&reading, &[])?;
        instances.write().external = Arc::new(external);
        instances.last().in_force = reading;
        Ok(instances)
    }

    pub(crate) fn get(&self, id: &str) -> Result<Arc<Instance>, Error> {
        let found = self.read().by_id.get(id).map(|made| made.instance.clone());
        found.ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: &str) -> Error {
        let known = self.read();
        let ids = || known.by_id.keys().map(Id::as_str);
        let hint = did_you_mean(id, ids()).unwrap_or_else(|| {
            format!(
                "its limits are: {}. An attribute's limit is made on the function's first call, in the registry that the \
                 call is scoped to",
                listed(ids())
            )
        });
        let text = format!("the registry has no limit `{id}`; {hint}");
        Error::settings(vec![Problem::new(Code::UNKNOWN_INSTANCE, text)])
    }

    pub(crate) fn all(&self) -> Vec<Arc<Instance>> {
        let known = self.read();
        let mut all: Vec<_> = known
            .by_id
            .values()
            .map(|made| made.instance.clone())
            .collect();
        all.sort_by(|a, b| a.id().cmp(b.id()));
        all
    }

    /// The instance of a call site, made on its first call.
    pub(crate) fn of_site(&self, site: &'static CallSite) -> Result<Arc<Instance>, Error> {
        let key = std::ptr::from_ref(site).addr();
        if let Some(instance) = self.read().by_site.get(&key) {
            return Ok(instance.clone());
        }
        let wanted = Wanted {
            ask: site.ask(),
            site: Some(key),
            alone: site.is_unnamed(),
        };
        self.get_or_add(&wanted, |known| {
            if site.is_unnamed() {
                known.free_id(site)
            } else {
                site.id()
            }
        })
    }

    pub(crate) fn get_or_make(&self, id: &Id, ask: Ask) -> Result<Arc<Instance>, Error> {
        let wanted = Wanted {
            ask,
            site: None,
            alone: false,
        };
        self.get_or_add(&wanted, |_| id.clone())
    }

    fn get_or_add(
        &self,
        wanted: &Wanted,
        id: impl Fn(&Known) -> Id,
    ) -> Result<Arc<Instance>, Error> {
        // Again if another thread was faster with what this one builds on.
        loop {
            let (id, external, exists) = {
                let known = self.read();
                if let Some(instance) = wanted.site.and_then(|site| known.by_site.get(&site)) {
                    return Ok(instance.clone());
                }
                let id = id(&known);
                let made = known.by_id.get(&id);
                if let Some(made) = made
                    && wanted.site.is_none()
                    && made.knows(&wanted.ask)
                {
                    return Ok(made.instance.clone());
                }
                let exists = made.is_some();
                (id, known.external.clone(), exists)
            };
            if !exists && external.may_know_more(&id) {
                self.get_to_know(&id)?;
                continue;
            }
            let settings = self
                .settings(&external, &id, &wanted.ask)
                .map_err(Error::settings)?;
            // With no lock held: the clock and the algorithm are foreign code, which may look at this registry. So threads
            // that are as fast as each other make one each, and all but one are thrown away, with no lock held either.
            let fresh = (!exists).then(|| self.make(&id, &settings));
            let mut known = self.write();
            if let Some(instance) = wanted.site.and_then(|site| known.by_site.get(&site)) {
                return Ok(instance.clone());
            }
            let taken = wanted.alone && known.by_id.contains_key(&id);
            if taken || !Arc::ptr_eq(&known.external, &external) {
                continue;
            }
            return known.share(&id, fresh.as_ref(), &settings, wanted);
        }
    }

    fn make(&self, id: &Id, settings: &Arc<LimitSettings>) -> Arc<Instance> {
        Arc::new(Instance::new(
            id.clone(),
            settings.clone(),
            self.clock.clone(),
            self.listeners.clone(),
        ))
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    fn last(&self) -> MutexGuard<'_, LastRead> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the instance of that id runs with, asked for like this.
    fn settings(
        &self,
        external: &External,
        id: &Id,
        ask: &Ask,
    ) -> Result<Arc<LimitSettings>, Vec<Problem>> {
        let mut problems = Vec::new();
        if let Some(fault) = illegible(id.as_str()) {
            let id = named(id.as_str());
            let text = format!("the id of a limit {fault}: {id}; in {}", ask.own.place());
            problems.push(Problem::new(Code::RESERVED_NAME, text));
        }
        let layers = self.layers(external, id, ask, &mut problems);
        match resolve(&layers, &self.code.named()) {
            Ok(settings) if problems.is_empty() => Ok(Arc::new(settings)),
            Ok(_) => Err(problems),
            Err(more) => {
                problems.extend(more);
                Err(problems)
            }
        }
    }

    /// The layers of an instance, lowest first.
    fn layers<'a>(
        &'a self,
        external: &'a External,
        id: &Id,
        ask: &'a Ask,
        problems: &mut Vec<Problem>,
    ) -> Vec<&'a Layer> {
        let mut layers: Vec<&Layer> = Vec::with_capacity(6);
        layers.extend(&self.code.defaults);
        layers.extend(&external.defaults);
        let chosen = external.chosen.get(id.as_str());
        let config = chosen
            .map(|(name, place)| (name.as_str(), place.to_string()))
            .or_else(|| {
                let name = ask.config.as_deref()?;
                Some((name, ask.own.place()))
            });
        if let Some((name, asked_by)) = config {
            let (inside, outside) = (self.code.configs.get(name), external.configs.get(name));
            if inside.is_none() && outside.is_none() {
                problems.push(self.unknown_config(external, name, &asked_by));
            }
            layers.extend(inside);
            layers.extend(outside);
        }
        layers.push(&ask.own);
        layers.extend(external.instances.get(id.as_str()));
        layers
    }

    fn unknown_config(&self, external: &External, name: &str, asked_by: &str) -> Problem {
        let names = || {
            let inside = self.code.configs.keys().map(String::as_str);
            inside.chain(external.configs.keys().map(|name| &**name))
        };
        let hint = did_you_mean(name, names())
            .unwrap_or_else(|| format!("its configs are: {}", listed(names())));
        Problem::new(
            Code::UNKNOWN_CONFIG,
            format!("the registry has no config `{name}`, asked for by {asked_by}; {hint}"),
        )
    }

    /// What a reading of the sources says, given the ids that are known.
    fn understand(
        &self,
        reading: &Reading,
        ids: &[Id],
    ) -> (outside::External<LimitConfig>, outside::Findings) {
        let configs = self.code.configs.keys().map(String::as_str);
        let ids = ids.iter().map(Id::as_str);
        let (entries, mut findings) = reading.entries(&schema(), configs, ids);
        let algorithms: Vec<&str> = self.code.algorithms.keys().map(String::as_str).collect();
        let kinds: Vec<&str> = self.code.kinds.keys().map(String::as_str).collect();
        let context = Context {
            algorithms: &algorithms,
            kinds: &kinds,
        };
        let external = outside::External::collect(&entries, &context, &mut findings);
        (external, findings)
    }

    /// What a reading of the sources puts in force, if nothing is wrong with it by itself.
    fn external(&self, reading: &Reading, ids: &[Id]) -> Result<External, Vec<Problem>> {
        let (external, findings) = self.understand(reading, ids);
        let external = External::new(external, reading.spelt_ids(&schema()), ids);
        let mut problems = findings.problems;
        problems.extend(external.contradictions());
        if problems.is_empty() {
            Ok(external)
        } else {
            Err(problems)
        }
    }

    fn ids(&self) -> Vec<Id> {
        self.read().by_id.keys().cloned().collect()
    }

    /// Understands variables about this id, which nobody could before it was known.
    fn get_to_know(&self, id: &Id) -> Result<(), Error> {
        let events = {
            let last = self.last();
            let mut ids = self.ids();
            ids.push(id.clone());
            self.external(&last.in_force, &ids)
                .and_then(|external| self.put_in_force(external))
                .map_err(Error::settings)?
        };
        tell(events);
        Ok(())
    }

    /// Reads the sources again, and puts in force what they say if there is nothing wrong with it. Returns whether they
    /// said something else than the last time.
    pub(crate) fn reload(&self, only_if_changed: bool) -> Result<bool, Error> {
        let reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reading = self.sources.read();
        let mut last = self.last();
        reading.tell_vanished_since(&last.in_force);
        let changed = reading != *last.refused.as_ref().unwrap_or(&last.in_force);
        if only_if_changed && !changed {
            return Ok(false);
        }
        let mut blanked = reading.blanked_since(&last.in_force);
        let events = match self.external(&reading, &self.ids()) {
            Ok(external) if blanked.is_empty() => self.put_in_force(external),
            Ok(_) => Err(blanked),
            Err(problems) => {
                blanked.extend(problems);
                Err(blanked)
            }
        };
        match events {
            Ok(events) => {
                *last = LastRead {
                    in_force: reading,
                    refused: None,
                };
                self.write().stale = None;
                drop((last, reads));
                let limits = events.len();
                tell(events);
                if changed {
                    self.listeners.tell(&Event::Reloaded { limits });
                }
                Ok(changed)
            }
            Err(problems) => {
                let error = Error::settings(problems);
                last.refused = Some(reading);
                self.write().stale = Some(error.clone());
                drop((last, reads));
                self.listeners.tell(&Event::ReloadRefused {
                    error: error.to_string().into(),
                });
                Err(error)
            }
        }
    }

    /// Why what the sources said last is not in force.
    pub(crate) fn stale(&self) -> Option<Error> {
        self.read().stale.clone()
    }

    /// Puts settings from outside in force, in the place of those before: for all instances, or for none if there is
    /// anything wrong for one of them.
    ///
    /// The caller holds `last` and no lock that a call could need: an algorithm is foreign code.
    fn put_in_force(&self, external: External) -> Result<Vec<Changed>, Vec<Problem>> {
        let changed = self.decide_all(external)?;
        let reconfigured = changed.into_iter().map(|(instance, settings)| {
            let event = instance.reconfigure(&settings);
            (instance, event)
        });
        Ok(reconfigured.collect())
    }

    pub(crate) fn explain(&self, id: &str) -> Result<Explanation, Error> {
        let found = {
            let known = self.read();
            known.by_id.get(id).map(|made| {
                let id = made.instance.id().clone();
                let external = known.external.clone();
                (id, made.settings.clone(), made.asks[0].clone(), external)
            })
        };
        let (id, settings, ask, external) = found.ok_or_else(|| self.unknown(id))?;
        let layers = self.layers(&external, &id, &ask, &mut Vec::new());
        Ok(Explanation::new(id.clone(), &layers, &settings))
    }

    /// Everything about the settings from outside that has no effect, which nobody has been told before.
    ///
    /// `sites` are those whose limits are to be made, if they are not.
    pub(crate) fn check(&self, sites: &[&'static CallSite]) -> Result<(), Error> {
        let mut problems = Vec::new();
        for site in sites {
            if let Err(error) = self.of_site(site) {
                problems.extend(error.problems().iter().cloned());
            }
        }
        let (external, made) = {
            let known = self.read();
            let made = known.by_id.iter().map(|(id, made)| {
                let asks = made.asks.clone();
                (id.clone(), made.settings.clone(), asks)
            });
            (known.external.clone(), made.collect::<Vec<_>>())
        };
        // Limits of other registries are not made here, and a setting for one is no mistake.
        let elsewhere: Vec<&CallSite> = super::sites::all().collect();
        let known: Vec<Id> = made
            .iter()
            .map(|(id, ..)| id.clone())
            .chain(elsewhere.iter().map(|site| site.id()))
            .collect();
        let in_force = self.last().in_force.clone();
        problems.extend(self.understand(&in_force, &known).1.warnings);
        problems.extend(external.of_no_instance(&known));
        for (id, settings, _) in &made {
            problems.extend(external.without_effect(id, settings));
        }
        let asked_for = made.iter().flat_map(|(.., asks)| asks);
        let mut used: BTreeSet<&str> = asked_for.filter_map(|ask| ask.config.as_deref()).collect();
        used.extend(external.chosen.values().map(|(name, _)| name.as_str()));
        used.extend(elsewhere.iter().filter_map(|site| site.asks_for_config()));
        let inside = self
            .code
            .configs
            .iter()
            .map(|(name, layer)| (&**name, layer));
        let outside = external
            .configs
            .iter()
            .map(|(name, layer)| (&**name, layer));
        for (_, layer) in inside
            .chain(outside)
            .filter(|(name, _)| !used.contains(name))
        {
            let text = format!("no limit is based on {}", layer.place_of_first());
            problems.push(Problem::new(Code::CONFIG_UNUSED, text));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::settings(problems))
        }
    }

    /// Finds the settings of every instance anew, and hands them over if nothing is wrong with any of them. Returns the
    /// instances whose settings changed.
    ///
    /// The caller holds `last`: nobody else changes the settings of an instance meanwhile. All that takes long is done with
    /// no lock that a call could need.
    fn decide_all(&self, external: External) -> Result<Vec<Decided>, Vec<Problem>> {
        let external = Arc::new(external);
        loop {
            let (asks, asked) = {
                let known = self.read();
                let asked = known.by_id.iter().map(|(id, made)| {
                    let (settings, asks) = (made.settings.clone(), made.asks.clone());
                    (id.clone(), settings, asks)
                });
                (known.asks, asked.collect::<Vec<_>>())
            };
            let mut problems = Vec::new();
            let mut changed = Vec::new();
            for (id, before, asks) in asked {
                match self.agreed(&external, &id, &asks) {
                    Ok(settings) if before.same(&settings) => {}
                    Ok(settings) => changed.push((id, settings)),
                    Err(more) => problems.extend(more),
                }
            }
            if !problems.is_empty() {
                return Err(problems);
            }
            let mut known = self.write();
            if known.asks != asks {
                // Somebody has asked for something meanwhile, and nobody has looked whether that fits.
                continue;
            }
            known.external = external;
            let decided = changed.into_iter().map(|(id, settings)| {
                let made = known
                    .by_id
                    .get_mut(&id)
                    .expect("instances are never removed");
                made.settings = settings.clone();
                (made.instance.clone(), settings)
            });
            return Ok(decided.collect());
        }
    }

    /// The settings that all who ask for an instance agree on.
    fn agreed(
        &self,
        external: &External,
        id: &Id,
        asks: &[Arc<Ask>],
    ) -> Result<Arc<LimitSettings>, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut agreed: Option<(Arc<LimitSettings>, &Ask)> = None;
        for ask in asks {
            match (self.settings(external, id, ask), &agreed) {
                (Err(more), _) => problems.extend(more),
                (Ok(settings), None) => agreed = Some((settings, ask.as_ref())),
                (Ok(settings), Some((first, by))) => {
                    problems.extend(disagreement(id, first, &by.own, &settings, &ask.own));
                }
            }
        }
        match agreed {
            Some((settings, _)) if problems.is_empty() => Ok(settings),
            _ => Err(problems),
        }
    }
}

/// What keys can be about.
fn schema() -> Schema {
    Schema::default().with::<LimitConfig>()
}

/// Tells the listeners. With no lock held: one may call back.
fn tell(changed: Vec<Changed>) {
    for (instance, event) in changed {
        instance.call_waiting();
        if let Some(event) = event {
            instance.tell(&event);
        }
    }
}

/// A place that wants an instance.
struct Wanted {
    ask: Ask,
    /// The address of the call site, if it is one.
    site: Option<usize>,
    /// Whether it shares its instance with nobody.
    alone: bool,
}

impl Known {
    /// The id of a function without a name. Functions of one name in sibling blocks have one path, those that one macro
    /// writes there have one place too, and each has a limit of its own.
    fn free_id(&self, site: &CallSite) -> Id {
        let path = site.id();
        if !self.by_id.contains_key(&path) {
            return path;
        }
        let place = site.id_with_place();
        let mut id = place.clone();
        let mut number = 1;
        while self.by_id.contains_key(&id) {
            number += 1;
            id = format!("{place} ({number})").into();
        }
        id
    }

    /// The instance of that id, or else the `fresh` one; there is one of them. Borrowed, since the caller holds the lock
    /// and must drop one that is not kept without it.
    fn share(
        &mut self,
        id: &Id,
        fresh: Option<&Arc<Instance>>,
        settings: &Arc<LimitSettings>,
        wanted: &Wanted,
    ) -> Result<Arc<Instance>, Error> {
        let ask = &wanted.ask;
        let instance = if let Some(made) = self.by_id.get_mut(id) {
            let by = &made.asks[0].own;
            if let Some(problem) = disagreement(id, &made.settings, by, settings, &ask.own) {
                return Err(Error::settings(vec![problem]));
            }
            if !made.knows(ask) {
                made.asks.push(Arc::new(ask.clone()));
                self.asks += 1;
            }
            made.instance.clone()
        } else {
            let instance = fresh
                .expect("instances are never removed, so one that was there still is")
                .clone();
            let made = Made {
                instance: instance.clone(),
                settings: settings.clone(),
                asks: vec![Arc::new(ask.clone())],
            };
            self.by_id.insert(id.clone(), made);
            self.asks += 1;
            instance
        };
        if let Some(site) = wanted.site {
            self.by_site.insert(site, instance.clone());
        }
        Ok(instance)
    }
}

/// What is wrong if two places that share a limit do not get the same settings.
fn disagreement(
    id: &Id,
    settings: &LimitSettings,
    made_by: &Layer,
    others: &LimitSettings,
    asked_by: &Layer,
) -> Option<Problem> {
    let differences = settings.differences(others);
    if differences.is_empty() {
        return None;
    }
    let differences: Vec<_> = differences
        .iter()
        .map(|(property, first, second)| format!("`{property}` is {first} there and {second} here"))
        .collect();
    let text = format!(
        "limit `{id}`, asked for by {}, has other settings than {} made it with: {}",
        asked_by.place(),
        made_by.place(),
        differences.join(", "),
    );
    Some(Problem::new(Code::SETTINGS_DIFFER, text))
}
