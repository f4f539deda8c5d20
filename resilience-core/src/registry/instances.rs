//! The instances of a registry and the settings they are made from.

use std::collections::{BTreeMap, HashMap};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::call_site::CallSite;
use super::layers::{Algorithms, Layer, resolve};
use crate::error::{Code, Error, Problem, did_you_mean, listed};
use crate::id::Id;
use crate::limit::instance::Instance;
use crate::limit::listeners::Listeners;
use crate::limit::settings::{Factory, LimitSettings};
use crate::time::SharedClock;

pub(crate) struct Instances {
    clock: SharedClock,
    defaults: Option<Layer>,
    configs: BTreeMap<String, Layer>,
    algorithms: BTreeMap<String, Factory>,
    known: RwLock<Known>,
    listeners: Listeners,
}

// Clocks and factories are foreign code, but nothing of ours is half changed when one of them panics.
impl UnwindSafe for Instances {}
impl RefUnwindSafe for Instances {}

/// Instances are added and never replaced or removed: who holds one holds the one.
#[derive(Default)]
struct Known {
    by_id: HashMap<Id, Made>,
    /// By the address of the call site, for registries whose call sites look them up on each call.
    by_site: HashMap<usize, Arc<Instance>>,
}

struct Made {
    instance: Arc<Instance>,
    /// Where it was first asked for.
    by: String,
}

impl Default for Instances {
    fn default() -> Self {
        Self::new(
            SharedClock::system(),
            None,
            BTreeMap::new(),
            BTreeMap::new(),
        )
    }
}

impl Instances {
    pub(crate) fn new(
        clock: SharedClock,
        defaults: Option<Layer>,
        configs: BTreeMap<String, Layer>,
        algorithms: BTreeMap<String, Factory>,
    ) -> Self {
        Self {
            clock,
            defaults,
            configs,
            algorithms,
            known: RwLock::default(),
            listeners: Listeners::default(),
        }
    }

    pub(crate) fn get(&self, id: &str) -> Result<Arc<Instance>, Error> {
        let known = self.read();
        if let Some(made) = known.by_id.get(id) {
            return Ok(made.instance.clone());
        }
        let ids = || known.by_id.keys().map(Id::as_str);
        let hint = did_you_mean(id, ids()).unwrap_or_else(|| {
            format!(
                "its limits are: {}. An attribute's limit is made on the function's first call, in the registry that the \
                 call is scoped to",
                listed(ids())
            )
        });
        let text = format!("the registry has no limit `{id}`; {hint}");
        Err(Error::settings(vec![Problem::new(
            Code::UNKNOWN_INSTANCE,
            text,
        )]))
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
        let own = site.layer();
        let settings = self.settings(&site.id(), site.config_name(), &own)?;
        loop {
            let (id, fresh) = {
                let known = self.read();
                if let Some(instance) = known.by_site.get(&key) {
                    // Another thread was faster.
                    return Ok(instance.clone());
                }
                let id = if site.is_unnamed() {
                    known.free_id(site)
                } else {
                    site.id()
                };
                let exists = known.by_id.contains_key(&id);
                drop(known);
                let fresh = (!exists).then(|| self.make(&id, &settings));
                (id, fresh)
            };
            let mut known = self.write();
            if let Some(instance) = known.by_site.get(&key) {
                return Ok(instance.clone());
            }
            if site.is_unnamed() && known.by_id.contains_key(&id) {
                // Another function of the same path was faster.
                continue;
            }
            let instance = known.get_or_add(id, fresh.as_ref(), &settings, &own)?;
            known.by_site.insert(key, instance.clone());
            return Ok(instance);
        }
    }

    pub(crate) fn get_or_make(
        &self,
        id: Id,
        config: Option<&str>,
        own: &Layer,
    ) -> Result<Arc<Instance>, Error> {
        let settings = self.settings(&id, config, own)?;
        if let Some(made) = self.read().by_id.get(&id) {
            return made.shared_with(&settings, own);
        }
        let fresh = self.make(&id, &settings);
        self.write().get_or_add(id, Some(&fresh), &settings, own)
    }

    /// Makes an instance. With no lock held: the clock and the algorithm are foreign code, which may look at this registry.
    /// So threads that are as fast as each other make one each, and all but one are thrown away.
    fn make(&self, id: &Id, settings: &LimitSettings) -> Arc<Instance> {
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

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self, id: &Id, config: Option<&str>, own: &Layer) -> Result<LimitSettings, Error> {
        let mut problems = Vec::new();
        if id.as_str().trim().is_empty() {
            let text = format!("the id of a limit is empty; in {}", own.place());
            problems.push(Problem::new(Code::RESERVED_NAME, text));
        }
        let mut layers: Vec<&Layer> = self.defaults.iter().collect();
        if let Some(name) = config {
            match self.configs.get(name) {
                Some(layer) => layers.push(layer),
                None => problems.push(self.unknown_config(name, own)),
            }
        }
        layers.push(own);
        match resolve(&layers, &Algorithms(&self.algorithms)) {
            Ok(settings) if problems.is_empty() => Ok(settings),
            Ok(_) => Err(Error::settings(problems)),
            Err(more) => {
                problems.extend(more);
                Err(Error::settings(problems))
            }
        }
    }

    fn unknown_config(&self, name: &str, own: &Layer) -> Problem {
        let names = || self.configs.keys().map(String::as_str);
        let hint = did_you_mean(name, names())
            .unwrap_or_else(|| format!("its configs are: {}", listed(names())));
        Problem::new(
            Code::UNKNOWN_CONFIG,
            format!(
                "the registry has no config `{name}`, asked for by {}; {hint}",
                own.place()
            ),
        )
    }
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
    fn get_or_add(
        &mut self,
        id: Id,
        fresh: Option<&Arc<Instance>>,
        settings: &LimitSettings,
        own: &Layer,
    ) -> Result<Arc<Instance>, Error> {
        if let Some(made) = self.by_id.get(&id) {
            return made.shared_with(settings, own);
        }
        let instance = fresh
            .expect("instances are never removed, so one that was there still is")
            .clone();
        self.by_id.insert(
            id,
            Made {
                instance: instance.clone(),
                by: own.place(),
            },
        );
        Ok(instance)
    }
}

impl Made {
    /// The instance, for another place that asks for it with these settings.
    fn shared_with(
        &self,
        settings: &LimitSettings,
        asked_by: &Layer,
    ) -> Result<Arc<Instance>, Error> {
        let differences = self.instance.settings().differences(settings);
        if differences.is_empty() {
            return Ok(self.instance.clone());
        }
        let differences: Vec<_> = differences
            .iter()
            .map(|(property, first, second)| {
                format!("`{property}` is {first} there and {second} here")
            })
            .collect();
        let text = format!(
            "limit `{}`, asked for by {}, has other settings than {} made it with: {}",
            self.instance.id(),
            asked_by.place(),
            self.by,
            differences.join(", "),
        );
        Err(Error::settings(vec![Problem::new(
            Code::SETTINGS_DIFFER,
            text,
        )]))
    }
}
