//! Arguments are dropped when and in the order in which the plain fn drops them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use resilience::adaptive_limit;

use crate::support::{Fail, Noisy, block_on, pause, poll_once, scoped};

struct Pair<'a> {
    left: Noisy<'a>,
    right: Noisy<'a>,
}

fn pair<'a>(
    left: &'static str,
    right: &'static str,
    log: &'a Mutex<Vec<&'static str>>,
) -> Pair<'a> {
    Pair {
        left: Noisy(left, log),
        right: Noisy(right, log),
    }
}

/// The same fns with and without the attribute.
macro_rules! both {
    ($($(#[$meta:meta])* $async:ident fn $name:ident($($args:tt)*) $body:block)*) => {
        mod plain {
            use super::*;
            $(
                $(#[$meta])*
                #[allow(clippy::unused_async)]
                pub(super) $async fn $name($($args)*) -> Result<(), Fail> $body
            )*
        }
        mod limited {
            use super::*;
            $(
                $(#[$meta])*
                #[adaptive_limit]
                pub(super) $async fn $name($($args)*) -> Result<(), Fail> $body
            )*
        }
    };
}

type N<'a> = Noisy<'a>;

both! {
    async fn all_named(log: &Mutex<Vec<&'static str>>, a: N<'_>, b: N<'_>, c: N<'_>) {
        let _local = Noisy("local", log);
        pause().await;
        let _ = (&b, &a, &c);
        Ok(())
    }
    async fn some_named(_first: N<'_>, a: N<'_>, _guard: N<'_>, b: N<'_>, _: N<'_>, _last: N<'_>) {
        pause().await;
        let _ = (&b, &a);
        Ok(())
    }
    async fn none_named(_a: N<'_>, _b: N<'_>, _: N<'_>, _c: N<'_>) {
        pause().await;
        Ok(())
    }
    #[allow(unused_assignments)]
    async fn reassigned(a: N<'_>, mut b: N<'_>, c: N<'_>, log: &Mutex<Vec<&'static str>>) {
        b = Noisy("new", log);
        pause().await;
        let _ = (&c, &b, &a);
        Ok(())
    }
    async fn consumed(a: N<'_>, b: N<'_>, c: N<'_>) {
        if b.0 == "b" {
            drop(b);
        }
        pause().await;
        let _moved = a;
        let _ = &c;
        Ok(())
    }
    async fn consumed_at_times(a: N<'_>, b: N<'_>, c: N<'_>) {
        if b.0 == "x" {
            drop(b);
        }
        let _ = (&c, &a);
        Ok(())
    }
    async fn patterns(a: N<'_>, Pair { left, right }: Pair<'_>, (b, c): (N<'_>, N<'_>)) {
        pause().await;
        let _ = (&left, &b, &right, &c, &a);
        Ok(())
    }
    async fn early(a: N<'_>, b: N<'_>) {
        if a.0 == "a" {
            return Err(Fail::Text);
        }
        drop(b);
        Ok(())
    }
}

#[test]
fn of_async_fns() {
    macro_rules! check {
        ($($name:ident($log:ident $(, $args:expr)*);)*) => {
            $({
                let run = |limited: bool| {
                    let log = Mutex::new(Vec::new());
                    let $log = &log;
                    let _ = if limited { block_on(limited::$name($($args),*)) } else { block_on(plain::$name($($args),*)) };
                    log.into_inner().expect("no panic")
                };
                let plain = run(false);
                assert_eq!(scoped(|_| run(true)), plain, "{}", stringify!($name));
            })*
        };
    }
    check! {
        all_named(log, log, Noisy("a", log), Noisy("b", log), Noisy("c", log));
        some_named(log, Noisy("first", log), Noisy("a", log), Noisy("guard", log), Noisy("b", log), Noisy("_", log), Noisy("last", log));
        none_named(log, Noisy("a", log), Noisy("b", log), Noisy("_", log), Noisy("c", log));
        reassigned(log, Noisy("a", log), Noisy("b", log), Noisy("c", log), log);
        consumed(log, Noisy("a", log), Noisy("b", log), Noisy("c", log));
        consumed_at_times(log, Noisy("a", log), Noisy("b", log), Noisy("c", log));
        patterns(log, Noisy("a", log), pair("left", "right", log), (Noisy("b", log), Noisy("c", log)));
        early(log, Noisy("a", log), Noisy("b", log));
    }
}

#[adaptive_limit]
fn sync(a: N<'_>, b: N<'_>, _: N<'_>, _c: N<'_>) -> Result<(), Fail> {
    let _local = b;
    let _ = &a;
    Ok(())
}

#[test]
fn of_fns() {
    let log = Mutex::new(Vec::new());
    let log = &log;
    let noisy = |name| Noisy(name, log);
    scoped(|_| sync(noisy("a"), noisy("b"), noisy("_"), noisy("c"))).expect("free");
    assert_eq!(*log.lock().expect("no panic"), ["b", "c", "_", "a"]);
}

#[test]
fn of_futures_that_never_run() {
    let log = Mutex::new(Vec::new());
    let noisy = |name| Noisy(name, &log);
    drop(limited::early(noisy("a"), noisy("b")));
    let limited = std::mem::take(&mut *log.lock().expect("no panic"));
    drop(plain::early(noisy("a"), noisy("b")));
    assert_eq!(limited, *log.lock().expect("no panic"));
}

type Log = Mutex<Vec<&'static str>>;
type Boxed<'a> = Pin<Box<dyn Future<Output = Result<(), Fail>> + 'a>>;

/// The same fns that return a future, with and without the attribute.
macro_rules! making {
    ($(fn $name:ident($($args:tt)*) -> ($($output:tt)*) $body:block)*) => {
        mod plainly_made {
            use super::*;
            $(pub(super) fn $name<'a>($($args)*) -> $($output)* $body)*
        }
        mod made {
            use super::*;
            $(
                #[adaptive_limit]
                pub(super) fn $name<'a>($($args)*) -> $($output)* $body
            )*
        }
    };
}

making! {
    fn returned(log: &'a Log, a: N<'a>, b: N<'a>, _: N<'a>, _c: N<'a>) -> (impl Future<Output = Result<(), Fail>> + 'a) {
        let _making = Noisy("making", log);
        async move {
            let _local = Noisy("local", log);
            pause().await;
            let _ = (&b, &a);
            Ok(())
        }
    }
    fn in_a_box(log: &'a Log, a: N<'a>, b: N<'a>, _: N<'a>, _c: N<'a>) -> (Pin<Box<dyn Future<Output = Result<(), Fail>> + 'a>>) {
        let _making = Noisy("making", log);
        let future = async move {
            let _local = Noisy("local", log);
            pause().await;
            let _ = (&b, &a);
            Ok(())
        };
        Box::pin(future)
    }
    fn in_one_box(log: &'a Log, a: N<'a>, b: N<'a>, _: N<'a>, _c: N<'a>) -> (Pin<Box<dyn Future<Output = Result<(), Fail>> + 'a>>) {
        let _making = Noisy("making", log);
        Box::pin(async move {
            let _local = Noisy("local", log);
            pause().await;
            let _ = (&b, &a);
            Ok(())
        })
    }
}

#[test]
fn of_returned_futures() {
    macro_rules! check {
        ($($name:ident)*) => {
            $({
                let run = |limited: bool, polls: usize| {
                    let log = Log::default();
                    let noisy = |name| Noisy(name, &log);
                    let (a, b, c, d) = (noisy("a"), noisy("b"), noisy("_"), noisy("c"));
                    let mut future: Boxed<'_> = if limited {
                        Box::pin(made::$name(&log, a, b, c, d))
                    } else {
                        Box::pin(plainly_made::$name(&log, a, b, c, d))
                    };
                    for _ in 0..polls {
                        let _ = poll_once(future.as_mut());
                    }
                    log.lock().expect("no panic").push("polled");
                    drop(future);
                    log.into_inner().expect("no panic")
                };
                for polls in 0..3 {
                    let plain = run(false, polls);
                    assert_eq!(scoped(|_| run(true, polls)), plain, "{} {polls}", stringify!($name));
                }
            })*
        };
    }
    check!(returned in_a_box in_one_box);
}
