//! Shapes of fns and methods.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use resilience::adaptive_limit;

use crate::support::{Fail, block_on, counters, fill, only, pause, scoped};

#[adaptive_limit(name = "parse")]
fn parse(text: &str) -> Result<u32, Fail> {
    if text.is_empty() {
        return Ok(0);
    }
    let value: u32 = text.parse()?;
    Ok(value)
}

#[test]
fn a_fn_is_limited() {
    scoped(|registry| {
        assert_eq!(parse("7").ok(), Some(7));
        assert_eq!(parse("").ok(), Some(0));
        assert!(matches!(parse("x"), Err(Fail::Text)));
        let counted = counters(registry, "parse");
        assert_eq!(
            (counted.admitted, counted.succeeded, counted.ignored),
            (3, 2, 1)
        );

        let permits = fill(registry, "parse");
        assert_eq!(permits.len(), 20);
        assert!(parse("7").is_err_and(|error| error.is_rejection()));
        drop(permits);
        assert_eq!(parse("7").ok(), Some(7));
    });
}

#[adaptive_limit(name = "parse_later")]
async fn parse_later(text: &str) -> Result<u32, Fail> {
    if text.is_empty() {
        return Ok(0);
    }
    pause().await;
    let value: u32 = text.parse()?;
    Ok(value)
}

#[test]
fn an_async_fn_is_limited() {
    scoped(|registry| {
        assert_eq!(block_on(parse_later("7")).ok(), Some(7));
        assert_eq!(block_on(parse_later("")).ok(), Some(0));
        assert!(matches!(block_on(parse_later("x")), Err(Fail::Text)));
        let permits = fill(registry, "parse_later");
        assert!(block_on(parse_later("7")).is_err_and(|error| error.is_rejection()));
        drop(permits);
        assert_eq!(block_on(parse_later("7")).ok(), Some(7));
    });
}

#[adaptive_limit(
    name = "all",
    algorithm = "AIMD",
    initial_limit = 2,
    min_limit = MIN,
    max_limit = 3,
    window = "1.5s",
    enabled = true,
    drop_on = [Fail::Status(503 | 429), Fail::Text],
    rejected = all_rejected,
)]
fn all() -> Result<u32, Fail> {
    Ok(1)
}

const MIN: u32 = 2;

#[allow(clippy::unnecessary_wraps)]
fn all_rejected(_: resilience::Error) -> Result<u32, Fail> {
    Ok(0)
}

#[test]
fn all_options_at_once() {
    scoped(|registry| {
        assert_eq!(all().ok(), Some(1));
        let snapshot = registry.adaptive_limit("all").expect("called").snapshot();
        assert_eq!(snapshot.algorithm, "aimd");
        assert_eq!(
            (
                snapshot.initial_limit,
                snapshot.min_limit,
                snapshot.max_limit
            ),
            (2, 2, 3)
        );
        assert_eq!(fill(registry, "all").len(), 2);
        let permits = fill(registry, "all");
        assert_eq!(all().ok(), Some(0));
        drop(permits);
    });
}

#[adaptive_limit(rejected = nothing)]
fn unit() {}

#[adaptive_limit(rejected = nothing)]
async fn unit_later() {
    pause().await;
}

fn nothing(_: resilience::Error) {}

#[adaptive_limit(rejected = none)]
fn option(value: u32) -> Option<u32> {
    let half = (value.is_multiple_of(2)).then_some(value / 2)?;
    Some(half)
}

fn none<T>(_: resilience::Error) -> Option<T> {
    None
}

#[test]
fn outputs_that_are_no_result() {
    scoped(|registry| {
        unit();
        block_on(unit_later());
        assert_eq!(option(4), Some(2));
        assert_eq!(option(3), None);
        assert!(
            registry
                .snapshot()
                .limits
                .iter()
                .all(|limit| limit.counters.succeeded > 0)
        );
    });
}

struct Service {
    name: String,
    calls: u32,
}

impl Service {
    fn new() -> Self {
        Self {
            name: "svc".into(),
            calls: 0,
        }
    }

    #[adaptive_limit]
    fn by_ref(&self) -> Result<&str, Fail> {
        Ok(&self.name)
    }

    #[adaptive_limit]
    fn by_mut(&mut self, by: u32) -> Result<&mut u32, Fail> {
        self.calls += by;
        Ok(&mut self.calls)
    }

    #[adaptive_limit]
    fn by_value(self) -> Result<String, Fail> {
        Ok(self.name)
    }

    #[adaptive_limit]
    fn by_mut_value(mut self) -> Result<String, Fail> {
        self.name.push('!');
        Ok(self.name)
    }

    #[adaptive_limit]
    fn boxed(self: Box<Self>) -> Result<String, Fail> {
        Ok(self.name)
    }

    #[adaptive_limit]
    fn counted(self: Rc<Self>) -> Result<usize, Fail> {
        Ok(Rc::strong_count(&self))
    }

    #[adaptive_limit]
    fn shared(self: &Arc<Self>) -> Result<Arc<Self>, Fail> {
        Ok(Arc::clone(self))
    }

    #[adaptive_limit]
    fn pinned(self: Pin<&mut Self>) -> Result<&mut u32, Fail> {
        Ok(&mut self.get_mut().calls)
    }

    #[adaptive_limit]
    async fn by_ref_later(&self, suffix: &str) -> Result<String, Fail> {
        pause().await;
        Ok(format!("{}{suffix}", self.name))
    }

    #[adaptive_limit]
    async fn borrowed_later<'a>(&self, text: &'a str) -> Result<&'a str, Fail> {
        pause().await;
        Ok(text.strip_prefix(&self.name).unwrap_or(text))
    }

    #[adaptive_limit]
    async fn by_mut_later(&mut self, by: u32) -> Result<&mut u32, Fail> {
        pause().await;
        self.calls += by;
        Ok(&mut self.calls)
    }

    #[adaptive_limit]
    async fn by_mut_value_later(mut self) -> Result<String, Fail> {
        pause().await;
        self.name.push('!');
        Ok(self.name)
    }

    #[adaptive_limit]
    fn by_mut_box(mut self: Box<Self>) -> Result<Box<Self>, Fail> {
        self.calls += 1;
        Ok(self)
    }

    #[adaptive_limit]
    async fn counted_later(self: Rc<Self>, other: Rc<Self>) -> Result<usize, Fail> {
        pause().await;
        Ok(Rc::strong_count(&self) + Rc::strong_count(&other))
    }

    #[adaptive_limit]
    async fn shared_later(self: Arc<Self>) -> Result<Arc<Self>, Fail> {
        pause().await;
        Ok(self)
    }

    #[adaptive_limit]
    async fn pinned_later(mut self: Pin<&mut Self>) -> Result<u32, Fail> {
        pause().await;
        self.calls += 1;
        Ok(self.calls)
    }

    #[adaptive_limit]
    async fn boxed_later(self: Box<Self>, other: Box<Self>) -> Result<String, Fail> {
        pause().await;
        Ok(self.name + &other.name)
    }
}

#[test]
fn methods_with_every_receiver() {
    scoped(|registry| {
        let mut service = Service::new();
        assert_eq!(service.by_ref().ok(), Some("svc"));
        *service.by_mut(2).expect("free") += 1;
        assert_eq!(service.calls, 3);
        assert_eq!(
            block_on(service.by_ref_later("?")).ok().as_deref(),
            Some("svc?")
        );
        assert_eq!(block_on(service.borrowed_later("svc.rs")).ok(), Some(".rs"));
        *block_on(service.by_mut_later(2)).expect("free") += 1;
        assert_eq!(service.calls, 6);
        assert_eq!(Pin::new(&mut service).pinned().ok().copied(), Some(6));
        assert_eq!(service.by_value().ok().as_deref(), Some("svc"));
        assert_eq!(Service::new().by_mut_value().ok().as_deref(), Some("svc!"));
        assert_eq!(
            block_on(Service::new().by_mut_value_later())
                .ok()
                .as_deref(),
            Some("svc!")
        );
        assert_eq!(
            Box::new(Service::new()).boxed().ok().as_deref(),
            Some("svc")
        );
        let boxed = || Box::new(Service::new());
        assert_eq!(
            block_on(boxed().boxed_later(boxed())).ok().as_deref(),
            Some("svcsvc")
        );
        assert_eq!(Rc::new(Service::new()).counted().ok(), Some(1));
        assert!(Arc::new(Service::new()).shared().is_ok());
        assert_eq!(boxed().by_mut_box().ok().map(|it| it.calls), Some(1));
        let counted = || Rc::new(Service::new());
        assert_eq!(block_on(counted().counted_later(counted())).ok(), Some(2));
        assert!(block_on(Arc::new(Service::new()).shared_later()).is_ok());
        assert_eq!(
            block_on(Pin::new(&mut Service::new()).pinned_later()).ok(),
            Some(1)
        );
        assert_eq!(registry.snapshot().limits.len(), 17);
    });
}

trait Store {
    type Key;
    fn get(&self, key: &Self::Key) -> Result<&str, Fail>;

    #[adaptive_limit]
    fn get_or<'a>(&'a self, key: &Self::Key, default: &'a str) -> Result<&'a str, Fail> {
        Ok(self.get(key).unwrap_or(default))
    }

    #[allow(async_fn_in_trait)]
    #[adaptive_limit]
    async fn get_later(&self, key: Self::Key) -> Result<String, Fail> {
        pause().await;
        self.get(&key).map(str::to_owned)
    }

    #[allow(async_fn_in_trait)]
    async fn put_later(&mut self, key: Self::Key, value: &str) -> Result<(), Fail>;
}

impl Store for HashMap<u32, String> {
    type Key = u32;

    #[adaptive_limit(drop_on = [])]
    fn get(&self, key: &u32) -> Result<&str, Fail> {
        HashMap::get(self, key)
            .map(String::as_str)
            .ok_or(Fail::Status(404))
    }

    #[adaptive_limit]
    async fn put_later(&mut self, key: Self::Key, value: &str) -> Result<(), Fail> {
        pause().await;
        self.insert(key, value.to_owned());
        Ok(())
    }
}

#[test]
fn methods_of_traits() {
    scoped(|registry| {
        let mut store = HashMap::new();
        assert!(block_on(store.put_later(1, "one")).is_ok());
        assert_eq!(store.get_or(&1, "none").ok(), Some("one"));
        assert_eq!(store.get_or(&2, "none").ok(), Some("none"));
        assert_eq!(block_on(store.get_later(1)).ok().as_deref(), Some("one"));
        assert_eq!(registry.snapshot().limits.len(), 4);
    });
}

#[async_trait::async_trait]
trait Fetch {
    async fn fetch(&self, id: u32) -> Result<String, Fail>;

    #[adaptive_limit(name = "fetch_all")]
    async fn fetch_all(&self, ids: &[u32]) -> Result<Vec<String>, Fail>
    where
        Self: Sync,
    {
        let mut all = Vec::new();
        for id in ids {
            all.push(self.fetch(*id).await?);
        }
        Ok(all)
    }
}

#[async_trait::async_trait]
impl<T: Display + Send + Sync> Fetch for Vec<T> {
    #[adaptive_limit(name = "fetch")]
    async fn fetch(&self, mut id: u32) -> Result<String, Fail> {
        pause().await;
        id += 1;
        let found = self.get(id as usize - 1).ok_or(Fail::Status(404))?;
        Ok(found.to_string())
    }
}

#[test]
fn methods_under_async_trait() {
    scoped(|registry| {
        let fetch: Box<dyn Fetch + Sync> = Box::new(vec!['a', 'b']);
        assert_eq!(block_on(fetch.fetch(1)).ok().as_deref(), Some("b"));
        assert!(block_on(fetch.fetch(9)).is_err());
        assert_eq!(
            block_on(fetch.fetch_all(&[0, 1])).ok(),
            Some(vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(
            (
                counters(registry, "fetch").admitted,
                counters(registry, "fetch_all").admitted
            ),
            (4, 1)
        );
        let permits = fill(registry, "fetch");
        assert!(block_on(fetch.fetch(1)).is_err_and(|error| error.is_rejection()));
        drop(permits);
    });
}

#[adaptive_limit]
fn generic<'a, T, const N: usize>(
    items: &'a [T; N],
    pick: impl for<'b> Fn(&'b T) -> bool,
) -> Result<&'a T, Fail>
where
    T: Debug + Clone,
{
    items.iter().find(|item| pick(item)).ok_or(Fail::Text)
}

#[adaptive_limit]
async fn generic_later<T: Clone, F>(item: T, then: F) -> Result<T, Fail>
where
    F: AsyncFnOnce(&T),
{
    then(&item).await;
    Ok(item.clone())
}

#[adaptive_limit]
async fn chosen_later<const N: usize>(
    items: [u32; N],
    mut pick: impl for<'a> FnMut(&'a u32) -> bool,
    _: impl Display,
) -> Result<Vec<u32>, Fail> {
    pause().await;
    Ok(items.into_iter().filter(|item| pick(item)).collect())
}

#[test]
fn generics_share_one_limit() {
    scoped(|registry| {
        let mut seen = 0;
        let later = chosen_later(
            [1, 2],
            |item| {
                seen += item;
                *item > 1
            },
            "",
        );
        assert_eq!(block_on(later).ok(), Some(vec![2]));
        assert_eq!(block_on(chosen_later([], |_| true, 1)).ok(), Some(vec![]));
        assert_eq!((seen, only(registry).admitted), (3, 2));
    });
    scoped(|registry| {
        assert_eq!(generic(&[1, 2, 3], |item| *item > 1).ok(), Some(&2));
        assert_eq!(generic(&['a'], |item| *item > 'a').ok(), None);
        assert_eq!(only(registry).admitted, 2);
    });
    scoped(|registry| {
        assert_eq!(
            block_on(generic_later(1, async |_: &i32| pause().await)).ok(),
            Some(1)
        );
        assert_eq!(
            block_on(generic_later("a", async |_: &&str| pause().await)).ok(),
            Some("a")
        );
        assert_eq!(only(registry).admitted, 2);
    });
}

#[adaptive_limit(rejected = Vec::<u32>::rejected)]
fn opaque(items: &[u32]) -> impl Iterator<Item = u32> {
    items
        .iter()
        .map(|item| item * 2)
        .collect::<Vec<_>>()
        .into_iter()
}

trait Rejected {
    type Output;
    fn rejected(_: resilience::Error) -> Self::Output;
}

impl Rejected for Vec<u32> {
    type Output = std::vec::IntoIter<u32>;
    fn rejected(_: resilience::Error) -> Self::Output {
        Vec::new().into_iter()
    }
}

#[adaptive_limit]
fn opaque_inside(text: &str) -> Result<impl Iterator<Item = char> + '_, Fail> {
    if text.is_empty() {
        return Err(Fail::Text);
    }
    Ok(text.chars().rev())
}

#[adaptive_limit]
async fn opaque_later(text: &str) -> Result<impl Iterator<Item = char>, Fail> {
    pause().await;
    Ok(text.chars().rev())
}

#[test]
fn opaque_outputs() {
    scoped(|_| {
        assert_eq!(opaque(&[1, 2]).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(opaque_inside("ab").expect("free").collect::<String>(), "ba");
        assert!(opaque_inside("").is_err());
        assert_eq!(
            block_on(opaque_later("ab"))
                .expect("free")
                .collect::<String>(),
            "ba"
        );
    });
}

#[adaptive_limit]
fn reassigned(
    mut text: String,
    mut count: usize,
    (first, mut second): (u32, u32),
) -> Result<(String, usize, u32), Fail> {
    text.push('!');
    count += text.len();
    second += first;
    Ok((text, count, second))
}

#[adaptive_limit]
fn reassigned_without_a_drop<'a>(
    mut text: &'a str,
    mut all: &mut [u32],
    mut pick: fn(&str) -> &str,
    mut pair: (u32, &'a str),
    mut bytes: [u8; 2],
) -> Result<(&'a str, usize, u32, u8), Fail> {
    while let Some(rest) = text.strip_prefix('a') {
        text = rest;
    }
    if let [_, rest @ ..] = all {
        all = rest;
    }
    for item in &mut *all {
        *item += 1;
    }
    if pair.1.is_empty() {
        pick = str::trim;
        pair.1 = text;
    }
    bytes[0] += 1;
    pair.0 += all.iter().sum::<u32>();
    Ok((pick(pair.1), all.len(), pair.0, bytes[0]))
}

#[adaptive_limit]
async fn reassigned_later(
    mut text: &str,
    mut count: usize,
    (first, mut second): (u32, u32),
) -> Result<usize, Fail> {
    let local = format!("{text}!");
    text = &local;
    pause().await;
    count += text.len();
    second += first;
    Ok(count + second as usize)
}

#[adaptive_limit]
async fn holding(lock: &Mutex<u32>, owned: Mutex<u32>) -> Result<u32, Fail> {
    pause().await;
    // The guard of the last expression ends before `owned` does.
    Ok(*lock.lock().expect("no panic") + *owned.lock().expect("no panic"))
}

#[test]
fn arguments_are_the_bodys_own() {
    scoped(|_| {
        assert_eq!(
            reassigned("a".into(), 1, (2, 3)).ok(),
            Some(("a!".into(), 3, 5))
        );
        let mut all = [1, 2, 3];
        let reassigned = reassigned_without_a_drop("aab ", &mut all, |_| "", (1, ""), [1; 2]);
        assert_eq!(reassigned.ok(), Some(("b", 2, 8, 2)));
        assert_eq!(all, [1, 3, 4]);
        assert_eq!(block_on(reassigned_later("a", 1, (2, 3))).ok(), Some(8));
        assert_eq!(
            block_on(holding(&Mutex::new(1), Mutex::new(2))).ok(),
            Some(3)
        );
    });
}

#[allow(unsafe_code)]
#[adaptive_limit(rejected = zero)]
unsafe extern "C" fn foreign(value: *const u32) -> u32 {
    // SAFETY: the caller says so.
    unsafe { *value }
}

fn zero(_: resilience::Error) -> u32 {
    0
}

#[adaptive_limit]
fn recursive(depth: u32) -> Result<u32, Fail> {
    if depth == 0 {
        return Ok(0);
    }
    Ok(recursive(depth - 1)? + 1)
}

#[test]
fn other_kinds_of_fns() {
    scoped(|registry| {
        // SAFETY: the pointer is a reference.
        #[allow(unsafe_code)]
        let value = unsafe { foreign(&7) };
        assert_eq!(value, 7);
        assert_eq!(recursive(19).ok(), Some(19));
        assert!(recursive(20).is_err_and(|error| error.is_rejection()));
        assert_eq!(registry.snapshot().limits.len(), 2);
    });
}

#[test]
fn a_registry_of_its_own() {
    struct Client {
        registry: resilience::registry::Registry,
    }
    impl Client {
        #[adaptive_limit(name = "own", registry = self.registry)]
        fn call(&self) -> Result<(), Fail> {
            Ok(())
        }

        #[adaptive_limit(name = "own_later", registry = self.registry.clone())]
        async fn call_later(&self) -> Result<(), Fail> {
            pause().await;
            Ok(())
        }
    }
    let client = Client {
        registry: resilience::registry::Registry::new(),
    };
    assert!(client.call().is_ok());
    assert!(block_on(client.call_later()).is_ok());
    assert_eq!(client.registry.snapshot().limits.len(), 2);
}
