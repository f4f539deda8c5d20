//! What the calls of an instance add up to, in one stripe for each thread.
//!
//! Each stripe has one writer, its thread, so a call adds to it with plain loads and stores: no sample is lost and none
//! needs a read-modify-write. Sums only ever grow (and wrap); a window is the difference between two readings of all
//! stripes. A sequence lock around each change lets a reader see a stripe only between calls.

use std::sync::OnceLock;

use super::log2::{log2, square};
use crate::sync::{AtomicU64, Mutex, Ordering, Padded, fence, lock, spin, thread_slot};

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One thread's sums. Laid out as written: what each call adds to comes first, and is on two cache lines.
        #[derive(Debug, Default)]
        #[repr(C)]
        pub(crate) struct Stripe {
            /// Even between calls, odd while a call is being added.
            sequence: AtomicU64,
            /// The number of the window that `peak` belongs to, and the most calls in flight that a sample of it saw.
            peak: AtomicU64,
            /// The number of the window that `reached` belongs to, and the most calls in flight after an admission in it.
            reached: AtomicU64,
            $($(#[$doc])* $name: AtomicU64,)*
            /// The samples as of the last window that closed, and as of the last reading for one that may: the reader's.
            seen: AtomicU64,
            read: AtomicU64,
        }

        /// The sums of all stripes at one moment, or their differences between two.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Sums {
            $($(#[$doc])* pub(crate) $name: u64,)*
        }

        impl Stripe {
            fn load(&self) -> Sums {
                Sums { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }

        impl Sums {
            fn add(&mut self, other: &Self) {
                $(self.$name = self.$name.wrapping_add(other.$name);)*
            }

            /// What was added since an earlier reading.
            pub(crate) fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.wrapping_sub(earlier.$name),)* }
            }
        }
    };
}

sums! {
    /// Calls admitted.
    admitted,
    /// Calls that ended, in whatever way.
    ended,
    /// The instants at which calls ended less those at which calls were admitted, in nanoseconds. With `n` calls in
    /// flight at `t`, `n * t` plus this is the area under the calls in flight up to `t`.
    clock,
    /// Latencies of all calls that ended, in nanoseconds.
    ended_latency,
    /// Successes that are samples, and the sum of their latencies.
    successes, latency,
    /// Those of more than 0 ns, and the sums of their logarithms and of the squares of these, as [`log2`] makes them.
    timed, log_latency, log_latency_sq,
    /// Calls in flight at admission, over all samples.
    in_flight,
    /// Calls rejected. Not under the sequence lock: it is one number.
    rejected,
    /// Drops that are samples, and the sum of their latencies.
    drops, drop_latency,
    /// Those of them that were fast, their latencies, and the calls in flight when each was admitted.
    fast_drops, fast_drop_latency, fast_drop_in_flight,
    /// Failures that are no sample.
    ignored,
    /// Successes and drops that are no sample: admitted before the limit counted afresh.
    stale_successes, stale_drops,
}

impl Sums {
    pub(crate) fn samples(&self) -> u64 {
        self.successes.wrapping_add(self.drops)
    }

    /// Calls that ended without an outcome.
    pub(crate) fn cancelled(&self) -> u64 {
        [
            self.samples(),
            self.ignored,
            self.stale_successes,
            self.stale_drops,
        ]
        .into_iter()
        .fold(self.ended, u64::wrapping_sub)
    }

    /// Calls in flight as far as the stripes know: consistent with `clock`.
    fn in_flight_now(&self) -> u64 {
        self.admitted.wrapping_sub(self.ended)
    }

    /// The area under the calls in flight from the clock's 0 to `now`, modulo 2^64: only differences mean something.
    pub(crate) fn area(&self, now: u64) -> u64 {
        self.in_flight_now()
            .wrapping_mul(now)
            .wrapping_add(self.clock)
    }
}

/// An admitted call to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) started: u64,
    /// Itself included.
    pub(crate) in_flight: u32,
    /// The number of the open window.
    pub(crate) window: u64,
}

/// A finished call to be added, of one kind or another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) started: u64,
    pub(crate) ended: u64,
    pub(crate) in_flight: u32,
    /// The number of the open window.
    pub(crate) window: u64,
}

/// A call that is a success and a sample: what is usual has a type of its own, so that it is told apart only once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Success(pub(crate) Call);

/// A call of whatever kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended(pub(crate) Call, pub(crate) Kind);

/// A rejected call to be added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejection;

/// How a finished call counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Success,
    Drop { fast: bool },
    StaleSuccess,
    StaleDrop,
    Ignored,
    Cancelled,
}

// Without the attribute it is a call through a table for each sum, in every crate that uses the library.
#[inline]
fn add(cell: &AtomicU64, by: u64) {
    cell.store(
        cell.load(Ordering::Relaxed).wrapping_add(by),
        Ordering::Relaxed,
    );
}

impl Stripe {
    /// Begins to add to the sums, as the stripe's only writer.
    ///
    /// Not around a closure: it would not be inlined, and all there is to a call would go through memory.
    #[inline]
    fn begin(&self) -> Writing {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        // The odd number is visible before any of the change: pairs with the acquire fence in `read`.
        fence(Ordering::Release);
        Writing(sequence)
    }

    #[inline]
    fn finish(&self, Writing(sequence): Writing) {
        // The change is visible before the even number: pairs with the acquire load in `read`.
        self.sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }

    /// Reads the stripe between two calls, or gives up on a writer that was interrupted in the middle of one.
    fn read(&self) -> Option<StripeReading> {
        const ATTEMPTS: usize = if cfg!(loom) { 2 } else { 1000 };
        for _ in 0..ATTEMPTS {
            let before = self.sequence.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let read = StripeReading {
                    sums: self.load(),
                    peak: self.peak.load(Ordering::Relaxed),
                    reached: self.reached.load(Ordering::Relaxed),
                };
                // None of the loads above may move below the second look at the sequence.
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == before {
                    return Some(read);
                }
            }
            spin();
        }
        None
    }

    /// Adds a call of whatever kind, and returns its latency.
    #[inline]
    fn add_ended(&self, call: &Call) -> u64 {
        let latency = call.ended.saturating_sub(call.started);
        add(&self.ended, 1);
        add(&self.clock, call.ended);
        add(&self.ended_latency, latency);
        latency
    }

    #[inline]
    fn add_success(&self, call: &Call, latency: u64) {
        add(&self.successes, 1);
        add(&self.latency, latency);
        if latency > 0 {
            let log = log2(latency);
            add(&self.timed, 1);
            add(&self.log_latency, log);
            add(&self.log_latency_sq, square(log));
        }
        self.add_sample(call);
    }

    #[inline]
    fn add_sample(&self, call: &Call) {
        let in_flight = u64::from(call.in_flight);
        add(&self.in_flight, in_flight);
        let peak = self.peak.load(Ordering::Relaxed);
        let window = call.window << 32;
        if peak & WINDOW_MASK == window {
            if peak < window | in_flight {
                self.peak.store(window | in_flight, Ordering::Relaxed);
            }
        } else {
            // The peak of an earlier window ends with the samples that it was made of. Those added after the closing
            // thread had read this stripe are the next window's, and so is their peak.
            let before = if self.closed_before_this_sample() {
                0
            } else {
                peak & !WINDOW_MASK
            };
            self.peak
                .store(window | in_flight.max(before), Ordering::Relaxed);
        }
    }

    /// Whether a window has closed with all samples but the one that is being added.
    ///
    /// Relaxed: a closing thread's store that is seen late makes a peak too high, never too low, since `seen` only grows
    /// and is at most what this stripe's one writer has added.
    #[cold]
    fn closed_before_this_sample(&self) -> bool {
        let samples = self
            .successes
            .load(Ordering::Relaxed)
            .wrapping_add(self.drops.load(Ordering::Relaxed));
        self.seen.load(Ordering::Relaxed) == samples.wrapping_sub(1)
    }
}

/// What a call adds to a stripe.
pub(crate) trait Change {
    fn apply(self, stripe: &Stripe);
}

impl Change for Admission {
    #[inline]
    fn apply(self, stripe: &Stripe) {
        let writing = stripe.begin();
        add(&stripe.admitted, 1);
        add(&stripe.clock, self.started.wrapping_neg());
        let window = self.window << 32;
        let reached = window | u64::from(self.in_flight);
        let before = stripe.reached.load(Ordering::Relaxed);
        if before & WINDOW_MASK != window || before < reached {
            stripe.reached.store(reached, Ordering::Relaxed);
        }
        stripe.finish(writing);
    }
}

impl Change for Rejection {
    #[inline]
    fn apply(self, stripe: &Stripe) {
        add(&stripe.rejected, 1);
    }
}

impl Change for Success {
    #[expect(
        clippy::inline_always,
        reason = "out of line, all there is to a call goes through memory"
    )]
    #[inline(always)]
    fn apply(self, stripe: &Stripe) {
        let writing = stripe.begin();
        let latency = stripe.add_ended(&self.0);
        stripe.add_success(&self.0, latency);
        stripe.finish(writing);
    }
}

impl Change for Ended {
    #[inline]
    fn apply(self, stripe: &Stripe) {
        let Self(call, kind) = self;
        let writing = stripe.begin();
        let latency = stripe.add_ended(&call);
        match kind {
            Kind::Success => stripe.add_success(&call, latency),
            Kind::Drop { fast } => {
                add(&stripe.drops, 1);
                add(&stripe.drop_latency, latency);
                if fast {
                    add(&stripe.fast_drops, 1);
                    add(&stripe.fast_drop_latency, latency);
                    add(&stripe.fast_drop_in_flight, u64::from(call.in_flight));
                }
                stripe.add_sample(&call);
            }
            Kind::StaleSuccess => add(&stripe.stale_successes, 1),
            Kind::StaleDrop => add(&stripe.stale_drops, 1),
            Kind::Ignored => add(&stripe.ignored, 1),
            Kind::Cancelled => {}
        }
        stripe.finish(writing);
    }
}

/// The number before a change that is being made. Nothing in between panics.
#[must_use]
struct Writing(u64);

/// One stripe at one moment.
struct StripeReading {
    sums: Sums,
    peak: u64,
    reached: u64,
}

/// The upper half of `Stripe::peak` and `Stripe::reached`: the low 32 bits of the window's number.
const WINDOW_MASK: u64 = !0 << 32;

/// The stripe of one thread, made on its first call.
type Place = OnceLock<Box<Padded<Stripe>>>;

/// How many places are found without a further step: as many as most programs have threads.
const NEAR: usize = 64;

/// How many groups of further places there can be; group `g` holds `NEAR << g`.
const GROUPS: usize = 18;

/// The stripes of an instance: one for each thread that has called through it.
#[derive(Debug)]
pub(crate) struct Stripes {
    near: [Place; NEAR],
    /// Made when it is needed: most limits never do, and it would be a quarter of what they take.
    far: OnceLock<Box<Far>>,
}

/// The stripes that few programs need.
#[derive(Debug)]
struct Far {
    groups: [OnceLock<Box<[Place]>>; GROUPS],
    /// For calls in destructors of an ending thread, whose number is gone, and for threads beyond all groups.
    shared: Mutex<()>,
    shared_stripe: Padded<Stripe>,
}

impl Far {
    fn new() -> Self {
        Self {
            groups: [const { OnceLock::new() }; GROUPS],
            shared: Mutex::new(()),
            shared_stripe: Padded(Stripe::default()),
        }
    }
}

/// All stripes added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) sums: Sums,
    /// The most calls in flight that a sample of the open window saw at its admission.
    pub(crate) max_in_flight: u32,
    /// The most calls in flight after an admission in the open window.
    pub(crate) peak_in_flight: u32,
}

impl Stripes {
    pub(crate) fn new() -> Self {
        let stripes = Self {
            near: [const { OnceLock::new() }; NEAR],
            far: OnceLock::new(),
        };
        // Loom does not see that the standard library's `OnceLock` publishes what it holds, so a model's stripes, one for
        // each of its few threads, are made before its threads are.
        #[cfg(loom)]
        for place in &stripes.near[..4] {
            place.get_or_init(Box::default);
        }
        stripes
    }

    /// Adds to the calling thread's stripe what `change` makes: made where it is added, it is not in memory before.
    #[inline]
    pub(crate) fn add<C: Change>(&self, change: impl FnOnce() -> C) {
        let near = self.near.get(thread_slot::if_assigned());
        if let Some(stripe) = near.and_then(OnceLock::get) {
            change().apply(stripe);
        } else {
            self.add_farther(change());
        }
    }

    /// Like `add`, for all that is not on the path of most calls: out of it, so that it costs them no registers.
    #[cold]
    #[inline(never)]
    fn add_farther(&self, change: impl Change) {
        if let Some(place) = thread_slot::current().and_then(|slot| self.place(slot)) {
            change.apply(place.get_or_init(Box::default));
        } else {
            let far = self.far();
            let _one_at_a_time = lock(&far.shared);
            change.apply(&far.shared_stripe);
        }
    }

    fn place(&self, slot: usize) -> Option<&Place> {
        self.near.get(slot).or_else(|| self.far_place(slot))
    }

    fn far(&self) -> &Far {
        self.far.get_or_init(|| Box::new(Far::new()))
    }

    fn far_place(&self, slot: usize) -> Option<&Place> {
        // Slots 64 to 127, 128 to 255, …: the group is told by the highest bit.
        let group = slot.ilog2() - NEAR.ilog2();
        let first = NEAR << group;
        let places = self
            .far()
            .groups
            .get(group as usize)?
            .get_or_init(|| (0..first).map(|_| Place::new()).collect());
        places.get(slot - first)
    }

    fn all(&self) -> impl Iterator<Item = &Stripe> {
        let far = self.far.get();
        let groups = far
            .into_iter()
            .flat_map(|far| far.groups.iter().filter_map(OnceLock::get));
        let places = groups.flat_map(|places| places.iter());
        let own = self.near.iter().chain(places).filter_map(OnceLock::get);
        own.map(|stripe| &***stripe)
            .chain(far.map(|far| &*far.shared_stripe))
    }

    /// Adds up all stripes for a window that may close; `None` if a writer stays interrupted in the middle of a call.
    ///
    /// Takes the number of the open window. One caller at a time.
    pub(crate) fn read(&self, window: u64) -> Option<Reading> {
        let mut reading = Reading::default();
        for stripe in self.all() {
            let StripeReading {
                sums,
                peak,
                reached,
            } = stripe.read()?;
            if reached & WINDOW_MASK == window << 32 {
                reading.peak_in_flight = reading.peak_in_flight.max(reached as u32);
            }
            // A sample that was added while the last window closed may have kept that window's number on its peak, so
            // the peak counts whenever there are new samples. It can be too high then, never too low.
            if sums.samples() != stripe.seen.load(Ordering::Relaxed) {
                reading.max_in_flight = reading.max_in_flight.max(peak as u32);
            }
            stripe.read.store(sums.samples(), Ordering::Relaxed);
            reading.sums.add(&sums);
        }
        Some(reading)
    }

    /// Makes the last reading the end of a window. One caller at a time, the one that read.
    pub(crate) fn closed(&self) {
        for stripe in self.all() {
            stripe
                .seen
                .store(stripe.read.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Adds up all stripes, for someone who looks on.
    pub(crate) fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for stripe in self.all() {
            // A writer interrupted in the middle of a call leaves one call half added; to look on, that will do.
            sums.add(
                &stripe
                    .read()
                    .map_or_else(|| stripe.load(), |reading| reading.sums),
            );
        }
        sums
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn success(started: u64, ended: u64, in_flight: u32, window: u64) -> Success {
        Success(Call {
            started,
            ended,
            in_flight,
            window,
        })
    }

    fn admission(started: u64, in_flight: u32, window: u64) -> Admission {
        Admission {
            started,
            in_flight,
            window,
        }
    }

    #[test]
    fn what_admissions_reached_ends_with_their_window_also_when_its_number_wraps() {
        let stripes = Stripes::new();
        let last = u64::from(u32::MAX);
        for (window, in_flight) in [(0, 5), (0, 3), (1, 2), (last, 4), (last + 1, 1)] {
            stripes.add(|| admission(0, in_flight, window));
            let reached = if (window, in_flight) == (0, 3) {
                5
            } else {
                in_flight
            };
            assert_eq!(stripes.read(window).unwrap().peak_in_flight, reached);
            assert_eq!(stripes.read(window + 1).unwrap().peak_in_flight, 0);
        }
    }

    #[test]
    fn the_area_under_the_calls_in_flight_is_exact() {
        let stripes = Stripes::new();
        stripes.add(|| admission(10, 1, 0));
        stripes.add(|| admission(15, 2, 0));
        let at_20 = stripes.read(0).unwrap().sums;
        stripes.add(|| success(10, 30, 1, 0));
        stripes.add(|| admission(35, 2, 0));
        let at_40 = stripes.read(0).unwrap().sums;
        // Two calls from 20 to 30, one from 30 to 35, two from 35 to 40.
        assert_eq!(
            at_40.area(40).wrapping_sub(at_20.area(20)),
            2 * 10 + 5 + 2 * 5
        );
    }

    #[test]
    fn a_peak_ends_with_its_window() {
        let stripes = Stripes::new();
        stripes.add(|| success(0, 5, 9, 0));
        stripes.add(|| success(0, 6, 4, 0));
        assert_eq!(stripes.read(0).unwrap().max_in_flight, 9);
        stripes.closed();
        assert_eq!(stripes.read(0).unwrap().max_in_flight, 0);
        stripes.add(|| success(0, 7, 2, 1));
        assert_eq!(stripes.read(0).unwrap().max_in_flight, 2);
    }

    #[test]
    fn a_sample_added_while_the_window_closes_brings_its_peak_to_the_next() {
        let stripes = Stripes::new();
        stripes.add(|| success(0, 5, 3, 0));
        let reading = stripes.read(0).unwrap();
        stripes.add(|| success(0, 6, 8, 0));
        stripes.closed();
        let next = stripes.read(0).unwrap();
        assert_eq!(next.sums.since(&reading.sums).samples(), 1);
        assert_eq!(next.max_in_flight, 8);
    }

    #[test]
    fn counts_of_many_threads_add_up() {
        let stripes = Stripes::new();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for i in 0..1000 {
                        stripes.add(|| admission(i, 1, 0));
                        stripes.add(|| success(i, i + 10, 1, 0));
                    }
                });
            }
            for _ in 0..1000 {
                if let Some(reading) = stripes.read(0) {
                    assert_eq!(reading.sums.latency, 10 * reading.sums.successes);
                }
            }
        });
        let sums = stripes.sums();
        assert_eq!(
            (sums.admitted, sums.ended, sums.successes, sums.latency),
            (8000, 8000, 8000, 80_000)
        );
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn a_reader_sees_whole_calls_and_in_the_end_all_of_them() {
        let mut builder = loom::model::Builder::new();
        // More preemptions than this take a minute, and each fault that was put in for a try was found with less.
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let stripe = Arc::new(Stripe::default());
            let writer = {
                let stripe = stripe.clone();
                thread::spawn(move || {
                    for call in 0..2 {
                        let writing = stripe.begin();
                        add(&stripe.ended, 1);
                        add(&stripe.latency, 10 + call);
                        stripe.finish(writing);
                    }
                })
            };
            // On a thread of its own: loom tries no other order of a model whose first thread reads before it waits.
            let reader = {
                let stripe = stripe.clone();
                thread::spawn(move || {
                    if let Some(StripeReading { sums, .. }) = stripe.read() {
                        assert!(
                            matches!((sums.ended, sums.latency), (0, 0) | (1, 10) | (2, 21)),
                            "torn: {sums:?}"
                        );
                    }
                })
            };
            writer.join().unwrap();
            reader.join().unwrap();
            let sums = stripe.read().expect("no writer is left").sums;
            assert_eq!((sums.ended, sums.latency), (2, 21));
        });
    }
}
