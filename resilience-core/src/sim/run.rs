//! One run: events in the order of virtual time, through the limits that production has.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::dependency::{Entry, Station, Ticket};
use super::events::{Event, Happening};
use super::limits::{Guard, Limits};
use super::random::Random;
use super::record::{End, Record};
use super::report::Moment;
use super::scenario::{Client, FailureKind, Load, Scenario};
use crate::error::Error;
use crate::limit::{Acquire, Permit};
use crate::outcome::Outcome;
use crate::registry::Builder;
use crate::time::ManualClock;

/// Makes the registry's builder: with it come custom algorithms and defaults.
pub(super) type Setup<'s> = &'s (dyn Fn() -> Builder + Sync);

/// What a run is to be.
#[derive(Clone, Copy)]
pub(super) struct Plan<'s> {
    pub(super) scenario: &'s Scenario,
    pub(super) guard: &'s Guard,
    pub(super) setup: Setup<'s>,
    pub(super) duration: u64,
    pub(super) slice: u64,
    /// How many samples are taken for a chart.
    pub(super) samples: u64,
}

/// Runs a plan.
///
/// # Errors
///
/// If the registry refuses the settings.
pub(super) fn run(plan: Plan<'_>) -> Result<Record, Error> {
    let clock = ManualClock::new();
    let registry = (plan.setup)().clock(clock.clone()).build()?;
    let limits = Limits::new(plan.scenario, plan.guard, registry)?;
    Ok(Run::new(plan, clock, &limits).run())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Coming,
    Queued,
    Served,
    /// On its way back, or being refused.
    Leaving,
    /// Never answered.
    Hanging,
}

/// A place in the table of calls.
#[derive(Debug)]
struct Call<'r> {
    generation: u32,
    client: u32,
    place: Place,
    end: End,
    of_a_user: bool,
    started: u64,
    /// The phase in which it came.
    phase: u32,
    random: Random,
    /// Until the caller has an answer or gives up.
    permit: Option<Permit<'r>>,
}

/// A call that has been made and is not admitted yet.
#[derive(Clone, Copy, Debug)]
struct Coming {
    client: u32,
    of_a_user: bool,
    made: u64,
    phase: u32,
    random: Random,
}

/// The numbers of the calls whose wait is over.
type Woken = Arc<Mutex<VecDeque<u64>>>;

struct Wakes(Woken, u64);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        let mut woken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push_back(self.1);
    }
}

#[derive(Debug)]
struct Caller {
    arrivals: Random,
    calls: Random,
    offered: u64,
    /// The next arrival, with its fraction of a nanosecond.
    next: f64,
    deadlines: VecDeque<(u64, Ticket)>,
    limit: u32,
}

fn poll<'r>(slot: &mut Acquire<'r>, waker: &Waker) -> Poll<Result<Permit<'r>, Error>> {
    Pin::new(slot).poll(&mut Context::from_waker(waker))
}

struct Run<'r> {
    plan: Plan<'r>,
    clock: ManualClock,
    limits: &'r Limits,
    now: u64,
    number: u64,
    events: BinaryHeap<Reverse<Event>>,
    station: Station<'r>,
    calls: Vec<Call<'r>>,
    free: Vec<u32>,
    callers: Vec<Caller>,
    in_flight: u64,
    /// Those that wait for a slot, by the numbers that they are woken by.
    waiting: BTreeMap<u64, (Coming, Acquire<'r>)>,
    woken: Woken,
    coming: usize,
    /// The sum of the limits of all clients whose limit adapts.
    limit: u64,
    record: Record,
    next_sample: u64,
    /// Kept for its room.
    started: Vec<Ticket>,
}

impl<'r> Run<'r> {
    fn new(plan: Plan<'r>, clock: ManualClock, limits: &'r Limits) -> Self {
        let scenario = plan.scenario;
        let callers = (0..scenario.clients.len() as u64).map(|number| Caller {
            arrivals: Random::stream(scenario.seed, 1).part(number),
            calls: Random::stream(scenario.seed, 2).part(number),
            offered: 0,
            next: 0.0,
            deadlines: VecDeque::new(),
            limit: 0,
        });
        Self {
            plan,
            clock,
            limits,
            now: 0,
            number: 0,
            events: BinaryHeap::new(),
            station: Station::new(&scenario.dependency),
            calls: Vec::new(),
            free: Vec::new(),
            callers: callers.collect(),
            in_flight: 0,
            waiting: BTreeMap::new(),
            woken: Woken::default(),
            coming: 0,
            limit: 0,
            record: Record::new(scenario, plan.duration, plan.slice),
            next_sample: if plan.samples == 0 { u64::MAX } else { 0 },
            started: Vec::new(),
        }
    }

    fn run(mut self) -> Record {
        let end = self.plan.duration;
        for (number, client) in self.plan.scenario.clients.iter().enumerate() {
            self.schedule(client.join, Happening::Join(number as u32));
        }
        self.schedule_change();
        loop {
            let next = self.events.peek().map_or(u64::MAX, |next| next.0.at);
            // Whoever is done makes room before others come at the same moment.
            let done = self.station.next();
            // The queue knows by itself when a wait is over; it is the clock that tells it.
            let over = if self.waiting.is_empty() {
                u64::MAX
            } else {
                self.clock.next_wake().unwrap_or(u64::MAX)
            };
            let at = next.min(done).min(over);
            // After all that happens at the sample's own moment.
            while self.next_sample < at.min(end) {
                self.sample();
            }
            if at >= end {
                break;
            }
            self.now = at;
            self.clock.advance_to(at);
            self.record.advance(at);
            if over < next.min(done) {
                // Told by the clock's move.
            } else if done <= next {
                self.served();
            } else if let Some(Reverse(event)) = self.events.pop() {
                self.happens(event.happening);
            }
            self.admit_called();
        }
        self.record.limit(self.limit as f64, end);
        self.record.in_flight(self.in_flight, end);
        self.record.in_flight_at_end = self.in_flight;
        self.record.waiting_at_end = self.waiting.len() as u64;
        self.record
    }

    fn client(&self, number: u32) -> &'r Client {
        &self.plan.scenario.clients[number as usize]
    }

    fn schedule(&mut self, at: u64, happening: Happening) {
        self.number += 1;
        self.events.push(Reverse(Event {
            at,
            number: self.number,
            happening,
        }));
    }

    fn sample(&mut self) {
        self.record.samples.push(Moment {
            at: self.next_sample as f64 / 1e9,
            limit: self.limit,
            in_flight: self.in_flight,
        });
        let number = self.record.samples.len() as u128;
        let end = u128::from(self.plan.duration);
        self.next_sample = (end * number / u128::from(self.plan.samples)) as u64;
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Join(client) => self.join(client),
            Happening::Arrival(client) => self.arrival(client),
            Happening::User(client) => self.call(client, true),
            Happening::Enters(ticket) => {
                self.coming -= 1;
                if self.lives(ticket) {
                    self.enters(ticket);
                }
            }
            Happening::Answer(ticket) => {
                if self.lives(ticket) {
                    self.answered(ticket);
                }
            }
            Happening::TimeOut(client) => self.time_out(client),
            Happening::Change => self.change(),
        }
    }

    fn join(&mut self, number: u32) {
        let client = self.client(number);
        self.limits.of(number as usize);
        self.note_limit(number);
        self.callers[number as usize].next = client.join as f64;
        match &client.load {
            Load::Open { .. } => self.schedule_arrival(number),
            Load::Closed { users, think, .. } => {
                for _ in 0..*users {
                    self.user_thinks(number, *think);
                }
            }
        }
    }

    /// Finds the next arrival: after one unit of what the rate adds up to, or an exponentially distributed one.
    fn schedule_arrival(&mut self, number: u32) {
        let client = self.client(number);
        let Load::Open {
            per_second,
            poisson,
            ..
        } = &client.load
        else {
            return;
        };
        let caller = &mut self.callers[number as usize];
        let mut wanted = if *poisson {
            caller.arrivals.exponential()
        } else {
            1.0
        };
        let mut at = caller.next;
        loop {
            let moment = at as u64;
            let per_nano = per_second.at(moment) / 1e9;
            let until = per_second
                .next_change(moment)
                .map_or(f64::INFINITY, |at| at as f64);
            let reached = at + wanted / per_nano;
            if reached < until {
                at = reached;
                break;
            }
            if until.is_infinite() {
                return;
            }
            wanted -= per_nano * (until - at);
            at = until;
        }
        caller.next = at;
        let at = (at as u64).max(self.now);
        if at < client.leave.min(self.plan.duration) {
            self.schedule(at, Happening::Arrival(number));
        }
    }

    fn arrival(&mut self, number: u32) {
        if let Load::Open { burst, .. } = self.client(number).load {
            for _ in 0..burst {
                self.call(number, false);
            }
        }
        self.schedule_arrival(number);
    }

    fn user_thinks(&mut self, number: u32, mean: u64) {
        let draw = self.callers[number as usize].arrivals.exponential();
        // Not at the same moment, or a user without thoughts would hold up the time.
        let at = self.now + ((mean as f64 * draw) as u64).max(1);
        if at < self.client(number).leave {
            self.schedule(at, Happening::User(number));
        }
    }

    fn call(&mut self, number: u32, of_a_user: bool) {
        self.record.offered();
        let caller = &mut self.callers[number as usize];
        caller.offered += 1;
        let coming = Coming {
            client: number,
            of_a_user,
            made: self.now,
            phase: self.record.phase_now(),
            // What is drawn for a call depends on its number alone, and not on what the limit does with others.
            random: caller.calls.part(caller.offered),
        };
        let mut slot = self.limits.of(number as usize).acquire_async();
        match poll(&mut slot, Waker::noop()) {
            Poll::Ready(answer) => self.answer(coming, answer),
            Poll::Pending => {
                self.number += 1;
                let waker = Arc::new(Wakes(self.woken.clone(), self.number)).into();
                let _pending = poll(&mut slot, &waker);
                self.waiting.insert(self.number, (coming, slot));
            }
        }
    }

    /// Goes on with those whose wait is over, in the order in which it was.
    fn admit_called(&mut self) {
        loop {
            let woken = self
                .woken
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front();
            let Some(number) = woken else {
                return;
            };
            if let Some((coming, mut slot)) = self.waiting.remove(&number)
                && let Poll::Ready(answer) = poll(&mut slot, Waker::noop())
            {
                self.answer(coming, answer);
            }
        }
    }

    /// The limit has answered: the call begins, or is rejected.
    fn answer(&mut self, coming: Coming, answer: Result<Permit<'r>, Error>) {
        let Coming {
            client: number,
            of_a_user,
            made,
            phase,
            random,
        } = coming;
        let client = self.client(number);
        let Ok(permit) = answer else {
            let falsely = self.station.would_serve(self.coming, self.now);
            self.record.rejected(phase, falsely);
            if of_a_user
                && let Load::Closed {
                    after_rejection, ..
                } = client.load
            {
                self.user_thinks(number, after_rejection);
            }
            return;
        };
        self.record.in_flight(self.in_flight, self.now);
        self.in_flight += 1;
        let ticket = self.enlist(Call {
            generation: 0,
            client: number,
            place: Place::Coming,
            end: End::Served,
            of_a_user,
            started: made,
            phase,
            random,
            permit: Some(permit),
        });
        if let Some(timeout) = client.timeout {
            let deadline = self.now + timeout;
            let caller = &mut self.callers[number as usize];
            caller.deadlines.push_back((deadline, ticket));
            if caller.deadlines.len() == 1 {
                self.schedule(deadline, Happening::TimeOut(number));
            }
        }
        self.coming += 1;
        let way = self.way(ticket);
        if way == 0 {
            self.coming -= 1;
            self.enters(ticket);
        } else {
            self.schedule(self.now + way, Happening::Enters(ticket));
        }
    }

    fn enlist(&mut self, mut call: Call<'r>) -> Ticket {
        if let Some(index) = self.free.pop() {
            let place = &mut self.calls[index as usize];
            let generation = place.generation;
            call.generation = generation;
            *place = call;
            Ticket { index, generation }
        } else {
            self.calls.push(call);
            Ticket {
                index: self.calls.len() as u32 - 1,
                generation: 0,
            }
        }
    }

    fn lives(&self, ticket: Ticket) -> bool {
        self.calls[ticket.index as usize].generation == ticket.generation
    }

    fn strike(&mut self, ticket: Ticket) {
        self.calls[ticket.index as usize].generation += 1;
        self.free.push(ticket.index);
    }

    /// How long the call is on the network, one way.
    fn way(&mut self, ticket: Ticket) -> u64 {
        let dependency = &self.plan.scenario.dependency;
        let mut way = dependency.network.at(self.now) / 2.0;
        if dependency.network_jitter > 0.0 {
            let random = &mut self.calls[ticket.index as usize].random;
            way += dependency.network_jitter * random.exponential();
        }
        way as u64
    }

    fn enters(&mut self, ticket: Ticket) {
        let dependency = &self.plan.scenario.dependency;
        if !self.station.within_quota(self.now) {
            let refusal = dependency.quota.as_ref().map_or(0, |quota| quota.refusal);
            return self.fails_after(ticket, refusal, End::Dropped);
        }
        for failure in &dependency.failures {
            if !(failure.from..failure.until).contains(&self.now) {
                continue;
            }
            let call = &mut self.calls[ticket.index as usize];
            if call.random.unit() >= failure.share {
                continue;
            }
            let end = match failure.kind {
                FailureKind::Drop => End::Dropped,
                FailureKind::Error => End::Failed,
                FailureKind::Hang => {
                    call.place = Place::Hanging;
                    return;
                }
            };
            if let Some(after) = failure.after {
                return self.fails_after(ticket, after, end);
            }
            call.end = end;
            break;
        }
        let call = &mut self.calls[ticket.index as usize];
        let work = self.station.work(dependency.law.draw(&mut call.random));
        match self.station.enter(ticket, work, self.now) {
            Entry::Served => call.place = Place::Served,
            Entry::Queued => call.place = Place::Queued,
            Entry::Refused => self.fails_after(ticket, dependency.refusal, End::Dropped),
        }
    }

    fn fails_after(&mut self, ticket: Ticket, after: u64, end: End) {
        let call = &mut self.calls[ticket.index as usize];
        call.end = end;
        call.place = Place::Leaving;
        let way = self.way(ticket);
        self.schedule(self.now + after + way, Happening::Answer(ticket));
    }

    /// The dependency is done with a call.
    fn served(&mut self) {
        let ticket = self.station.finish();
        self.fill();
        self.calls[ticket.index as usize].place = Place::Leaving;
        let way = self.way(ticket);
        if way == 0 {
            self.answered(ticket);
        } else {
            self.schedule(self.now + way, Happening::Answer(ticket));
        }
    }

    fn change(&mut self) {
        self.station.change(self.now);
        self.fill();
        self.schedule_change();
    }

    fn schedule_change(&mut self) {
        let dependency = &self.plan.scenario.dependency;
        let next = [
            dependency.servers.as_ref(),
            Some(&dependency.latency),
            Some(&dependency.speed),
        ];
        let next = next
            .into_iter()
            .flatten()
            .filter_map(|schedule| schedule.next_change(self.now));
        if let Some(at) = next.min() {
            self.schedule(at, Happening::Change);
        }
    }

    fn answered(&mut self, ticket: Ticket) {
        let end = self.calls[ticket.index as usize].end;
        self.ends(ticket, end);
        self.strike(ticket);
    }

    /// The caller has an answer or gives up. If it has given up before, nothing is left to do.
    fn ends(&mut self, ticket: Ticket, end: End) {
        let call = &mut self.calls[ticket.index as usize];
        let (client, of_a_user) = (call.client, call.of_a_user);
        let (phase, started) = (call.phase, call.started);
        let Some(permit) = call.permit.take() else {
            return;
        };
        permit.complete(match end {
            End::Served => Outcome::Success,
            End::Failed => Outcome::Ignored,
            End::Dropped | End::TimedOut => Outcome::Drop,
        });
        self.record.in_flight(self.in_flight, self.now);
        self.in_flight -= 1;
        self.record.ended(client, phase, end, started, self.now);
        self.note_limit(client);
        if of_a_user && let Load::Closed { think, .. } = self.client(client).load {
            self.user_thinks(client, think);
        }
    }

    fn time_out(&mut self, number: u32) {
        let goes_on = self.client(number).goes_on;
        while let Some(&(deadline, ticket)) = self.callers[number as usize].deadlines.front() {
            let waits = self.lives(ticket) && self.calls[ticket.index as usize].permit.is_some();
            if waits && deadline > self.now {
                self.schedule(deadline, Happening::TimeOut(number));
                return;
            }
            self.callers[number as usize].deadlines.pop_front();
            if waits {
                self.ends(ticket, End::TimedOut);
                self.gives_up(ticket, goes_on);
            }
        }
    }

    /// Takes a call that nobody waits for out of the dependency, unless that goes on with it.
    fn gives_up(&mut self, ticket: Ticket, goes_on: bool) {
        let place = self.calls[ticket.index as usize].place;
        if goes_on && place != Place::Hanging {
            return;
        }
        self.strike(ticket);
        if matches!(place, Place::Queued | Place::Served) {
            self.station.leave(place == Place::Served, self.now);
            self.fill();
        }
    }

    /// Lets those begin for whom there is room.
    fn fill(&mut self) {
        let calls = &self.calls;
        self.station.fill(
            |ticket| calls[ticket.index as usize].generation == ticket.generation,
            &mut self.started,
        );
        for ticket in self.started.drain(..) {
            self.calls[ticket.index as usize].place = Place::Served;
        }
    }

    fn note_limit(&mut self, number: u32) {
        if self.client(number).fixed.is_some() || matches!(self.plan.guard, Guard::Unlimited) {
            return;
        }
        let limit = self.limits.of(number as usize).limit();
        let known = &mut self.callers[number as usize].limit;
        if *known != limit {
            self.record.limit(self.limit as f64, self.now);
            self.limit = self.limit + u64::from(limit) - u64::from(*known);
            *known = limit;
        }
    }
}
