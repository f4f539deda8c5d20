//! Runs batches of the reference and of a call in turns and takes their ratio.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::options::Effort;

/// What a call costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Nanoseconds of a call and of the reference, the medians over all rounds; not a number if the machine was so busy
    /// that the threads never ran at the same time.
    pub(super) ns: f64,
    pub(super) reference_ns: f64,
    /// The ratio of the two within a round: the median and the least.
    pub(super) ratio: f64,
    pub(super) least_ratio: f64,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the cost of this is the unit that everything is measured in"
)]
fn instant() -> Instant {
    Instant::now()
}

/// The reference: what it costs to take a latency with the standard library.
fn reference() {
    black_box(instant());
    black_box(instant());
}

/// When a thread began a batch and when it ended it.
#[derive(Clone, Copy, Debug)]
struct Span {
    began: Instant,
    ended: Instant,
}

/// The batches of one thread, in turns.
#[derive(Debug, Default)]
struct Batches {
    reference: Vec<Span>,
    call: Vec<Span>,
}

fn batch(calls: u64, call: &mut impl FnMut()) -> Span {
    let began = instant();
    for _ in 0..calls {
        call();
    }
    Span {
        began,
        ended: instant(),
    }
}

/// Finds how many calls take about `target` on one thread.
fn calls_in(target: Duration, call: &mut impl FnMut()) -> u64 {
    let mut calls = 1;
    loop {
        let Span { began, ended } = batch(calls, call);
        let took = ended.duration_since(began);
        if took >= target || calls >= 1 << 40 {
            return calls;
        }
        let missing = target.as_secs_f64() / took.as_secs_f64().max(1e-9);
        calls = (calls as f64 * missing.clamp(1.2, 10.0)).ceil() as u64;
    }
}

/// Where the threads of a benchmark wait for each other before each batch, so that they run it at the same time.
struct Start {
    threads: usize,
    more_than_processors: bool,
    arrived: AtomicUsize,
}

impl Start {
    fn wait(&self, batch: usize) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = self.threads * (batch + 1);
        let mut looks = 0;
        while self.arrived.load(Ordering::Acquire) < all {
            looks += 1;
            if looks > 10_000 || self.more_than_processors {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }
}

/// How long batches are: short, so that few are interrupted, but with more threads than processors long enough for all to
/// take turns.
fn batch_duration(threads: usize, processors: usize) -> Duration {
    Duration::from_micros(if threads <= processors { 200 } else { 20_000 })
}

/// Measures the calls that `make` makes for each of the threads.
pub(super) fn measure<C: FnMut()>(
    threads: usize,
    make: &(impl Fn(usize) -> C + Sync),
    effort: Effort,
) -> Measured {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let duration = if effort.duration.is_zero() {
        Duration::ZERO
    } else {
        batch_duration(threads, processors)
    };
    let reference_calls = calls_in(duration, &mut reference);
    let calls = calls_in(duration, &mut make(0));
    let rounds = effort.duration.as_nanos() / (2 * duration.as_nanos()).max(1);
    let rounds = effort.rounds.max(rounds as usize);
    let start = Start {
        threads,
        more_than_processors: threads > processors,
        arrived: AtomicUsize::new(0),
    };
    let batches: Vec<Batches> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let start = &start;
                scope.spawn(move || {
                    let mut call = make(thread);
                    let mut batches = Batches::default();
                    for round in 0..=rounds {
                        start.wait(2 * round);
                        batches
                            .reference
                            .push(batch(reference_calls, &mut reference));
                        start.wait(2 * round + 1);
                        batches.call.push(batch(calls, &mut call));
                    }
                    batches
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a benchmark does not panic"))
            .collect()
    });
    let at_once = threads.min(processors);
    let of_reference = |round: usize| {
        let spans = batches.iter().map(|batches| batches.reference[round]);
        per_call(spans, reference_calls, at_once)
    };
    let of_call = |round: usize| {
        let spans = batches.iter().map(|batches| batches.call[round]);
        per_call(spans, calls, at_once)
    };
    let (mut times, mut references, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // The faster of the batches before and after: a disturbed reference would flatter the call.
        let references_around = [of_reference(round), of_reference(round + 1)];
        let reference = references_around.into_iter().flatten().reduce(f64::min);
        let time = of_call(round);
        if let (Some(reference), Some(time)) = (reference, time) {
            references.push(reference);
            times.push(time);
            ratios.push(time / reference);
        }
    }
    Measured {
        ns: median(&mut times),
        reference_ns: median(&mut references),
        ratio: median(&mut ratios),
        least_ratio: ratios.iter().copied().fold(f64::NAN, f64::min),
    }
}

/// The nanoseconds that a call took the processor that ran it, given all threads' spans of one batch.
///
/// `None` if the threads did not really run at the same time, as when one of them had to wait for a processor: then the
/// others had it easy.
fn per_call(
    spans: impl Iterator<Item = Span> + Clone,
    calls: u64,
    processors: usize,
) -> Option<f64> {
    let threads = spans.clone().count();
    let first = spans.clone().map(|span| span.began).min()?;
    let last = spans.clone().map(|span| span.ended).max()?;
    let all_began = spans.clone().map(|span| span.began).max()?;
    let one_ended = spans.map(|span| span.ended).min()?;
    let whole = last.duration_since(first).as_secs_f64();
    let together = one_ended.saturating_duration_since(all_began).as_secs_f64();
    (threads > processors || together >= 0.8 * whole)
        .then(|| whole * 1e9 * processors as f64 / (threads as f64 * calls as f64))
}

/// The median; not a number if there are none.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
