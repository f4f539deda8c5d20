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
    /// The ratio of the two within a round, the median.
    pub(super) ratio: f64,
    /// The ratio of the least times of each: what a machine without neighbours would show. The least ratio within a
    /// round would be that of the round whose reference was disturbed most.
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

/// Where the threads of a benchmark wait for each other before each batch and after it.
struct Company {
    threads: usize,
    more_than_processors: bool,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Company {
    /// Runs a batch, the `number`th of this thread, while all others run theirs.
    ///
    /// One thread may be faster than the other: whoever owns a cache line keeps it. It goes on calling until the others
    /// are done too, so that none of them ends its batch alone.
    fn batch(&self, number: usize, calls: u64, call: &mut impl FnMut()) -> Span {
        let all = self.threads * (number + 1);
        self.begun.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0;
        while self.begun.load(Ordering::Acquire) < all {
            looks += 1;
            if looks > 10_000 || self.more_than_processors {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
        let span = batch(calls, call);
        self.ended.fetch_add(1, Ordering::AcqRel);
        while self.ended.load(Ordering::Acquire) < all && !self.more_than_processors {
            batch(16, call);
        }
        span
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
    let company = Company {
        threads,
        more_than_processors: threads > processors,
        begun: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    };
    let batches: Vec<Batches> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let company = &company;
                scope.spawn(move || {
                    let mut call = make(thread);
                    let mut batches = Batches::default();
                    for round in 0..=rounds {
                        let span = company.batch(2 * round, reference_calls, &mut reference);
                        batches.reference.push(span);
                        let span = company.batch(2 * round + 1, calls, &mut call);
                        batches.call.push(span);
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
    let of_reference = |round: usize| {
        let spans = batches.iter().map(|batches| batches.reference[round]);
        per_call(spans, reference_calls, processors)
    };
    let of_call = |round: usize| {
        let spans = batches.iter().map(|batches| batches.call[round]);
        per_call(spans, calls, processors)
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
        least_ratio: least(&times) / least(&references),
    }
}

/// The nanoseconds that a call took the processor that ran it, given all threads' spans of one batch.
///
/// `None` if one of the threads had to wait for a processor: it took long and the others had it easy.
fn per_call(
    spans: impl Iterator<Item = Span> + Clone,
    calls: u64,
    processors: usize,
) -> Option<f64> {
    let threads = spans.clone().count();
    let nanos = |span: Span| span.ended.duration_since(span.began).as_secs_f64() * 1e9;
    let first = spans.clone().map(|span| span.began).min()?;
    let last = spans.clone().map(|span| span.ended).max()?;
    if threads > processors {
        let whole = nanos(Span {
            began: first,
            ended: last,
        });
        return Some(whole * processors as f64 / (threads as f64 * calls as f64));
    }
    let all_began = spans.clone().map(|span| span.began).max()?;
    let times = spans.map(nanos);
    let (shortest, longest) = times.clone().fold((f64::MAX, 0.0_f64), |(min, max), time| {
        (min.min(time), max.max(time))
    });
    let late = all_began.duration_since(first).as_secs_f64() * 1e9;
    (longest < 4.0 * shortest && late < 0.1 * shortest)
        .then(|| times.sum::<f64>() / (threads as f64 * calls as f64))
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// The median; not a number if there are none.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
