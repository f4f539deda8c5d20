//! Limits by a key that comes from outside, such as a tenant: never more of them than a cap.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::instances::Instances;
use super::layers::illegible;
use crate::config::quote::named;
use crate::error::{Code, Error, Problem};
use crate::id::Id;
use crate::limit::instance::Instance;
use crate::limit::settings::LimitSettings;
use crate::limit::{AdaptiveLimit, Snapshot};
use crate::sync::contained;

/// A limit for each key, such as each tenant, and never more of them than a cap; made by
/// [`Registry::keyed`](super::Registry::keyed). Clones are the same limits.
///
/// Each key has a limit of its own, made on its first use, with the settings of the limit that they were made from and the
/// id `<that limit's id>/<key>`. Settings from outside of the code for such an id are laid over them.
///
/// # Eviction
///
/// A key that is new when there are as many limits as the cap allows takes the place of the one that was asked for the
/// longest time ago, of those that nobody uses. What it has learned and counted is lost, and the key begins anew the next
/// time.
///
/// A limit that is in use is never evicted: with a call in flight or waiting, while anybody holds its handle or a
/// permit, or a subscription to it. So who holds the limit of a key holds the only one. Keep handles for as long as a call
/// takes and no longer, or nothing can be evicted.
///
/// If all are in use, new keys share one limit meanwhile: the one that they were made from. The number of limits is bounded
/// then, and so are the calls; what suffers is that the keys beyond the cap are not told apart. How often that happened is
/// counted, see [`snapshot`](Self::snapshot). It should be never: choose a cap well above the keys that have calls in
/// flight at once.
///
/// # Examples
///
/// ```
/// use resilience::Outcome;
/// use resilience::limit::LimitConfig;
/// use resilience::registry::Registry;
///
/// let registry = Registry::new();
/// registry.register("tenant", LimitConfig::new().initial_limit(5).max_limit(50))?;
/// let tenants = registry.keyed("tenant", 10_000)?;
///
/// let limit = tenants.get("acme")?;
/// let permit = limit.try_acquire()?;
/// // … the call …
/// permit.complete(Outcome::Success);
///
/// assert_eq!(limit.id().as_str(), "tenant/acme");
/// assert_eq!(registry.adaptive_limit("tenant/acme")?.limit(), 5);
/// assert_eq!(tenants.snapshot().instances, 1);
/// # Ok::<(), resilience::Error>(())
/// ```
#[derive(Clone)]
pub struct KeyedLimits {
    instances: Arc<Instances>,
    family: Arc<Family>,
    shared: AdaptiveLimit,
}

/// How many limits there are for the keys of a family, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KeyedSnapshot {
    /// The limit that they are made from, and that keys share when all are in use.
    pub id: Id,
    /// How many there may be.
    pub max_instances: usize,
    /// How many there are.
    pub instances: usize,
    /// How many were evicted.
    pub evicted: u64,
    /// How often a key was given the shared limit, since all were in use.
    pub overflowed: u64,
}

impl KeyedLimits {
    pub(crate) fn new(
        instances: Arc<Instances>,
        family: Arc<Family>,
        shared: AdaptiveLimit,
    ) -> Self {
        Self {
            instances,
            family,
            shared,
        }
    }

    /// Returns the limit of that key, made if there is none.
    ///
    /// A key that is known costs what [`Registry::adaptive_limit`](super::Registry::adaptive_limit) costs, and two writes to
    /// tell when it was used.
    ///
    /// # Errors
    ///
    /// `R4C-REG-003` for a key that is blank, longer than 256 bytes, or has control characters: it would garble logs and
    /// metrics.
    pub fn get(&self, key: &str) -> Result<AdaptiveLimit, Error> {
        if let Some(instance) = self.family.find(key) {
            return Ok(AdaptiveLimit::new(instance));
        }
        self.add(key)
    }

    #[cold]
    fn add(&self, key: &str) -> Result<AdaptiveLimit, Error> {
        let id = self.family.id_of(key)?;
        loop {
            let evicted = match self.family.make_room(key) {
                Room::Exists(instance) => return Ok(AdaptiveLimit::new(instance)),
                Room::Free(evicted) => evicted,
                Room::None => {
                    self.family.overflowed.fetch_add(1, Ordering::Relaxed);
                    return Ok(self.shared.clone());
                }
            };
            // Its algorithm may be foreign code.
            contained(|| drop(evicted));
            let settings = self.family.settings_of(key);
            // With no lock held: the clock and the algorithm are foreign code.
            let fresh = self.instances.make(&id, &settings);
            if let Some(instance) = self.family.insert(key, &fresh, &settings) {
                if Arc::ptr_eq(&instance, &fresh) {
                    self.instances.tell_made(&instance);
                }
                return Ok(AdaptiveLimit::new(instance));
            }
            // Settings were changed meanwhile, or other keys were faster.
        }
    }

    /// Returns the most limits that there may be.
    pub fn max_instances(&self) -> usize {
        self.family.max_instances
    }

    /// Returns how many limits there are, and how many there were no more.
    pub fn snapshot(&self) -> KeyedSnapshot {
        self.family.counts()
    }
}

impl fmt::Debug for KeyedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLimits")
            .field("id", &self.family.id)
            .field("max_instances", &self.family.max_instances)
            .finish_non_exhaustive()
    }
}

/// Longer than any id that a person reads, and short enough that the cap bounds the memory.
const LONGEST: usize = 256;

/// How many limits are looked at while others wait for the lock.
const AT_ONCE: usize = 64;

/// The limits of the keys of one family.
pub(crate) struct Family {
    /// That of the limit which they are made from.
    id: Id,
    max_instances: usize,
    members: RwLock<Members>,
    /// Counts uses, to tell which came later.
    uses: AtomicU64,
    overflowed: AtomicU64,
}

/// Settings that keys have of their own, from outside of the code.
pub(crate) type Own = BTreeMap<Box<str>, Arc<LimitSettings>>;

struct Members {
    settings: Arc<LimitSettings>,
    own: Own,
    by_key: HashMap<Arc<str>, Member>,
    /// Each key at a number of uses at which it had been used last, or later ones followed.
    order: BTreeMap<u64, Arc<str>>,
    evicted: u64,
}

struct Member {
    instance: Arc<Instance>,
    /// The number of its last use.
    used: AtomicU64,
}

impl Member {
    /// Whether nobody can know it but the family. Nobody can get to know it meanwhile, since the caller has the family to
    /// itself.
    fn is_idle(&mut self) -> bool {
        // Not merely counted: what the last holder did is seen, such as that its call has ended. A weak pointer is a holder
        // too, since it may become one at any time.
        Arc::get_mut(&mut self.instance).is_some_and(|instance| instance.is_idle())
    }
}

/// Whether there is a place for a key.
enum Room {
    Exists(Arc<Instance>),
    /// There is. Who had it is to be dropped without a lock.
    Free(Option<Member>),
    None,
}

impl Family {
    pub(crate) fn new(
        id: Id,
        max_instances: usize,
        settings: Arc<LimitSettings>,
        own: Own,
    ) -> Self {
        Self {
            id,
            max_instances,
            members: RwLock::new(Members {
                settings,
                own,
                by_key: HashMap::new(),
                order: BTreeMap::new(),
                evicted: 0,
            }),
            uses: AtomicU64::new(0),
            overflowed: AtomicU64::new(0),
        }
    }

    pub(crate) fn max_instances(&self) -> usize {
        self.max_instances
    }

    /// The key in the id of a member, whether or not there is one.
    pub(crate) fn key_in<'a>(&self, id: &'a str) -> Option<&'a str> {
        id.strip_prefix(self.id.as_str())?.strip_prefix('/')
    }

    fn id_of(&self, key: &str) -> Result<Id, Error> {
        let fault = illegible(key).or((key.len() > LONGEST).then_some("is longer than 256 bytes"));
        match fault {
            None => Ok(format!("{}/{key}", self.id).into()),
            Some(fault) => {
                let shown: String = key.chars().take(40).collect();
                let text = format!(
                    "the key of a limit of `{}` {fault}: {}",
                    self.id,
                    named(&shown)
                );
                Err(Error::settings(vec![Problem::new(
                    Code::RESERVED_NAME,
                    text,
                )]))
            }
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Members> {
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Members> {
        self.members.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limit of a key, if there is one, which is used by that.
    pub(crate) fn find(&self, key: &str) -> Option<Arc<Instance>> {
        let members = self.read();
        let member = members.by_key.get(key)?;
        // Relaxed: who evicts has the lock to itself, which orders this before.
        member.used.store(self.next_use(), Ordering::Relaxed);
        Some(member.instance.clone())
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn settings_of(&self, key: &str) -> Arc<LimitSettings> {
        self.read().settings_of(key).clone()
    }

    /// Sees to it that there is a place for a key that is new.
    fn make_room(&self, key: &str) -> Room {
        let mut members = self.write();
        if let Some(member) = members.by_key.get(key) {
            member.used.store(self.next_use(), Ordering::Relaxed);
            return Room::Exists(member.instance.clone());
        }
        if members.by_key.len() < self.max_instances {
            return Room::Free(None);
        }
        match self.evict(&mut members) {
            Some(evicted) => Room::Free(Some(evicted)),
            None => Room::None,
        }
    }

    /// Removes the member that was used the longest time ago, of those that are idle.
    ///
    /// The order knows of each member a use that was its last at some time: those that have been used since are put where
    /// they belong when they come up, which is paid for by the use. One that is in use now goes to the end.
    fn evict(&self, members: &mut Members) -> Option<Member> {
        let last = self.uses.load(Ordering::Relaxed);
        while let Some(first) = members.order.first_entry() {
            if *first.key() > last {
                // All have been looked at.
                return None;
            }
            let (at, key) = first.remove_entry();
            let member = members
                .by_key
                .get_mut(&key)
                .expect("each key in the order is that of a member");
            let used = *member.used.get_mut();
            if used > at {
                members.order.insert(used, key);
            } else if member.is_idle() {
                members.evicted += 1;
                return members.by_key.remove(&key);
            } else {
                let now = self.next_use();
                *member.used.get_mut() = now;
                members.order.insert(now, key);
            }
        }
        None
    }

    /// The limit of a key: the fresh one, unless there is one by now. `None` if there is no place for it, or if its
    /// settings are no longer in force.
    fn insert(
        &self,
        key: &str,
        fresh: &Arc<Instance>,
        settings: &Arc<LimitSettings>,
    ) -> Option<Arc<Instance>> {
        let mut members = self.write();
        let used = self.next_use();
        if let Some(member) = members.by_key.get(key) {
            member.used.store(used, Ordering::Relaxed);
            return Some(member.instance.clone());
        }
        if members.by_key.len() >= self.max_instances
            || !Arc::ptr_eq(members.settings_of(key), settings)
        {
            return None;
        }
        let key: Arc<str> = key.into();
        members.order.insert(used, key.clone());
        let member = Member {
            instance: fresh.clone(),
            used: AtomicU64::new(used),
        };
        members.by_key.insert(key, member);
        Some(fresh.clone())
    }

    pub(crate) fn counts(&self) -> KeyedSnapshot {
        let members = self.read();
        KeyedSnapshot {
            id: self.id.clone(),
            max_instances: self.max_instances,
            instances: members.by_key.len(),
            evicted: members.evicted,
            overflowed: self.overflowed.load(Ordering::Relaxed),
        }
    }

    fn keys(&self) -> Vec<Arc<str>> {
        self.read().by_key.keys().cloned().collect()
    }

    /// Looks at all members, ordered by key. A few at a time, so that nobody waits long for the lock, and without holding
    /// any, which would keep it from being evicted. Those that come and go meanwhile may be missing.
    pub(crate) fn snapshots(&self, into: &mut Vec<Snapshot>) {
        let mut keys = self.keys();
        keys.sort_unstable();
        into.reserve(keys.len());
        for some in keys.chunks(AT_ONCE) {
            let members = self.read();
            let present = some.iter().filter_map(|key| members.by_key.get(key));
            into.extend(present.map(|member| member.instance.snapshot()));
        }
    }

    /// Whether members are to run with these settings already.
    pub(crate) fn runs_with(&self, settings: &LimitSettings, own: &Own) -> bool {
        let members = self.read();
        members.settings.same(settings)
            && members.own.len() == own.len()
            && own.iter().all(|(key, settings)| {
                let before = members.own.get(key);
                before.is_some_and(|before| before.same(settings))
            })
    }

    /// Takes settings for members that are made from now on.
    pub(crate) fn take(&self, settings: Arc<LimitSettings>, own: Own) {
        let mut members = self.write();
        members.settings = settings;
        members.own = own;
    }

    /// Hands out each member with the settings that are for it. They are held one at a time, so that none is kept from being
    /// evicted for long.
    pub(crate) fn each(&self, mut hand: impl FnMut(Arc<Instance>, &Arc<LimitSettings>)) {
        for key in self.keys() {
            let found = {
                let members = self.read();
                let member = members.by_key.get(&key);
                member.map(|member| (member.instance.clone(), members.settings_of(&key).clone()))
            };
            if let Some((instance, settings)) = found {
                hand(instance, &settings);
            }
        }
    }

    pub(crate) fn own(&self) -> Own {
        self.read().own.clone()
    }
}

impl Members {
    fn settings_of(&self, key: &str) -> &Arc<LimitSettings> {
        self.own.get(key).unwrap_or(&self.settings)
    }
}
