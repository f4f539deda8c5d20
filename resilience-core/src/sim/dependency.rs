//! The dependency at work: who is served, who waits, who is refused, and when the next one is done.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::scenario::{Dependency, Discipline, Slowdown};

/// A call in the simulation: its place in the table of calls, and which of those that had the place it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// What becomes of a call that reaches the dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Served,
    Queued,
    Refused,
}

/// The dependency's servers and queue.
///
/// Everything in service goes on at one pace, so a call that begins when `done` units of work have been done per call ends
/// when `done` has grown by its own work, however the pace changes in between. A unit is a nanosecond at the latency and
/// speed of the beginning.
#[derive(Debug)]
pub(super) struct Station<'a> {
    spec: &'a Dependency,
    now: u64,
    done: f64,
    pace: f64,
    /// The latency at the beginning, and what the pace is at one call.
    unit: f64,
    unloaded_pace: f64,
    servers: f64,
    room: f64,
    /// By when they are done, as bits, which order like the positive numbers they are.
    serving: BinaryHeap<Reverse<(u64, u32, Ticket)>>,
    served: usize,
    order: u32,
    queue: VecDeque<(Ticket, f64)>,
    queued: usize,
    next: u64,
    /// The calls that the quota has left, and when that was so.
    quota: (f64, u64),
}

impl<'a> Station<'a> {
    pub(super) fn new(spec: &'a Dependency) -> Self {
        let mut station = Self {
            spec,
            now: 0,
            done: 0.0,
            pace: 0.0,
            unit: spec.latency.at(0),
            unloaded_pace: 0.0,
            servers: 0.0,
            room: 0.0,
            serving: BinaryHeap::new(),
            served: 0,
            order: 0,
            queue: VecDeque::new(),
            queued: 0,
            next: u64::MAX,
            quota: (spec.quota.as_ref().map_or(0.0, |quota| quota.burst), 0),
        };
        station.change(0);
        station
    }

    /// When the next call is done; never if none is.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The calls that are served or wait.
    pub(super) fn inside(&self) -> usize {
        self.served + self.queued
    }

    /// Work as the law gives it, in the station's units.
    pub(super) fn work(&self, draw: f64) -> f64 {
        draw * self.unit
    }

    /// Whether a call that came now would be served at once and at full pace, with `coming` others on their way.
    pub(super) fn would_serve(&self, coming: usize, now: u64) -> bool {
        ((self.inside() + coming) as f64) < self.room
            && self.unloaded_pace > 0.0
            && self.allowance(now) >= 1.0
    }

    /// Takes one call of the quota, if it has one left.
    pub(super) fn within_quota(&mut self, now: u64) -> bool {
        let left = self.allowance(now);
        if left.is_infinite() {
            return true;
        }
        let within = left >= 1.0;
        self.quota = (if within { left - 1.0 } else { left }, now);
        within
    }

    fn allowance(&self, now: u64) -> f64 {
        let Some(quota) = &self.spec.quota else {
            return f64::INFINITY;
        };
        let (left, since) = self.quota;
        let earned = quota.per_second.at(now) * (now - since) as f64 / 1e9;
        (left + earned).min(quota.burst)
    }

    /// Takes a call in, or refuses it.
    pub(super) fn enter(&mut self, ticket: Ticket, work: f64, now: u64) -> Entry {
        let free = self.spec.discipline == Discipline::Sharing
            || (self.served as f64) < self.servers && self.queued == 0;
        let most = self
            .spec
            .queue
            .map_or(f64::INFINITY, |queue| self.servers + queue as f64);
        if self.inside() as f64 >= most {
            return Entry::Refused;
        }
        self.advance(now);
        let entry = if free {
            self.serve(ticket, work);
            Entry::Served
        } else {
            self.queue.push_back((ticket, work));
            self.queued += 1;
            Entry::Queued
        };
        self.look_ahead();
        entry
    }

    /// Takes out the call that is done at the moment of [`next`](Self::next). To be followed by [`fill`](Self::fill).
    pub(super) fn finish(&mut self) -> Ticket {
        self.advance(self.next);
        let Reverse((done, _, ticket)) = self.serving.pop().expect("someone is done at `next`");
        // What rounding has left of it.
        self.done = self.done.max(f64::from_bits(done));
        self.served -= 1;
        ticket
    }

    /// Takes out a call that was given up, from the servers or from the queue. Its entry goes when it is come upon. To be
    /// followed by [`fill`](Self::fill).
    pub(super) fn leave(&mut self, was_served: bool, now: u64) {
        self.advance(now);
        if was_served {
            self.served -= 1;
        } else {
            self.queued -= 1;
        }
    }

    /// Heeds what has changed by now with the servers, the latency and the speed. To be followed by [`fill`](Self::fill).
    pub(super) fn change(&mut self, now: u64) {
        self.advance(now);
        self.servers = self.spec.servers_at(now);
        self.room = self.spec.room(self.servers);
        self.unloaded_pace = self.spec.speed.at(now) * self.unit / self.spec.latency.at(now);
    }

    /// Serves those who wait as far as there are servers, and tells who they are. Those who no longer `wait` have been
    /// given up.
    pub(super) fn fill(&mut self, wait: impl Fn(Ticket) -> bool, started: &mut Vec<Ticket>) {
        while (self.served as f64) < self.servers
            && let Some((ticket, work)) = self.queue.pop_front()
        {
            if wait(ticket) {
                self.queued -= 1;
                self.serve(ticket, work);
                started.push(ticket);
            }
        }
        while let Some(Reverse((_, _, ticket))) = self.serving.peek()
            && !wait(*ticket)
        {
            self.serving.pop();
        }
        self.look_ahead();
    }

    fn serve(&mut self, ticket: Ticket, work: f64) {
        self.order = self.order.wrapping_add(1);
        let done = (self.done + work).to_bits();
        self.serving.push(Reverse((done, self.order, ticket)));
        self.served += 1;
    }

    fn advance(&mut self, now: u64) {
        self.done += self.pace * (now - self.now) as f64;
        self.now = now;
    }

    /// Finds the pace from now on, and with it the next call that is done.
    fn look_ahead(&mut self) {
        self.pace = self.unloaded_pace;
        if self.spec.discipline == Discipline::Sharing && self.served as f64 > self.servers {
            self.pace *= self.servers / self.served as f64;
        }
        if self.spec.slowdown != Slowdown::None {
            self.pace /= self.spec.slowdown.at(self.inside() as f64);
        }
        self.next = match self.serving.peek() {
            Some(Reverse((done, ..))) if self.pace > 0.0 => {
                let wait = (f64::from_bits(*done) - self.done).max(0.0) / self.pace;
                // `as` saturates: a pace near 0 is never done.
                self.now.saturating_add(wait.ceil() as u64)
            }
            _ => u64::MAX,
        };
    }
}
