//! The instances of a registry and the settings they run with.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::call_site::CallSite;
use super::explain::Explanation;
use super::external::External;
use super::keyed::{Family, Own};
use super::layers::{Layer, Named, illegible, resolve};
use super::snapshot::RegistrySnapshot;
use crate::config::key::Schema;
use crate::config::layers as outside;
use crate::config::patch::Context;
use crate::config::quote::named;
use crate::config::sources::{Reading, Sources};
use crate::error::{Code, Error, Problem, did_you_mean, listed};
use crate::event::Event;
use crate::event::listeners::RegistryListeners;
use crate::id::Id;
use crate::limit::LimitConfig;
use crate::limit::instance::Instance;
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
    listeners: RegistryListeners,
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

/// What a limit is explained by: its id, or its family's and its own, and all that its settings are found by.
type Explained = (Id, Option<Id>, Arc<LimitSettings>, Arc<Ask>, Arc<External>);

/// The instances and the families that are to take other settings.
type AllDecided = (Vec<Decided>, Vec<Arc<Family>>);

/// What has come of other settings.
#[derive(Default)]
struct Changes {
    /// The instances that were given others.
    limits: usize,
    /// Whom to tell what, and where calls wait that there may be room for now.
    aftermath: Vec<(Arc<Instance>, Option<Event>)>,
}

impl Changes {
    fn reconfigure(&mut self, instance: Arc<Instance>, settings: &Arc<LimitSettings>) {
        self.limits += 1;
        let event = instance.reconfigure(settings);
        // Whoever has nothing to tell is not held: a member of a family could not be evicted.
        if event.is_some() || instance.is_awaited() {
            self.aftermath.push((instance, event));
        }
    }

    /// Wakes who waits, and tells the listeners. With no lock held: one may call back.
    fn tell(self) {
        for (instance, event) in self.aftermath {
            instance.call_waiting();
            if let Some(event) = event {
                instance.tell(&event);
            }
        }
    }
}

// Clocks and factories are foreign code, but nothing of ours is half changed when one of them panics.
impl UnwindSafe for Instances {}
impl RefUnwindSafe for Instances {}

/// Instances are added and never replaced or removed: who holds one holds the one. Those of families are apart: they go
/// when nobody holds them.
#[derive(Default)]
struct Known {
    by_id: HashMap<Id, Made>,
    /// By the id of the instance that their members are made from.
    families: BTreeMap<Id, Arc<Family>>,
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
            listeners: RegistryListeners::default(),
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
        let found = {
            let known = self.read();
            let made = known.by_id.get(id).map(|made| made.instance.clone());
            made.or_else(|| known.member(id))
        };
        found.ok_or_else(|| self.unknown(id))
    }

    /// The family of instances with the settings of that of an id, of which there is one.
    pub(crate) fn keyed(&self, id: &str, max_instances: usize) -> Result<Arc<Family>, Error> {
        let wrong = |code, text| Error::settings(vec![Problem::new(code, text)]);
        if max_instances == 0 {
            let text = format!("`max_instances` of `{id}` is 0, allowed is 1 or more");
            return Err(wrong(Code::INVALID_SETTING, text));
        }
        // Again if other settings were put in force meanwhile.
        loop {
            let (id, external, ask, settings) = {
                let known = self.read();
                let Some((id, made)) = known.by_id.get_key_value(id) else {
                    drop(known);
                    return Err(self.unknown(id));
                };
                let (ask, settings) = (made.asks[0].clone(), made.settings.clone());
                (id.clone(), known.external.clone(), ask, settings)
            };
            let own = self.own(&external, &id, &ask).map_err(Error::settings)?;
            let mut known = self.write();
            if let Some(family) = known.families.get(&id) {
                let before = family.max_instances();
                if before == max_instances {
                    return Ok(family.clone());
                }
                let text = format!(
                    "`max_instances` of `{id}` is {before} and cannot be {max_instances} as well"
                );
                return Err(wrong(Code::SETTINGS_DIFFER, text));
            }
            if !Arc::ptr_eq(&known.external, &external) {
                continue;
            }
            let family = Arc::new(Family::new(id.clone(), max_instances, settings, own));
            known.families.insert(id, family.clone());
            // A reload that has not heard of it would leave it with the settings before.
            known.asks += 1;
            return Ok(family);
        }
    }

    pub(crate) fn families(&self) -> Vec<Arc<Family>> {
        self.read().families.values().cloned().collect()
    }

    /// The settings that members of a family have of their own.
    fn own(&self, external: &External, id: &Id, ask: &Ask) -> Result<Own, Vec<Problem>> {
        let (mut own, mut problems) = (Own::new(), Vec::new());
        for (member, key) in external.members_of(id) {
            match self.settings_over(external, id, Some(member), ask) {
                Ok(settings) => drop(own.insert(key.into(), settings)),
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() {
            Ok(own)
        } else {
            Err(problems)
        }
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

    /// Hands out all instances, one at a time.
    #[cfg(feature = "metrics")]
    pub(crate) fn each(&self, mut look: impl FnMut(Arc<Instance>)) {
        for instance in self.all() {
            look(instance);
        }
        for family in self.families() {
            family.each(|instance, _| look(instance));
        }
    }

    pub(crate) fn snapshot(&self) -> RegistrySnapshot {
        let mut limits: Vec<_> = self
            .all()
            .iter()
            .map(|instance| instance.snapshot())
            .collect();
        let families = self.families();
        for family in &families {
            family.snapshots(&mut limits);
        }
        if !families.is_empty() {
            // Runs that are in order already, which the sort knows to merge.
            limits.sort_by(|a, b| a.id.cmp(&b.id));
        }
        RegistrySnapshot {
            limits,
            keyed: families.iter().map(|family| family.counts()).collect(),
            stale: self.stale().map(|error| error.to_string()),
        }
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
            let instance = known.share(&id, fresh.as_ref(), &settings, wanted)?;
            drop(known);
            if fresh.is_some_and(|fresh| Arc::ptr_eq(&fresh, &instance)) {
                self.tell_made(&instance);
            }
            return Ok(instance);
        }
    }

    /// Tells that an instance was made. With no lock held: a listener may call back.
    pub(crate) fn tell_made(&self, instance: &Instance) {
        let (id, limit) = (instance.id().clone(), instance.limit());
        self.listeners.tell(&Event::LimitMade { id, limit });
    }

    pub(crate) fn make(&self, id: &Id, settings: &Arc<LimitSettings>) -> Arc<Instance> {
        Arc::new(Instance::new(
            id.clone(),
            settings.clone(),
            self.clock.clone(),
            &self.listeners,
        ))
    }

    pub(crate) fn listeners(&self) -> &RegistryListeners {
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
        self.settings_over(external, id, None, ask)
    }

    /// The same of the member of a family, by its id, which is laid over what all of the family run with.
    fn settings_over(
        &self,
        external: &External,
        id: &Id,
        member: Option<&str>,
        ask: &Ask,
    ) -> Result<Arc<LimitSettings>, Vec<Problem>> {
        let mut problems = Vec::new();
        if let Some(fault) = illegible(id.as_str()) {
            let id = named(id.as_str());
            let text = format!("the id of a limit {fault}: {id}; in {}", ask.own.place());
            problems.push(Problem::new(Code::RESERVED_NAME, text));
        }
        let layers = self.layers(external, id, member, ask, &mut problems);
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
        member: Option<&str>,
        ask: &'a Ask,
        problems: &mut Vec<Problem>,
    ) -> Vec<&'a Layer> {
        let mut layers: Vec<&Layer> = Vec::with_capacity(6);
        layers.extend(&self.code.defaults);
        layers.extend(&external.defaults);
        let chosen = member
            .and_then(|member| external.chosen.get(member))
            .or_else(|| external.chosen.get(id.as_str()));
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
        layers.extend(member.and_then(|member| external.instances.get(member)));
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
        let changes = {
            let last = self.last();
            let mut ids = self.ids();
            ids.push(id.clone());
            self.external(&last.in_force, &ids)
                .and_then(|external| self.put_in_force(external))
                .map_err(Error::settings)?
        };
        changes.tell();
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
        let put = match self.external(&reading, &self.ids()) {
            Ok(external) if blanked.is_empty() => self.put_in_force(external),
            Ok(_) => Err(blanked),
            Err(problems) => {
                blanked.extend(problems);
                Err(blanked)
            }
        };
        match put {
            Ok(put) => {
                *last = LastRead {
                    in_force: reading,
                    refused: None,
                };
                self.write().stale = None;
                drop((last, reads));
                let limits = put.limits;
                put.tell();
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
    fn put_in_force(&self, external: External) -> Result<Changes, Vec<Problem>> {
        let (instances, families) = self.decide_all(external)?;
        let mut changes = Changes::default();
        for (instance, settings) in instances {
            changes.reconfigure(instance, &settings);
        }
        for family in families {
            family.each(|instance, settings| changes.reconfigure(instance, settings));
        }
        Ok(changes)
    }

    pub(crate) fn explain(&self, id: &str) -> Result<Explanation, Error> {
        let found = {
            let known = self.read();
            let made = known.by_id.get(id).map(|made| {
                let id = made.instance.id().clone();
                let external = known.external.clone();
                (
                    id,
                    None,
                    made.settings.clone(),
                    made.asks[0].clone(),
                    external,
                )
            });
            made.or_else(|| known.explained_member(id))
        };
        let (id, member, settings, ask, external) = found.ok_or_else(|| self.unknown(id))?;
        let over = member.as_ref().map(Id::as_str);
        let layers = self.layers(&external, &id, over, &ask, &mut Vec::new());
        Ok(Explanation::new(
            member.clone().unwrap_or(id),
            &layers,
            &settings,
        ))
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
        let (external, made, families) = {
            let known = self.read();
            let families: Vec<_> = known.families.clone().into_iter().collect();
            let made = known.by_id.iter().map(|(id, made)| {
                let asks = made.asks.clone();
                (id.clone(), made.settings.clone(), asks)
            });
            (known.external.clone(), made.collect::<Vec<_>>(), families)
        };
        // Limits of other registries are not made here, and a setting for one is no mistake.
        let elsewhere: Vec<&CallSite> = super::sites::all().collect();
        let known: Vec<Id> = made
            .iter()
            .map(|(id, ..)| id.clone())
            .chain(elsewhere.iter().map(|site| site.id()))
            .chain(families.iter().flat_map(|(id, _)| {
                // A key that is not there may come.
                external
                    .members_of(id)
                    .map(|(member, _)| member.to_owned().into())
            }))
            .collect();
        let in_force = self.last().in_force.clone();
        problems.extend(self.understand(&in_force, &known).1.warnings);
        problems.extend(external.of_no_instance(&known));
        for (id, settings, _) in &made {
            problems.extend(external.without_effect(id, settings));
        }
        for (id, family) in &families {
            for (key, settings) in family.own() {
                let member = format!("{id}/{key}").into();
                problems.extend(external.without_effect(&member, &settings));
            }
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
    fn decide_all(&self, external: External) -> Result<AllDecided, Vec<Problem>> {
        let external = Arc::new(external);
        loop {
            let (asks, families, asked) = {
                let known = self.read();
                let asked = known.by_id.iter().map(|(id, made)| {
                    let (settings, asks) = (made.settings.clone(), made.asks.clone());
                    (id.clone(), settings, asks)
                });
                let families = known.families.clone();
                (known.asks, families, asked.collect::<Vec<_>>())
            };
            let mut problems = Vec::new();
            let mut changed = Vec::new();
            let mut of_families = Vec::new();
            for (id, before, asks) in asked {
                let settings = match self.agreed(&external, &id, &asks) {
                    Ok(settings) if before.same(&settings) => before,
                    Ok(settings) => {
                        changed.push((id.clone(), settings.clone()));
                        settings
                    }
                    Err(more) => {
                        problems.extend(more);
                        continue;
                    }
                };
                if let Some(family) = families.get(&id) {
                    match self.own(&external, &id, &asks[0]) {
                        Ok(own) if family.runs_with(&settings, &own) => {}
                        Ok(own) => of_families.push((family.clone(), settings, own)),
                        Err(more) => problems.extend(more),
                    }
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
            let decided = decided.collect();
            let families = of_families.into_iter().map(|(family, settings, own)| {
                family.take(settings, own);
                family
            });
            return Ok((decided, families.collect()));
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

/// A place that wants an instance.
struct Wanted {
    ask: Ask,
    /// The address of the call site, if it is one.
    site: Option<usize>,
    /// Whether it shares its instance with nobody.
    alone: bool,
}

impl Known {
    /// The family that an id is that of a member of, and the key of that.
    fn family<'a>(&self, id: &'a str) -> Option<(&Id, &Arc<Family>, &'a str)> {
        let mut families = self.families.iter();
        families.find_map(|(of, family)| Some((of, family, family.key_in(id)?)))
    }

    fn member(&self, id: &str) -> Option<Arc<Instance>> {
        let (_, family, key) = self.family(id)?;
        family.find(key)
    }

    /// What there is to explain a member of a family by.
    fn explained_member(&self, id: &str) -> Option<Explained> {
        let (of, family, key) = self.family(id)?;
        let member = family.find(key)?.id().clone();
        let ask = self.by_id.get(of)?.asks[0].clone();
        let settings = family.settings_of(key);
        Some((
            of.clone(),
            Some(member),
            settings,
            ask,
            self.external.clone(),
        ))
    }

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
