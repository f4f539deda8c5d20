//! Models of a whole instance: who closes a window, and that nothing is lost or counted twice meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loom::thread;

use super::LimitConfig;
use super::algorithm::{Algorithm, Bounds, Decision};
use super::instance::Instance;
use super::settings::LimitSettings;
use super::window::Window;
use crate::event::Reason;
use crate::event::listeners::RegistryListeners;
use crate::outcome::Outcome;
use crate::time::{ManualClock, SharedClock};

/// Notes the windows it is asked about and moves the limit by one each time.
#[derive(Debug)]
struct Recorder {
    windows: Arc<Mutex<Vec<Window>>>,
    limit: f64,
}

impl Algorithm for Recorder {
    fn update(&mut self, window: &Window) -> Decision {
        self.windows.lock().unwrap().push(window.clone());
        self.limit += 1.0;
        Decision::new(self.limit, Reason::custom("one more"))
    }
}

fn instance(clock: &ManualClock, windows: &Arc<Mutex<Vec<Window>>>, min_samples: u32) -> Instance {
    let config = LimitConfig::new().min_window_samples(min_samples);
    Instance::new(
        "model".into(),
        settings(windows, config).into(),
        SharedClock::Other(Arc::new(clock.clone())),
        &RegistryListeners::default(),
    )
}

fn settings(windows: &Arc<Mutex<Vec<Window>>>, config: LimitConfig) -> LimitSettings {
    let config = config.initial_limit(2);
    let windows = windows.clone();
    let factory = Arc::new(move |bounds: Bounds| -> Box<dyn Algorithm> {
        Box::new(Recorder {
            windows: windows.clone(),
            limit: f64::from(bounds.initial()),
        })
    });
    let Ok(bounds) = config.bounds() else {
        unreachable!("the bounds are in order")
    };
    config.settle(bounds, Some(("recorder".into(), factory)), None)
}

fn model(preemptions: usize, run: impl Fn() + Send + Sync + 'static) {
    // More preemptions than this take hours and have found nothing that these did not.
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

#[test]
fn one_thread_closes_a_window_and_no_sample_is_lost_or_counted_twice() {
    model(2, || {
        let (clock, windows) = (ManualClock::new(), Arc::default());
        let instance = loom::sync::Arc::new(instance(&clock, &windows, 1));
        let calls: Vec<_> = (0..2).map(|_| instance.admit().unwrap()).collect();
        clock.advance(Duration::from_secs(1));
        let threads: Vec<_> = calls
            .into_iter()
            .map(|call| {
                let instance = instance.clone();
                thread::spawn(move || instance.end(call, Some(Outcome::Success)))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }

        // Both calls ended at the same instant, so one window closed: with one of them or both in it. Unless the one
        // thread found the other in the middle of adding its call and gave up just as that one looked at the lock;
        // the next call to end closes it then.
        let closed = windows.lock().unwrap().len();
        assert!(closed <= 1, "closed {closed} times");
        assert_eq!(
            (instance.in_flight(), instance.limit()),
            (0, 2 + closed as u32)
        );

        clock.advance(Duration::from_secs(1));
        let last = instance.admit().unwrap();
        instance.end(last, Some(Outcome::Success));
        let windows = windows.lock().unwrap();
        assert_eq!(windows.len(), closed + 1);
        assert_eq!(windows.iter().map(Window::samples).sum::<u64>(), 3);
        assert_eq!(
            windows.iter().map(|window| window.latency_sum).sum::<u64>(),
            2_000_000_000
        );
        assert!(windows.iter().all(|window| window.max_in_flight >= 1));
    });
}

#[test]
fn a_cancelled_call_races_a_completed_one_and_both_give_their_slots_back() {
    model(2, || {
        let (clock, windows) = (ManualClock::new(), Arc::default());
        let instance = loom::sync::Arc::new(instance(&clock, &windows, 1));
        let (kept, cancelled) = (instance.admit().unwrap(), instance.admit().unwrap());
        clock.advance(Duration::from_secs(1));
        let threads = [(cancelled, None), (kept, Some(Outcome::Success))].map(|(call, outcome)| {
            let instance = instance.clone();
            thread::spawn(move || instance.end(call, outcome))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(instance.in_flight(), 0);
        assert_eq!(instance.snapshot().counters.succeeded, 1);
    });
}

#[test]
fn a_limit_switched_off_and_on_beside_a_call_loses_no_slot_and_invents_none() {
    model(2, || {
        let (clock, windows) = (ManualClock::new(), Arc::default());
        let instance = loom::sync::Arc::new(instance(&clock, &windows, 1));
        let calling = {
            let instance = instance.clone();
            thread::spawn(move || {
                let call = instance.admit().unwrap();
                let holds_a_slot = call.is_counted();
                if holds_a_slot {
                    instance.end(call, Some(Outcome::Success));
                }
                holds_a_slot
            })
        };
        let with = |enabled| settings(&windows, LimitConfig::new().enabled(enabled)).into();
        instance.reconfigure(&with(false));
        instance.reconfigure(&with(true));
        let held_a_slot = calling.join().unwrap();
        assert_eq!(instance.in_flight(), 0);
        assert_eq!(
            instance.snapshot().counters.succeeded,
            u64::from(held_a_slot)
        );
    });
}

#[test]
fn bounds_changed_beside_a_closing_window_hold_whichever_comes_last() {
    model(2, || {
        let (clock, windows) = (ManualClock::new(), Arc::default());
        let instance = loom::sync::Arc::new(instance(&clock, &windows, 1));
        let call = instance.admit().unwrap();
        clock.advance(Duration::from_secs(1));
        let closing = {
            let instance = instance.clone();
            thread::spawn(move || instance.end(call, Some(Outcome::Success)))
        };
        let narrow = LimitConfig::new().min_window_samples(1).max_limit(2);
        instance.reconfigure(&settings(&windows, narrow).into());
        closing.join().unwrap();
        assert_eq!((instance.limit(), instance.in_flight()), (2, 0));
    });
}
