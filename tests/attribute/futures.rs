//! What the limited future is: its size, its auto traits, and the fns that return one.

use std::future::Future;
use std::panic::UnwindSafe;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use resilience::adaptive_limit;

use crate::support::{Fail, block_on, counters, fill, pause, poll_once, scoped};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The same fns with and without the attribute.
macro_rules! both {
    ($(async fn $name:ident($($args:tt)*) $body:block)*) => {
        mod plain {
            use super::*;
            $(pub(super) async fn $name($($args)*) -> Result<usize, Fail> $body)*
        }
        mod limited {
            use super::*;
            $(
                #[adaptive_limit]
                pub(super) async fn $name($($args)*) -> Result<usize, Fail> $body
            )*
        }
    };
}

both! {
    async fn small(id: u32) {
        pause().await;
        Ok(id as usize)
    }
    async fn strings(first: String, second: String, third: String, fourth: String, last: String) {
        pause().await;
        Ok(first.len() + second.len() + third.len() + fourth.len() + last.len())
    }
    async fn large(bytes: [u8; 4096], _hint: &str, name: String) {
        pause().await;
        Ok(bytes.len() + name.len())
    }
    async fn one_kibibyte(mut bytes: [u8; 1024], _hint: String, name: String) {
        bytes[0] += 1;
        pause().await;
        Ok(bytes.len() + name.len())
    }
    async fn many_small(a: u8, b: &str, c: Option<u32>, d: [u64; 2], _: u32) {
        pause().await;
        Ok(usize::from(a) + b.len() + c.map_or(0, |c| c as usize) + d.len())
    }
    async fn with_mut(mut count: usize, text: &str) {
        pause().await;
        count += text.len();
        Ok(count)
    }
    async fn with_unnamed(a: String, _: [String; 8], b: String, _c: [String; 8], d: String) {
        pause().await;
        Ok(a.len() + b.len() + d.len())
    }
    async fn with_local(id: usize) {
        let bytes = [1_u8; 1024];
        pause().await;
        Ok(bytes.len() + id)
    }
}

#[test]
fn a_limited_future_is_at_most_64_bytes_larger() {
    macro_rules! check {
        ($($name:ident($($args:expr),*);)*) => {
            $({
                let (plain, limited) = (plain::$name($($args),*), limited::$name($($args),*));
                let (plain, limited) = (size_of_val(&plain), size_of_val(&limited));
                println!("{}: {plain} -> {limited}", stringify!($name));
                assert!(limited <= plain + 64, "{}: {plain} -> {limited}", stringify!($name));
            })*
        };
    }
    let s = String::new;
    check! {
        small(1);
        strings(s(), s(), s(), s(), s());
        large([0; 4096], "", s());
        one_kibibyte([0; 1024], s(), s());
        many_small(1, "", None, [0; 2], 1);
        with_mut(1, "");
        with_unnamed(s(), Default::default(), s(), Default::default(), s());
        with_local(1);
    }
}

/// As the fns above, but such as return a future.
macro_rules! both_made {
    ($(fn $name:ident($($args:tt)*) -> ($($output:tt)*) $body:block)*) => {
        mod plainly_made {
            use super::*;
            $(pub(super) fn $name($($args)*) -> $($output)* $body)*
        }
        mod made {
            use super::*;
            $(
                #[adaptive_limit]
                pub(super) fn $name($($args)*) -> $($output)* $body
            )*
        }
    };
}

both_made! {
    fn returned(id: u32, bytes: [u8; 1024]) -> (impl Future<Output = Result<usize, Fail>>) {
        async move {
            pause().await;
            Ok(bytes.len() + id as usize)
        }
    }
    fn boxed_small(id: u32) -> (BoxFuture<'static, Result<usize, Fail>>) {
        Box::pin(async move {
            pause().await;
            Ok(id as usize)
        })
    }
    fn boxed_large(name: &str, bytes: [u8; 1024]) -> (BoxFuture<'_, Result<usize, Fail>>) {
        Box::pin(async move {
            let bytes = bytes;
            pause().await;
            Ok(name.len() + bytes.len())
        })
    }
}

#[test]
fn a_limited_future_that_is_returned_is_at_most_64_bytes_larger() {
    macro_rules! check {
        ($($name:ident: $plain:expr, $limited:expr;)*) => {
            $({
                let (plain, limited) = (size_of_val(&$plain), size_of_val(&$limited));
                println!("{}: {plain} -> {limited}", stringify!($name));
                assert!(limited <= plain + 64, "{}: {plain} -> {limited}", stringify!($name));
            })*
        };
    }
    check! {
        returned: plainly_made::returned(1, [0; 1024]), made::returned(1, [0; 1024]);
        boxed_small: *plainly_made::boxed_small(1), *made::boxed_small(1);
        boxed_large: *plainly_made::boxed_large("", [0; 1024]), *made::boxed_large("", [0; 1024]);
    }
}

/// Send, and not Sync.
type OnlySend = std::cell::Cell<u32>;

#[adaptive_limit]
async fn only_send(cell: OnlySend, _unused: OnlySend, _: OnlySend) -> Result<u32, Fail> {
    pause().await;
    Ok(cell.get())
}

#[adaptive_limit(registry = resilience::registry::Registry::new(), drop_if = Result::is_err)]
async fn only_send_output(cell: OnlySend) -> Result<OnlySend, Fail> {
    pause().await;
    Ok(cell)
}

#[adaptive_limit]
async fn local(shared: Rc<u32>) -> Result<u32, Fail> {
    pause().await;
    Ok(*shared)
}

#[adaptive_limit]
async fn unwind_safe(id: u32) -> Result<&'static str, Fail> {
    Ok(if id == 0 { "" } else { "some" })
}

#[adaptive_limit]
fn unwind_safe_made(id: u32) -> impl Future<Output = Result<u32, Fail>> {
    async move { Ok(id) }
}

#[test]
fn auto_traits_are_those_of_the_plain_future() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    fn calm<T: UnwindSafe + Sync>(_: T) {}
    scoped(|_| {
        assert_eq!(
            block_on(send(only_send(
                OnlySend::new(1),
                OnlySend::new(2),
                OnlySend::new(3)
            )))
            .ok(),
            Some(1)
        );
        assert!(block_on(send(only_send_output(OnlySend::new(1)))).is_ok());
        assert_eq!(block_on(local(Rc::new(1))).ok(), Some(1));
        calm(unwind_safe(1));
        calm(unwind_safe_made(1));
    });
}

struct Client {
    name: String,
}

impl Client {
    #[adaptive_limit(name = "returned")]
    fn returned(&self, id: u32) -> impl Future<Output = Result<String, Fail>> + Send + '_ {
        let prefix = format!("{id}");
        async move {
            pause().await;
            Ok(prefix + &self.name)
        }
    }

    // What `?` converts to is known from the return type, as in the plain fn.
    #[adaptive_limit(name = "parsed")]
    fn parsed<'a>(&'a self, text: &'a str) -> impl Future<Output = Result<u32, Fail>> + 'a {
        async move {
            pause().await;
            let value: u32 = text.parse()?;
            Ok(value + self.name.len() as u32)
        }
    }

    #[adaptive_limit(name = "parsed_in_a_box")]
    fn parsed_in_a_box<'a>(&'a self, text: &'a str) -> LocalBoxFuture<'a, Result<u32, Fail>> {
        if text.is_empty() {
            return Box::pin(async { Err(Fail::Status(400))? });
        }
        Box::pin(async move { Ok(text.parse::<u32>()? + self.name.len() as u32) })
    }

    #[adaptive_limit(name = "in_a_box")]
    fn in_a_box<'a>(
        &'a self,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<String, Fail>> + Send + 'a>> {
        if id.is_empty() {
            return Box::pin(std::future::ready(Err(Fail::Text)));
        }
        Box::pin(async move {
            pause().await;
            Ok(format!("{id}{}", self.name))
        })
    }

    #[adaptive_limit(name = "in_one_box")]
    fn in_one_box(&self) -> BoxFuture<'_, Result<&str, Fail>> {
        let name = &*self.name;
        Box::pin(async move {
            pause().await;
            Ok(name)
        })
    }

    #[adaptive_limit(name = "in_a_local_box")]
    fn in_a_local_box(&mut self, shared: Rc<u32>) -> LocalBoxFuture<'_, Result<u32, Fail>> {
        std::boxed::Box::pin(async move {
            pause().await;
            self.name.push('!');
            Ok(*shared)
        })
    }
}

trait Returns {
    fn later<'a>(&'a self, text: &'a str) -> impl Future<Output = Result<usize, Fail>> + Send;
}

impl Returns for Client {
    #[adaptive_limit(name = "in_trait")]
    fn later<'a>(&'a self, text: &'a str) -> impl Future<Output = Result<usize, Fail>> + Send {
        async move {
            pause().await;
            Ok(self.name.len() + text.len())
        }
    }
}

#[adaptive_limit(name = "forever")]
fn forever<T: Send + 'static>(value: T) -> impl Future<Output = Result<T, Fail>> + Send + 'static {
    std::future::ready(Ok(value))
}

#[test]
fn a_returned_future_is_limited_and_not_its_making() {
    scoped(|registry| {
        let mut client = Client { name: "c".into() };
        assert_eq!(block_on(client.returned(1)).ok().as_deref(), Some("1c"));
        assert_eq!(block_on(client.in_a_box("1")).ok().as_deref(), Some("1c"));
        assert!(block_on(client.in_a_box("")).is_err());
        assert_eq!(block_on(client.in_one_box()).ok(), Some("c"));
        assert_eq!(block_on(client.in_a_local_box(Rc::new(1))).ok(), Some(1));
        assert_eq!(block_on(client.later("ab")).ok(), Some(4));
        assert_eq!(block_on(client.parsed("1")).ok(), Some(3));
        assert!(block_on(client.parsed("one")).is_err());
        assert_eq!(block_on(client.parsed_in_a_box("1")).ok(), Some(3));
        assert!(block_on(client.parsed_in_a_box("")).is_err());
        assert_eq!(block_on(forever(1)).ok(), Some(1));

        for name in [
            "returned",
            "in_a_box",
            "in_one_box",
            "in_a_local_box",
            "in_trait",
            "forever",
        ] {
            let before = counters(registry, name);
            let made = (
                client.returned(1),
                client.in_a_box("1"),
                client.in_one_box(),
                client.later(""),
                forever(1),
            );
            assert_eq!(counters(registry, name).admitted, before.admitted, "{name}");
            drop(made);
        }
        let permits = fill(registry, "in_one_box");
        assert!(block_on(client.in_one_box()).is_err_and(|error| error.is_rejection()));
        drop(permits);
        let permits = fill(registry, "in_a_box");
        assert!(block_on(client.in_a_box("")).is_err_and(|error| error.is_rejection()));
        drop(permits);
    });
}

#[test]
fn the_slot_is_held_from_first_poll_to_the_end() {
    scoped(|registry| {
        block_on(limited::small(1)).expect("free");
        let id = registry.snapshot().limits[0].id.to_string();
        let limit = registry.adaptive_limit(&id).expect("called");
        let mut future = pin!(limited::small(1));
        assert_eq!(limit.in_flight(), 0);
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!(limit.in_flight(), 1);
        assert!(matches!(poll_once(future.as_mut()), Poll::Ready(Ok(1))));
        assert_eq!(limit.in_flight(), 0);

        let mut cancelled = Box::pin(limited::small(1));
        assert!(poll_once(cancelled.as_mut()).is_pending());
        drop(cancelled);
        assert_eq!(
            (limit.in_flight(), counters(registry, &id).succeeded),
            (0, 2)
        );
    });
}
