//! Code of the program's own around a reload: sources, algorithms and listeners that panic, block and call back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use resilience::Error;
use resilience::event::Reason;
use resilience::limit::LimitConfig;
use resilience::limit::algorithm::{Algorithm, Bounds, Decision};
use resilience::limit::window::{Window, WindowRule};
use resilience::registry::Registry;

use crate::support::{Directory, manual, says};

#[test]
fn values_in_no_order_say_the_same() -> Result<(), Error> {
    let (builder, _) = manual();
    let registry = builder
        .values("server", || {
            let all: HashMap<String, String> = (0..50)
                .map(|n| {
                    (
                        format!("instances.i{n}.adaptiveLimit.maxLimit"),
                        "5".to_owned(),
                    )
                })
                .collect();
            Ok::<_, Error>(all)
        })
        .build()?;
    for _ in 0..5 {
        assert!(!registry.reload_if_changed()?);
    }
    Ok(())
}

#[test]
fn a_source_that_panics_is_refused_and_told() -> Result<(), Error> {
    static PANICS: AtomicBool = AtomicBool::new(false);
    let (builder, _) = manual();
    let registry = builder
        .values("server", || {
            assert!(!PANICS.load(Ordering::Relaxed), "no server");
            Ok::<_, Error>([("instances.orders.adaptiveLimit.maxLimit", "5")])
        })
        .build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    PANICS.store(true, Ordering::Relaxed);
    let error = registry.reload().unwrap_err();
    says(&error.to_string(), &["server", "panicked"]);
    assert!(registry.snapshot().stale.is_some());
    assert_eq!(orders.snapshot().max_limit, 5);
    PANICS.store(false, Ordering::Relaxed);
    registry.reload()?;
    assert_eq!(registry.snapshot().stale, None);
    Ok(())
}

#[test]
fn variables_that_panic_are_refused_and_told() -> Result<(), Error> {
    static PANICS: AtomicBool = AtomicBool::new(false);
    let (builder, _) = manual();
    let registry = builder
        .variables(|| {
            assert!(!PANICS.load(Ordering::Relaxed), "no variables");
            [("RESILIENCE__DEFAULTS__ADAPTIVE_LIMIT__MAX_LIMIT", "5")]
        })
        .build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    PANICS.store(true, Ordering::Relaxed);
    says(&registry.reload().unwrap_err().to_string(), &["variables"]);
    assert_eq!(orders.snapshot().max_limit, 5);
    Ok(())
}

/// Runs on another thread, and fails if that does not come to an end: only then is all of the time waited for.
#[track_caller]
fn ends<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || drop(done.send(run())));
    is_done
        .recv_timeout(Duration::from_secs(20))
        .expect("it ends")
}

#[test]
fn a_first_call_does_not_wait_for_a_source() -> Result<(), Error> {
    let (builder, _) = manual();
    let (entered_tx, entered) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let first = AtomicBool::new(true);
    let registry = builder
        .values("server", move || {
            if !first.swap(false, Ordering::Relaxed) {
                entered_tx.send(()).unwrap();
                wait.lock().unwrap().recv().unwrap();
            }
            Ok::<_, Error>([("instances.other.adaptiveLimit.maxLimit", "5")])
        })
        .variables(|| {
            [(
                "RESILIENCE__INSTANCES__ORDERS__ADAPTIVE_LIMIT__MAX_LIMIT",
                "7",
            )]
        })
        .build()?;
    let reloading = registry.clone();
    let reload = std::thread::spawn(move || reloading.reload());
    entered.recv().unwrap();
    let calling = registry.clone();
    let max = ends(move || {
        calling
            .register("orders", LimitConfig::new())
            .unwrap()
            .snapshot()
            .max_limit
    });
    assert_eq!(max, 7);
    let checking = registry.clone();
    ends(move || checking.check().is_ok());
    go.send(()).unwrap();
    reload.join().unwrap()?;
    assert_eq!(registry.adaptive_limit("orders")?.snapshot().max_limit, 7);
    Ok(())
}

#[test]
fn a_source_may_itself_be_limited() -> Result<(), Error> {
    static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);
    let (builder, _) = manual();
    let registry = builder
        .values("server", || {
            let registry = REGISTRY.lock().unwrap().clone();
            if let Some(registry) = registry {
                registry.register("server", LimitConfig::new()).unwrap();
                registry.snapshot();
                drop(registry.explain("server").unwrap());
            }
            Ok::<_, Error>([("instances.other.adaptiveLimit.maxLimit", "5")])
        })
        .variables(|| {
            [(
                "RESILIENCE__INSTANCES__SERVER__ADAPTIVE_LIMIT__MAX_LIMIT",
                "7",
            )]
        })
        .build()?;
    *REGISTRY.lock().unwrap() = Some(registry.clone());
    ends(move || registry.reload())
}

#[derive(Debug)]
struct Odd {
    panics_in: &'static str,
    now: Arc<AtomicBool>,
}
impl Odd {
    fn at(&self, place: &str) {
        assert!(
            !(self.panics_in == place && self.now.load(Ordering::Relaxed)),
            "odd"
        );
    }
}
impl Algorithm for Odd {
    fn window_rule(&self) -> WindowRule {
        self.at("window_rule");
        WindowRule::default()
    }
    fn update(&mut self, _: &Window) -> Decision {
        self.at("update");
        Decision::new(10.0, Reason::custom("odd"))
    }
    fn set_bounds(&mut self, _: Bounds) -> bool {
        self.at("set_bounds");
        false
    }
    fn baseline(&self) -> Option<f64> {
        self.at("baseline");
        None
    }
}
impl Drop for Odd {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.at("drop");
        }
    }
}

#[test]
fn an_algorithm_that_panics_keeps_no_other_limit_from_its_settings() {
    for place in ["window_rule", "set_bounds", "baseline", "drop", "factory"] {
        let directory = Directory::new();
        let write = |max: u32| {
            directory.write(
                "app.properties",
                &format!("defaults.adaptiveLimit.maxLimit={max}\n"),
            )
        };
        let file = write(100);
        let now = Arc::new(AtomicBool::new(false));
        let flag = now.clone();
        let (builder, _) = manual();
        let registry = builder
            .file(&file)
            .algorithm("odd", move |_| {
                let odd = Odd {
                    panics_in: place,
                    now: flag.clone(),
                };
                odd.at("factory");
                odd
            })
            .build()
            .unwrap();
        let ids: &'static [String] = Vec::leak((0..20).map(|n| format!("limit{n}")).collect());
        for (n, id) in ids.iter().enumerate() {
            let config = if n % 2 == 0 {
                LimitConfig::new().algorithm("odd")
            } else {
                LimitConfig::new()
            };
            registry.register(id.as_str(), config).unwrap();
        }
        now.store(true, Ordering::Relaxed);
        write(7);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| registry.reload()));
        now.store(false, Ordering::Relaxed);
        for id in ids {
            let seen = registry.adaptive_limit(id).unwrap().snapshot();
            assert_eq!((seen.max_limit, seen.limit), (7, 7), "{place} {id}");
        }
        assert!(result.is_ok(), "{place}");
    }
}

#[test]
fn an_algorithm_that_cannot_be_made_does_not_take_over() -> Result<(), Error> {
    let directory = Directory::new();
    let write = |name: &str| {
        let content = format!("instances.orders.adaptiveLimit.algorithm={name}\n");
        directory.write("app.properties", &content)
    };
    let file = write("aimd");
    let (builder, _) = manual();
    let registry = builder
        .file(&file)
        .algorithm("odd", |_| -> Odd { panic!("it cannot be made") })
        .build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    write("odd");
    registry.reload()?;
    let seen = orders.snapshot();
    assert_eq!(
        (seen.algorithm.as_ref(), seen.reason),
        ("aimd", Reason::Failed)
    );
    Ok(())
}

#[test]
fn listeners_may_call_back() -> Result<(), Error> {
    let directory = Directory::new();
    let write = |max: u32| {
        directory.write(
            "app.properties",
            &format!("defaults.adaptiveLimit.maxLimit={max}\n"),
        )
    };
    let file = write(10);
    let (builder, _) = manual();
    let registry = builder
        .file(&file)
        .variables(|| {
            [(
                "RESILIENCE__INSTANCES__LATE__ADAPTIVE_LIMIT__MAX_LIMIT",
                "7",
            )]
        })
        .build()?;
    let orders = registry.register("orders", LimitConfig::new())?;
    let watch = Arc::new(Mutex::new(None));
    let (told, events) = mpsc::channel();
    let back = registry.clone();
    let held = watch.clone();
    let kept = Mutex::new(Vec::new());
    let _s = registry.subscribe(move |event| {
        drop(back.reload());
        drop(back.check());
        drop(back.register("late", LimitConfig::new()));
        back.adaptive_limit("orders").unwrap().reset();
        kept.lock().unwrap().push(back.subscribe(|_| {}));
        drop(held.lock().unwrap().take());
        drop(told.send(event.clone()));
    });
    *watch.lock().unwrap() = Some(registry.watch(Duration::from_millis(1)));
    write(5);
    events.recv_timeout(Duration::from_secs(20)).expect("told");
    assert_eq!(orders.limit(), 5);
    Ok(())
}
