//! The thread that rings alarms while the machine's time passes.

use std::sync::{Mutex, PoisonError};
use std::task::Waker;
use std::thread::{self, Thread};
use std::time::Duration;

use super::{Alarm, Alarms, Clock, SystemClock};

struct Timer {
    clock: SystemClock,
    alarms: Alarms,
    /// The thread, once there is one.
    thread: Mutex<Option<Thread>>,
}

/// Wakes `waker` in so many nanoseconds.
pub(super) fn wake_after(nanos: u64, waker: Waker) -> Alarm {
    static TIMER: std::sync::LazyLock<Timer> = std::sync::LazyLock::new(|| Timer {
        clock: SystemClock::new(),
        alarms: Alarms::new(),
        thread: Mutex::new(None),
    });
    let timer = &*TIMER;
    let instant = timer.clock.now().saturating_add(nanos);
    let alarm = timer.alarms.set(instant, waker);
    // The thread sleeps until the alarm that was first when it looked.
    if timer.alarms.next() == Some(instant) && !timer.wake_thread() {
        timer.alarms.ring(instant);
    }
    alarm
}

impl Timer {
    /// Has the thread look at the alarms; `false` if there is no thread to be had.
    fn wake_thread(&'static self) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            thread.unpark();
            return true;
        }
        let started = thread::Builder::new()
            .name("resilience-timer".to_owned())
            .spawn(|| self.run());
        match started {
            Ok(started) => {
                *thread = Some(started.thread().clone());
                true
            }
            // The next one tries again.
            Err(_) => false,
        }
    }

    fn run(&self) {
        loop {
            self.alarms.ring(self.clock.now());
            // An alarm set from here on unparks this thread, and the next `park` returns at once.
            match self.alarms.next() {
                Some(instant) => {
                    let left = instant.saturating_sub(self.clock.now());
                    thread::park_timeout(Duration::from_nanos(left));
                }
                None => thread::park(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Wake;

    use super::*;

    struct Told(mpsc::Sender<(u64, u64)>, u64);

    impl Wake for Told {
        fn wake(self: std::sync::Arc<Self>) {
            let _ = self.0.send((self.1, SystemClock::new().now()));
        }
    }

    #[test]
    fn wakes_in_time_and_not_before_whatever_the_order_of_setting() {
        let (sender, told) = mpsc::channel();
        let clock = SystemClock::new();
        let begin = clock.now();
        // The second is the earlier one: the thread must not sleep until the first.
        let _alarms = [30_u64, 5, 60_000].map(|ms| {
            let instant = begin + ms * 1_000_000;
            let waker = std::sync::Arc::new(Told(sender.clone(), instant)).into();
            clock.wake_at(instant, waker)
        });
        for ms in [5, 30] {
            let (instant, woken) = told.recv().unwrap();
            assert_eq!(instant, begin + ms * 1_000_000);
            assert!(woken >= instant);
        }
    }
}
