//! `knee` behind permits and a clock, in front of a dependency that serves so many calls at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use resilience::Outcome;
use resilience::event::Subscription;
use resilience::event::{Event, Reason};
use resilience::limit::{AdaptiveLimit, LimitConfig, Permit};
use resilience::time::{Clock, ManualClock};

use crate::support::{limit, millis};

const MS: u64 = 1_000_000;

/// Calls that arrive evenly at a dependency with a first-come queue. A call takes from 18 to 22 ms once it is served.
struct World {
    limit: AdaptiveLimit,
    clock: ManualClock,
    servers: usize,
    now: u64,
    arrived: u64,
    /// When calls that are served end.
    served: BinaryHeap<Reverse<(u64, u64)>>,
    queue: VecDeque<u64>,
    permits: HashMap<u64, Permit<'static>>,
    done: u64,
}

impl World {
    fn new(config: LimitConfig) -> Self {
        let (limit, clock) = limit(config.algorithm("knee"));
        Self {
            limit,
            clock,
            servers: 0,
            now: 0,
            arrived: 0,
            served: BinaryHeap::new(),
            queue: VecDeque::new(),
            permits: HashMap::new(),
            done: 0,
        }
    }

    fn serve(&mut self, call: u64) {
        let takes = 18 * MS + call * 7919 % 4001 * 1000;
        self.served.push(Reverse((self.now + takes, call)));
    }

    fn end_until(&mut self, instant: u64) {
        while let Some(&Reverse((ends, call))) = self.served.peek()
            && ends <= instant
        {
            self.served.pop();
            self.now = ends;
            self.clock.advance_to(ends);
            let permit = self.permits.remove(&call).expect("it was admitted");
            permit.complete(Outcome::Success);
            self.done += 1;
            while self.served.len() < self.servers
                && let Some(next) = self.queue.pop_front()
            {
                self.serve(next);
            }
        }
        self.now = instant;
        self.clock.advance_to(instant);
    }

    /// Goes on for a second with so many servers and calls on offer, and returns the calls that were served.
    fn second(&mut self, servers: usize, calls: u64) -> u64 {
        self.servers = servers;
        let (start, before) = (self.now, self.done);
        for call in 0..calls {
            self.end_until(start + call * 1000 * MS / calls);
            if let Ok(permit) = self.limit.try_acquire_owned() {
                self.arrived += 1;
                self.permits.insert(self.arrived, permit);
                if self.served.len() < self.servers {
                    self.serve(self.arrived);
                } else {
                    self.queue.push_back(self.arrived);
                }
            }
        }
        self.end_until(start + 1000 * MS);
        self.done - before
    }
}

#[test]
fn follows_what_the_dependency_serves() {
    let mut world = World::new(LimitConfig::new());
    for servers in [40, 10, 40] {
        for _ in 0..9 {
            world.second(servers, 3000);
        }
        // 50 a second for each server, if none idles.
        let done = world.second(servers, 3000);
        let limit = world.limit.limit();
        let all = 50 * servers as u64;
        assert!(done * 100 >= all * 95, "{done} of {all} under {limit}");
        assert!(
            world.queue.len() <= servers / 3 + 2,
            "{} wait",
            world.queue.len()
        );
    }
    let baseline = world.limit.snapshot().baseline.expect("known");
    assert!((baseline / 20e6 - 1.0).abs() < 0.1, "{baseline}");
}

#[test]
fn without_a_need_the_limit_stays() {
    let mut world = World::new(LimitConfig::new());
    for _ in 0..20 {
        assert!(world.second(40, 200) >= 196);
    }
    let snapshot = world.limit.snapshot();
    assert_eq!(snapshot.limit, 20);
    assert!(
        matches!(snapshot.reason, Reason::AppLimited { .. }),
        "{snapshot:?}"
    );
}

/// When the limit changed, to what, and why.
type Changes = Arc<Mutex<Vec<(u64, u32, Reason)>>>;

fn changes(world: &World) -> (Changes, Subscription) {
    let changes = Changes::default();
    let (noted, clock) = (changes.clone(), world.clock.clone());
    let listening = world.limit.subscribe(move |event| {
        if let Event::LimitChanged { to, reason, .. } = event {
            noted
                .lock()
                .unwrap()
                .push((clock.now(), *to, reason.clone()));
        }
    });
    (changes, listening)
}

#[test]
fn the_calls_that_fill_the_first_slots_tell_a_queue() {
    for (servers, falls) in [(40, false), (5, true)] {
        let mut world = World::new(LimitConfig::new());
        let (changes, _listening) = changes(&world);
        world.second(servers, 3000);
        let changes = changes.lock().unwrap();
        assert_eq!(changes[0].1 < 20, falls, "{servers}: {changes:?}");
    }
}

#[test]
fn drains_leave_time_for_windows_that_are_set_to_be_long() {
    let mut world = World::new(LimitConfig::new().window(millis(2000)));
    let (changes, _listening) = changes(&world);
    for _ in 0..60 {
        world.second(40, 3000);
    }
    let changes = changes.lock().unwrap();
    let drains: Vec<u64> = changes
        .iter()
        .filter(|(_, _, reason)| matches!(reason, Reason::Drain { .. }))
        .map(|(at, ..)| *at)
        .collect();
    assert!(drains.len() >= 2, "{changes:?}");
    assert!(
        drains
            .windows(2)
            .all(|pair| pair[1] - pair[0] >= 6 * 2000 * MS),
        "{drains:?}"
    );
    let limit = world.limit.limit();
    assert!((34..=50).contains(&limit), "{limit}");
}

#[test]
fn decides_no_more_often_than_is_set() {
    let mut world = World::new(LimitConfig::new().window(millis(500)));
    for _ in 0..10 {
        world.second(40, 3000);
    }
    let snapshot = world.limit.snapshot();
    let window = snapshot.last_window.expect("some have closed");
    assert!(window.duration >= 500 * MS, "{window:?}");
    assert!(snapshot.windows <= 20, "{}", snapshot.windows);
}
