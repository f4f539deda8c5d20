//! What listeners hear, and that nothing they do is felt by anyone else.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};

use resilience::event::{Event, Reason, Subscription, Topics};
use resilience::limit::{AdaptiveLimit, LimitConfig};
use resilience::registry::Registry;
use resilience::{Outcome, adaptive_limit};

use crate::support::{Heard, calls, manual, moving, rejected, seconds, with_setting};

#[test]
fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let (registry, clock) = manual();
    let every = Heard::default();
    let _every = registry.subscribe_to(Topics::ALL, every.listener());
    let heard: Vec<(Topics, Heard)> = [
        Topics::default(),
        Topics::LIMIT,
        Topics::WINDOWS,
        Topics::REJECTIONS,
        Topics::LIMITS,
        Topics::NONE,
    ]
    .map(|topics| (topics, Heard::default()))
    .into();
    let _subscriptions: Vec<_> = heard
        .iter()
        .map(|(topics, heard)| registry.subscribe_to(*topics, heard.listener()))
        .collect();

    let orders = moving(&registry, "orders");
    rejected(&orders);
    calls(&orders, &clock, 2, Outcome::Success);

    let made = "`orders` begins with limit 2";
    let refused = "call of `orders` rejected, limit exceeded: 2 in flight, limit 2";
    let closed =
        "window of `orders` closed with 2 calls, 0 of them drops; limit 3: no overload, 1 more";
    let moved = "limit of `orders` from 2 to 3: no overload, 1 more";
    // The first call of the two ended the window.
    let closed = closed.replace("2 calls", "1 calls");
    assert_eq!(every.texts(), [made, refused, &closed, moved]);
    let told: Vec<_> = heard.iter().map(|(_, heard)| heard.texts()).collect();
    let expected: [&[&str]; 6] = [&[moved], &[moved], &[&closed], &[refused], &[made], &[]];
    assert_eq!(told, expected);
}

#[test]
fn a_window_that_leaves_the_limit_as_it_is_is_told_too() {
    let (registry, clock) = manual();
    let orders = moving(&registry, "orders");
    let (closed, changed) = (Arc::new(Mutex::new(Vec::new())), Heard::default());
    let noted = closed.clone();
    let _windows = orders.subscribe_to(Topics::WINDOWS, move |event| {
        noted.lock().unwrap().push(event.clone());
    });
    let _changes = orders.subscribe(changed.listener());
    calls(&orders, &clock, 1, Outcome::Success);
    // One of three slots in use: too few to raise the limit.
    clock.advance(seconds(1));
    calls(&orders, &clock, 1, Outcome::Success);
    let closed = closed.lock().unwrap();
    let [
        Event::WindowClosed { decision: 1, .. },
        Event::WindowClosed {
            id,
            decision: 2,
            duration: 2_000_000_000,
            samples: 1,
            drops: 0,
            latency: Some(1e9),
            max_in_flight: 1,
            limit: 3,
            reason: Reason::AppLimited { max_in_flight: 1 },
            ..
        },
    ] = &closed[..]
    else {
        panic!("{closed:?}");
    };
    assert_eq!(id.as_str(), "orders");
    assert_eq!(changed.texts().len(), 1);
}

#[test]
fn admitted_calls_tell_nothing() {
    let (registry, _clock) = manual();
    let orders = registry.register("orders", LimitConfig::new()).unwrap();
    let heard = Heard::default();
    let _subscriptions = [
        registry.subscribe_to(Topics::ALL, heard.listener()),
        orders.subscribe_to(Topics::ALL, heard.listener()),
    ];
    for outcome in [Outcome::Success, Outcome::Drop, Outcome::Ignored] {
        orders.try_acquire().unwrap().complete(outcome);
    }
    drop(orders.try_acquire());
    assert!(heard.texts().is_empty());
}

#[test]
fn limits_that_are_made_later_are_heard_by_listeners_of_the_registry() {
    #[adaptive_limit(name = "late-attribute", max_limit = 1)]
    fn late() -> Result<(), resilience::Error> {
        Ok(())
    }
    let (registry, clock) = manual();
    let early = moving(&registry, "early");
    let (heard, of_early) = (Heard::default(), Heard::default());
    let _all = registry.subscribe_to(Topics::ALL - Topics::WINDOWS, heard.listener());
    let _early = early.subscribe_to(Topics::ALL, of_early.listener());
    let late_one = moving(&registry, "late");
    // The same again is the same limit.
    let _ = moving(&registry, "late");
    rejected(&late_one);
    calls(&late_one, &clock, 1, Outcome::Drop);
    registry.scope(|| {
        late().unwrap();
        late().unwrap();
    });
    assert_eq!(
        heard.texts(),
        [
            "`late` begins with limit 2",
            "call of `late` rejected, limit exceeded: 2 in flight, limit 2",
            "limit of `late` from 2 to 1: 1 of 1 calls were drops",
            "`late-attribute` begins with limit 1",
        ]
    );
    assert!(of_early.texts().is_empty());
}

#[test]
fn limits_by_key_are_heard_each_time_that_they_are_made() {
    let (registry, _clock) = manual();
    moving(&registry, "tenant");
    let tenants = registry.keyed("tenant", 1).unwrap();
    let heard = Heard::default();
    let _subscription = registry.subscribe_to(Topics::LIMITS, heard.listener());
    for key in ["acme", "acme", "other", "acme"] {
        tenants.get(key).unwrap();
    }
    let made = ["acme", "other", "acme"].map(|key| format!("`tenant/{key}` begins with limit 2"));
    assert_eq!(heard.texts(), made);
    // One that shares the family's own is none.
    let _held = tenants.get("acme").unwrap();
    tenants.get("beyond").unwrap();
    assert!(heard.texts().is_empty());
}

/// A limit of one call that has one more wait for a second.
fn waits(registry: &Registry) -> AdaptiveLimit {
    let config = LimitConfig::new()
        .initial_limit(1)
        .max_limit(1)
        .max_wait(seconds(1))
        .queue_limit(1);
    registry.register("orders", config).unwrap()
}

#[test]
fn rejections_of_those_who_wait_say_why() {
    let (registry, clock) = manual();
    let orders = waits(&registry);
    let heard = Heard::default();
    let _subscription = registry.subscribe_to(Topics::REJECTIONS, heard.listener());
    let _held = orders.try_acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());

    let mut waiting = Box::pin(orders.acquire_async());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(orders.acquire().unwrap_err().is_queue_full());
    clock.advance(seconds(1));
    assert!(waiting.as_mut().poll(&mut context).is_ready());
    let mut dropped = Box::pin(orders.acquire_async());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    clock.advance(seconds(1));
    drop(dropped);
    // Its wait was not over.
    let mut cancelled = Box::pin(orders.acquire_async());
    assert!(cancelled.as_mut().poll(&mut context).is_pending());
    drop(cancelled);
    orders.try_acquire().unwrap_err();

    let told = [
        "queue full",
        "wait timed out",
        "wait timed out",
        "limit exceeded",
    ]
    .map(|reason| format!("call of `orders` rejected, {reason}: 1 in flight, limit 1"));
    assert_eq!(heard.texts(), told);
}

#[test]
fn a_listener_may_end_waits_and_take_their_slots_while_it_is_told_of_one() {
    let (registry, clock) = manual();
    let orders = waits(&registry);
    let held = Mutex::new(Some(orders.try_acquire_owned().unwrap()));
    let (within, moved) = (orders.clone(), clock.clone());
    let _subscription = registry.subscribe_to(Topics::REJECTIONS, move |_| {
        // One more waits, its time is up while it is told, and then the slot comes free.
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = Box::pin(within.acquire_async());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        moved.advance(seconds(1));
        drop(held.lock().unwrap().take());
        let Poll::Ready(Err(error)) = waiting.as_mut().poll(&mut context) else {
            panic!("the wait was over before the slot came free");
        };
        assert!(error.is_wait_timed_out());
        drop(within.acquire().unwrap());
    });
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = Box::pin(orders.acquire_async());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    clock.advance(seconds(1));
    assert!(waiting.as_mut().poll(&mut context).is_ready());
    let snapshot = orders.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.queued), (0, 0));
    // The listener came to its end: a panic of it would not be seen.
    assert_eq!(snapshot.counters.admitted, 2);
    assert_eq!(snapshot.counters.wait_timed_out, 2);
}

#[test]
fn reloads_and_what_they_do_to_limits_are_told() {
    let (registry, _clock, text) = with_setting("instances.orders.adaptiveLimit.maxLimit", "3");
    let _orders = registry
        .register("orders", LimitConfig::new().min_limit(1))
        .unwrap();
    let heard = Heard::default();
    let _subscription = registry.subscribe(heard.listener());
    *text.lock().unwrap() = "2";
    registry.reload().unwrap();
    *text.lock().unwrap() = "none";
    registry.reload().unwrap_err();
    let told = heard.texts();
    assert_eq!(
        told[..2],
        [
            "limit of `orders` from 3 to 2: the bounds were changed",
            "settings reloaded: limits that run with others 1"
        ]
    );
    assert!(told[2].starts_with("settings not reloaded: "), "{told:?}");
    assert_eq!(told.len(), 3);
}

/// Ways to hear: as a listener of the instance and as one of its registry.
type Subscribe =
    fn(&Registry, &AdaptiveLimit, Topics, Box<dyn Fn(&Event) + Send + Sync>) -> Subscription;

const WAYS: [Subscribe; 2] = [
    |_, limit, topics, listener| limit.subscribe_to(topics, listener),
    |registry, _, topics, listener| registry.subscribe_to(topics, listener),
];

/// Makes one rejected call and closes one window that raises the limit.
fn something_of_everything(limit: &AdaptiveLimit, clock: &resilience::time::ManualClock) {
    let all = limit.limit();
    rejected(limit);
    calls(limit, clock, all, Outcome::Success);
}

#[test]
fn a_listener_that_panics_at_any_event_keeps_no_one_from_the_news() {
    for subscribe in WAYS {
        let (registry, clock) = manual();
        let orders = moving(&registry, "orders");
        let heard = Heard::default();
        let panics = |_: &Event| panic!("a listener's own panic");
        let _panicking = subscribe(&registry, &orders, Topics::ALL, Box::new(panics));
        let _hearing = subscribe(&registry, &orders, Topics::ALL, Box::new(heard.listener()));
        something_of_everything(&orders, &clock);
        assert_eq!(heard.texts().len(), 3);
        let snapshot = orders.snapshot();
        assert_eq!((orders.limit(), orders.in_flight()), (3, 0));
        assert_eq!((snapshot.counters.rejected, snapshot.windows), (1, 1));
    }
}

#[test]
fn a_listener_that_blocks_on_a_rejection_holds_up_that_call_only() {
    for subscribe in WAYS {
        let (registry, clock) = manual();
        let orders = moving(&registry, "orders");
        let (entered, has_entered) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(Some(released));
        let blocks = move |_: &Event| {
            let first = released.lock().unwrap().take();
            if let Some(released) = first {
                entered.send(()).unwrap();
                let _ = released.recv();
            }
        };
        let _subscription = subscribe(&registry, &orders, Topics::REJECTIONS, Box::new(blocks));
        std::thread::scope(|scope| {
            let slow = orders.clone();
            scope.spawn(move || rejected(&slow));
            has_entered.recv().unwrap();
            // The blocked thread holds all the slots and no lock.
            assert!(orders.try_acquire().is_err());
            let _hearing = registry.subscribe(|_| {});
            let other = moving(&registry, "other");
            calls(&other, &clock, 2, Outcome::Success);
            assert_eq!(other.limit(), 3);
            drop(release);
        });
        assert_eq!(orders.in_flight(), 0);
        assert_eq!(orders.snapshot().counters.rejected, 2);
    }
}

#[test]
fn rejections_that_a_listener_causes_are_counted_and_not_told() {
    for subscribe in WAYS {
        let (registry, _clock) = manual();
        let orders = moving(&registry, "orders");
        let handle = orders.clone();
        let heard = Arc::new(AtomicU32::new(0));
        let counted = heard.clone();
        let calls_again = move |_: &Event| {
            counted.fetch_add(1, Ordering::Relaxed);
            assert!(handle.try_acquire().is_err());
        };
        let topics = Topics::REJECTIONS;
        let _subscription = subscribe(&registry, &orders, topics, Box::new(calls_again));
        let slots = [(); 2].map(|()| orders.try_acquire().unwrap());
        for _ in 0..3 {
            assert!(orders.try_acquire().is_err());
        }
        drop(slots);
        assert_eq!(heard.load(Ordering::Relaxed), 3);
        assert_eq!(orders.snapshot().counters.rejected, 6);
        // The listener ended well, and so the next rejection is told as before.
        rejected(&orders);
        assert_eq!(heard.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn a_listener_that_goes_on_causing_events_comes_to_an_end() {
    for subscribe in WAYS {
        let (registry, clock) = manual();
        let orders = moving(&registry, "orders");
        let (handle, moved) = (orders.clone(), clock.clone());
        let heard = Arc::new(AtomicU32::new(0));
        let counted = heard.clone();
        // Each time that a window closes it ends another one.
        let closes_again = move |_: &Event| {
            counted.fetch_add(1, Ordering::Relaxed);
            calls(&handle, &moved, 1, Outcome::Success);
        };
        let topics = Topics::WINDOWS;
        let _subscription = subscribe(&registry, &orders, topics, Box::new(closes_again));
        calls(&orders, &clock, 1, Outcome::Success);
        assert_eq!(heard.load(Ordering::Relaxed), 8);
        assert_eq!((orders.snapshot().windows, orders.in_flight()), (9, 0));
        calls(&orders, &clock, 1, Outcome::Success);
        assert_eq!(heard.load(Ordering::Relaxed), 16);
    }
}

#[test]
fn a_listener_may_subscribe_and_unsubscribe_itself_and_ask_the_registry() {
    for subscribe in WAYS {
        let (registry, clock) = manual();
        let orders = moving(&registry, "orders");
        let own: Arc<Mutex<Option<Subscription>>> = Arc::default();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let after = Heard::default();
        let (ends, keeps, asked, handle) =
            (own.clone(), kept.clone(), registry.clone(), orders.clone());
        let listener = after.clone();
        let reenters = move |event: &Event| {
            drop(ends.lock().unwrap().take());
            let more = handle.subscribe_to(Topics::ALL, listener.listener());
            keeps.lock().unwrap().push(more);
            moving(&asked, "made by a listener");
            assert_eq!(asked.snapshot().limits.len(), 2);
            assert!(matches!(event, Event::Rejected { .. }));
            handle.reset();
            asked.reload().unwrap();
        };
        *own.lock().unwrap() = Some(subscribe(
            &registry,
            &orders,
            Topics::ALL,
            Box::new(reenters),
        ));
        something_of_everything(&orders, &clock);
        // Its own subscription ended with the first event; that of the other listener began after it.
        assert_eq!(kept.lock().unwrap().len(), 1);
        assert_eq!(after.texts().len(), 2);
        assert_eq!((orders.limit(), orders.in_flight()), (3, 0));
    }
}

#[test]
fn rejections_are_told_as_long_as_somebody_listens_for_them() {
    let (registry, _clock) = manual();
    let (orders, other) = (moving(&registry, "orders"), moving(&registry, "other"));
    let (of_orders, of_all) = (Heard::default(), Heard::default());
    let first = orders.subscribe_to(Topics::REJECTIONS, of_orders.listener());
    rejected(&other);
    rejected(&orders);
    let second = registry.subscribe_to(Topics::REJECTIONS, of_all.listener());
    rejected(&orders);
    drop(first);
    rejected(&other);
    drop(second);
    rejected(&orders);
    let of = |id| format!("call of `{id}` rejected, limit exceeded: 2 in flight, limit 2");
    assert_eq!(of_orders.texts(), [of("orders"), of("orders")]);
    assert_eq!(of_all.texts(), [of("orders"), of("other")]);
}

#[test]
fn async_calls_tell_their_rejections_like_others() {
    #[adaptive_limit(name = "async", max_limit = 1)]
    async fn call() -> Result<(), resilience::Error> {
        std::future::pending().await
    }
    let (registry, _clock) = manual();
    let heard = Heard::default();
    let _subscription = registry.subscribe_to(Topics::REJECTIONS, heard.listener());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    registry.scope(|| {
        let (mut first, mut second) = (Box::pin(call()), Box::pin(call()));
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_ready());
    });
    assert_eq!(
        heard.texts(),
        ["call of `async` rejected, limit exceeded: 1 in flight, limit 1"]
    );
}

#[test]
fn events_have_stable_names_for_machines() {
    let (registry, clock) = manual();
    let json = Arc::new(Mutex::new(Vec::new()));
    let noted = json.clone();
    let _subscription = registry.subscribe_to(Topics::ALL, move |event| {
        let text = serde_json::to_string(event).unwrap();
        noted.lock().unwrap().push(text);
    });
    let orders = moving(&registry, "orders");
    something_of_everything(&orders, &clock);
    assert_eq!(
        *json.lock().unwrap(),
        [
            r#"{"event":"limit_made","id":"orders","limit":2}"#,
            r#"{"event":"rejected","id":"orders","limit":2,"in_flight":2,"reason":"limit_exceeded"}"#,
            concat!(
                r#"{"event":"window_closed","id":"orders","decision":1,"duration":1000000000,"samples":1,"drops":0,"#,
                r#""latency":1000000000.0,"max_in_flight":1,"limit":3,"reason":{"kind":"increase","by":1.0}}"#
            ),
            r#"{"event":"limit_changed","id":"orders","from":2,"to":3,"reason":{"kind":"increase","by":1.0},"decision":1}"#,
        ]
    );
}

#[test]
fn the_name_of_a_reason_is_that_of_its_serialization() {
    let reasons = [
        Reason::Initial,
        Reason::Increase { by: 1.0 },
        Reason::TooSlow {
            latency: 1.0,
            threshold: 1.0,
        },
        Reason::AppLimited { max_in_flight: 1 },
        Reason::SlowerDependency {
            elasticity: 1.0,
            base: 1.0,
        },
        Reason::BackgroundDrops { share: 1.0 },
        Reason::NoBaseline { latency: 1.0 },
        Reason::NoLatency,
        Reason::Bounds,
        Reason::Failed,
    ];
    for reason in reasons {
        let json = serde_json::to_value(&reason).unwrap();
        assert_eq!(json["kind"], reason.name());
    }
    // Its words are data of the program's own and not the name.
    assert_eq!(Reason::custom("anything at all").name(), "custom");
}

#[test]
fn a_set_of_topics_shows_what_is_in_it() {
    assert_eq!(
        format!("{:?}", Topics::LIMIT | Topics::WINDOWS),
        "Topics{LIMIT, WINDOWS}"
    );
}
