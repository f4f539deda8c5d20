//! Runs batches of the reference and of a call in turns.

use std::hint::{black_box, spin_loop};
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope};
use std::time::Instant;

/// What a call took in a batch, and the reference in the faster of the batches before and after it: a disturbed
/// reference would flatter the call.
pub(crate) struct Round {
    pub(crate) ns: f64,
    reference_ns: f64,
}

impl Round {
    pub(crate) fn ratio(&self) -> f64 {
        self.ns / self.reference_ns
    }
}

/// The upper median; not a number if there are none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::disallowed_methods, reason = "its cost is the unit")]
fn now() -> Instant {
    Instant::now()
}

/// The reference: what it costs to take a latency with the standard library.
fn reference() {
    black_box(now());
    black_box(now());
}

/// When a thread began a batch and when it ended it, in nanoseconds since the team was formed.
pub(crate) type Span = (f64, f64);

/// To a thread, how many rounds to run; from it, their batches, the reference's first and last.
pub(crate) type Worker = (Sender<u64>, Receiver<Vec<Span>>);

/// Threads that run their batches at the same time.
pub(crate) struct Team {
    formed: Instant,
    threads: usize,
    processors: usize,
    /// Calls in a batch of a thread: of the reference, and of what is measured.
    calls: OnceLock<[u64; 2]>,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Team {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            formed: now(),
            threads,
            processors: thread::available_parallelism().map_or(1, NonZero::get),
            calls: OnceLock::new(),
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
        }
    }

    fn crowded(&self) -> bool {
        self.threads > self.processors
    }

    /// Starts the threads. They end when what this returns is dropped.
    pub(crate) fn start<'scope, C: FnMut()>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        make: &'scope (impl Fn(usize) -> C + Sync),
    ) -> Vec<Worker> {
        let worker = |thread| {
            let (order, orders) = channel();
            let (done, spans) = channel();
            scope.spawn(move || {
                let (mut call, mut number) = (make(thread), 0);
                for rounds in orders {
                    let find = || [self.find_calls(&mut reference), self.find_calls(&mut call)];
                    let calls = *self.calls.get_or_init(find);
                    let batch = |turn| {
                        number += 1;
                        match turn % 2 {
                            0 => self.batch(number, calls[0], &mut reference),
                            _ => self.batch(number, calls[1], &mut call),
                        }
                    };
                    let spans = (0..=2 * rounds).map(batch).collect();
                    done.send(spans).expect("they are waited for");
                }
            });
            (order, spans)
        };
        (0..self.threads).map(worker).collect()
    }

    /// Runs rounds, until at least one of them counts.
    pub(crate) fn run(&self, workers: &[Worker], rounds: u64) -> Vec<Round> {
        loop {
            for (order, _) in workers {
                order.send(rounds).expect("a benchmark does not panic");
            }
            let spans = workers.iter().map(|(_, spans)| spans.recv());
            let spans: Vec<_> = spans.collect::<Result<_, _>>().expect("nor here");
            let batches = 0..=2 * rounds as usize;
            let times: Vec<_> = batches.map(|batch| self.per_call(&spans, batch)).collect();
            let round = |turn: &[Option<f64>]| {
                let around = [turn[0], turn[2]].into_iter().flatten();
                Some(Round {
                    ns: turn[1]?,
                    reference_ns: around.reduce(f64::min)?,
                })
            };
            let counting: Vec<_> = times.windows(3).step_by(2).filter_map(round).collect();
            if !counting.is_empty() {
                return counting;
            }
        }
    }

    fn time(&self, calls: u64, call: &mut impl FnMut()) -> Span {
        let began = self.formed.elapsed();
        (0..calls).for_each(|_| call());
        let ended = self.formed.elapsed();
        (began.as_nanos() as f64, ended.as_nanos() as f64)
    }

    /// Finds how many calls make a batch: a short one, so that few are interrupted, but with more threads than
    /// processors long enough for all to get one.
    fn find_calls(&self, call: &mut impl FnMut()) -> u64 {
        let target = if self.crowded() { 15e6 } else { 150e3 };
        let mut calls = 1;
        loop {
            // The first calls set things up, and any may be interrupted.
            let spans = (0..3).map(|_| self.time(calls, call));
            let (least, _) = range(spans.map(|(began, ended)| ended - began));
            if least > target {
                return calls;
            }
            calls *= 2;
        }
    }

    /// Runs a batch, the `number`th of this thread, while all others run theirs.
    ///
    /// One thread may be faster than the other: whoever owns a cache line keeps it. It goes on calling until the others
    /// are done too, so that none of them ends its batch alone. A `Barrier` would wake them too far apart.
    fn batch(&self, number: usize, calls: u64, call: &mut impl FnMut()) -> Span {
        let all = self.threads * number;
        self.begun.fetch_add(1, Ordering::AcqRel);
        while self.begun.load(Ordering::Acquire) < all {
            if self.crowded() {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
        let span = self.time(calls, call);
        self.ended.fetch_add(1, Ordering::AcqRel);
        while self.ended.load(Ordering::Acquire) < all && !self.crowded() {
            (0..16).for_each(|_| call());
        }
        span
    }

    /// The nanoseconds that a call of a batch took the processor that ran it.
    ///
    /// `None` if one of the threads had to wait for a processor: it took long and the others had it easy.
    fn per_call(&self, spans: &[Vec<Span>], batch: usize) -> Option<f64> {
        let spans = spans.iter().map(|spans| spans[batch]);
        let (first_began, last_began) = range(spans.clone().map(|(began, _)| began));
        let (_, last_ended) = range(spans.clone().map(|(_, ended)| ended));
        let times = spans.map(|(began, ended)| ended - began);
        let (shortest, longest) = range(times.clone());
        let late = last_began - first_began;
        let all_calls = (self.calls.get()?[batch % 2] * self.threads as u64) as f64;
        if self.crowded() {
            Some((last_ended - first_began) * self.processors as f64 / all_calls)
        } else if longest < 4.0 * shortest && late < 0.1 * shortest {
            Some(times.sum::<f64>() / all_calls)
        } else {
            None
        }
    }
}

/// The least and the greatest of numbers that are not negative.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, 0.0), |(least, greatest), value| {
        (least.min(value), greatest.max(value))
    })
}
