//! The slots that calls in flight hold, and the limit on them.

use crate::sync::{AtomicU64, Ordering};

/// The calls in flight and the limit on them in one word, so that a call is admitted against the limit in force at that
/// very moment: never more than the limit are admitted, and none is turned away while a slot is free.
///
/// Bits 0 to 31 count the slots taken, some above them say what makes an admission another one than usual, and bits 43 to 63
/// hold the limit.
#[derive(Debug)]
pub(crate) struct Slots {
    word: AtomicU64,
    /// Calls in flight that hold no slot, since the limit was only observed when they came.
    beyond: AtomicU64,
    /// How many such calls there were.
    would_reject: AtomicU64,
}

/// One of the three below: all that a call at a limit that is simply in force has to look out for.
const UNUSUAL: u64 = 1 << 32;
/// The limit is switched off.
const OFF: u64 = 1 << 33;
/// The limit is observed only.
const OBSERVED: u64 = 1 << 34;
/// Somebody may be waiting for a slot: whoever gives one back hands it out, and nobody takes one past the queue.
const AWAITED: u64 = 1 << 35;
/// Calls that find no slot may wait for one.
const QUEUES: u64 = 1 << 36;
/// The limit is uppermost, where a shift is all that it takes to have it alone.
const LIMIT_SHIFT: u32 = 43;
const LIMIT_MASK: u64 = !0 << LIMIT_SHIFT;

/// How calls are admitted, besides by the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) enabled: bool,
    pub(crate) observed: bool,
    /// Whether calls that find no slot may wait for one.
    pub(crate) queues: bool,
}

impl Rules {
    fn bits(self) -> u64 {
        let bit = |on: bool, bit| if on { bit } else { 0 };
        bit(!self.enabled, OFF) | bit(self.observed, OBSERVED) | bit(self.queues, QUEUES)
    }
}

/// One reading of the word.
#[derive(Clone, Copy)]
struct Word(u64);

impl Word {
    fn in_flight(self) -> u32 {
        self.0 as u32
    }

    fn limit(self) -> u32 {
        (self.0 >> LIMIT_SHIFT) as u32
    }

    fn with_limit(self, limit: u32) -> Self {
        Self(self.0 & !LIMIT_MASK | u64::from(limit) << LIMIT_SHIFT)
    }

    fn with_rules(self, rules: Rules) -> Self {
        Self(self.0 & !(OFF | OBSERVED | QUEUES) | rules.bits()).summed_up()
    }

    fn with_awaited(self, awaited: bool) -> Self {
        let mark = if awaited { AWAITED } else { 0 };
        Self(self.0 & !AWAITED | mark).summed_up()
    }

    fn summed_up(self) -> Self {
        let unusual = self.0 & (OFF | OBSERVED | AWAITED) != 0;
        Self(self.0 & !UNUSUAL | if unusual { UNUSUAL } else { 0 })
    }

    fn full(self) -> Full {
        Full {
            limit: self.limit(),
            in_flight: self.in_flight(),
            queues: self.0 & QUEUES != 0,
        }
    }
}

/// The answer to a call that asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It holds one; the calls in flight now, itself included.
    Admitted { in_flight: u32 },
    /// The limit is observed only: the call passes though all slots are taken, and holds none.
    Beyond { in_flight: u32 },
    /// The limit is switched off: the call passes and is not counted.
    Off,
    /// All are taken.
    Full(Full),
}

/// What a call found that got no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) limit: u32,
    pub(crate) in_flight: u32,
    /// Whether it may wait for a slot.
    pub(crate) queues: bool,
}

/// What a call finds at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtOnce {
    Admitted {
        in_flight: u32,
    },
    Full(Full),
    /// Another thread was faster, so it has to ask again: who asks is spared a loop that it hardly ever goes round.
    Raced,
    /// The limit is not simply in force, or somebody waits in front.
    Unusual,
}

/// Who asks for a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// One that takes a slot only if none is rejected anyway.
    InPassing,
    /// The first of those who wait, or one that does not wait.
    First,
    /// One that waits if there is none.
    AndWaits,
}

impl Slots {
    pub(crate) fn new(limit: u32, rules: Rules) -> Self {
        Self {
            word: AtomicU64::new(Word(0).with_limit(limit).with_rules(rules).0),
            beyond: AtomicU64::new(0),
            would_reject: AtomicU64::new(0),
        }
    }

    /// Takes a slot if one is free, nobody waits for it and no other thread is faster. A full limit is answered from one
    /// load, without a write.
    #[inline]
    pub(crate) fn try_acquire(&self) -> AtOnce {
        let word = Word(self.word.load(Ordering::Relaxed));
        if word.0 & UNUSUAL != 0 {
            return AtOnce::Unusual;
        }
        if word.in_flight() >= word.limit() {
            return AtOnce::Full(word.full());
        }
        match self.take(word) {
            Ok(in_flight) => AtOnce::Admitted { in_flight },
            Err(_) => AtOnce::Raced,
        }
    }

    /// The same, again for as long as other threads are faster.
    #[inline]
    pub(crate) fn acquire(&self) -> AtOnce {
        loop {
            let found = self.try_acquire();
            if found != AtOnce::Raced {
                return found;
            }
        }
    }

    /// Takes a slot of those that this reading of the word shows to be free.
    #[inline]
    fn take(&self, word: Word) -> Result<u32, Word> {
        // Acquire: what the call before did in this slot happens before what this one does, as with a semaphore; pairs
        // with the release in `release`.
        match self
            .word
            .compare_exchange(word.0, word.0 + 1, Ordering::Acquire, Ordering::Relaxed)
        {
            Ok(_) => Ok(word.in_flight() + 1),
            Err(seen) => Err(Word(seen)),
        }
    }

    /// The answer to a call that would be [`AtOnce::Unusual`], if the limit is switched off or observed only; else
    /// [`Admission::Full`], whatever there is.
    pub(crate) fn pass(&self) -> Admission {
        self.ask(Asks::InPassing)
    }

    /// The answer to the first of those who wait, or to a call when nobody does: which of them it is the caller knows, who
    /// holds the queue's lock.
    pub(crate) fn acquire_first(&self) -> Admission {
        self.ask(Asks::First)
    }

    /// As [`acquire_first`](Self::acquire_first), for a call that waits if there is no slot: who gives one back knows it.
    pub(crate) fn acquire_or_await(&self) -> Admission {
        self.ask(Asks::AndWaits)
    }

    fn ask(&self, who: Asks) -> Admission {
        let mut word = Word(self.word.load(Ordering::Relaxed));
        loop {
            let observed = word.0 & OBSERVED != 0;
            if word.0 & OFF != 0 {
                return Admission::Off;
            }
            if who == Asks::InPassing && !observed {
                return Admission::Full(word.full());
            }
            let changed = if word.in_flight() < word.limit() {
                self.take(word).map(|slots| Admission::Admitted {
                    in_flight: slots + self.beyond(),
                })
            } else if observed {
                Ok(self.go_beyond(word))
            } else if who == Asks::AndWaits {
                self.awaits(word).map(|()| Admission::Full(word.full()))
            } else {
                Ok(Admission::Full(word.full()))
            };
            match changed {
                Ok(admission) => return admission,
                Err(seen) => word = seen,
            }
        }
    }

    /// Relaxed: nobody is admitted by these counts.
    fn go_beyond(&self, word: Word) -> Admission {
        self.would_reject.fetch_add(1, Ordering::Relaxed);
        let beyond = self.beyond.fetch_add(1, Ordering::Relaxed) as u32 + 1;
        let in_flight = word.in_flight() + beyond;
        Admission::Beyond { in_flight }
    }

    /// Has whoever gives a slot back hand it out. Relaxed, since the queue's lock orders the rest.
    fn awaits(&self, word: Word) -> Result<(), Word> {
        self.word
            .compare_exchange_weak(
                word.0,
                word.with_awaited(true).0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .map(drop)
            .map_err(Word)
    }

    /// Notes that nobody waits. The caller holds the queue's lock.
    pub(crate) fn nobody_waits(&self) {
        self.update(|word| word.with_awaited(false));
    }

    /// Whether somebody may be waiting.
    #[inline]
    pub(crate) fn awaited(&self) -> bool {
        self.word.load(Ordering::Relaxed) & AWAITED != 0
    }

    /// Gives back a slot that an [`Admission::Admitted`] stands for; only once for each. Returns whether somebody may be
    /// waiting for it.
    #[inline]
    pub(crate) fn release(&self) -> bool {
        // Cannot borrow from the limit's bits: each release stands for one admission.
        let before = self.word.fetch_sub(1, Ordering::Release);
        debug_assert_ne!(Word(before).in_flight(), 0, "a slot was given back twice");
        before & AWAITED != 0
    }

    /// Ends a call that an [`Admission::Beyond`] stands for; only once for each.
    pub(crate) fn release_beyond(&self) {
        let before = self.beyond.fetch_sub(1, Ordering::Relaxed);
        debug_assert_ne!(before, 0, "a call beyond the limit ended twice");
    }

    /// Sets the limit and returns the one before. Calls that run above it finish. If somebody waits, what it makes room for
    /// is for the caller to hand out.
    pub(crate) fn set_limit(&self, limit: u32) -> u32 {
        self.update(|word| word.with_limit(limit)).limit()
    }

    /// Sets how calls are admitted from now on. Calls that hold a slot give it back, those that hold none do not.
    pub(crate) fn set_rules(&self, rules: Rules) {
        self.update(|word| word.with_rules(rules));
    }

    fn update(&self, change: impl Fn(Word) -> Word) -> Word {
        let mut word = Word(self.word.load(Ordering::Relaxed));
        loop {
            // Relaxed: the word carries all there is to know; nothing else is published by it.
            match self.word.compare_exchange_weak(
                word.0,
                change(word).0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return word,
                Err(seen) => word = Word(seen),
            }
        }
    }

    pub(crate) fn limit(&self) -> u32 {
        Word(self.word.load(Ordering::Relaxed)).limit()
    }

    /// The calls in flight, those beyond the limit included.
    pub(crate) fn in_flight(&self) -> u32 {
        Word(self.word.load(Ordering::Relaxed)).in_flight() + self.beyond()
    }

    fn beyond(&self) -> u32 {
        self.beyond.load(Ordering::Relaxed) as u32
    }

    pub(crate) fn would_reject(&self) -> u64 {
        self.would_reject.load(Ordering::Relaxed)
    }

    pub(crate) fn enabled(&self) -> bool {
        self.word.load(Ordering::Relaxed) & OFF == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SIMPLY: Rules = Rules {
        enabled: true,
        observed: false,
        queues: false,
    };

    fn simply(limit: u32) -> Slots {
        Slots::new(limit, SIMPLY)
    }

    fn full(limit: u32, in_flight: u32) -> AtOnce {
        AtOnce::Full(Full {
            limit,
            in_flight,
            queues: false,
        })
    }

    #[test]
    fn an_observed_limit_counts_apart_what_it_would_reject() {
        let observed = |observed| Rules { observed, ..SIMPLY };
        let slots = Slots::new(1, observed(true));
        let mut admissions = (1..=3).map(|_| slots.acquire_first());
        assert_eq!(
            admissions.next(),
            Some(Admission::Admitted { in_flight: 1 })
        );
        assert_eq!(admissions.next(), Some(Admission::Beyond { in_flight: 2 }));
        assert_eq!(admissions.next(), Some(Admission::Beyond { in_flight: 3 }));
        assert_eq!((slots.in_flight(), slots.would_reject()), (3, 2));
        // Who holds none makes no room.
        slots.release_beyond();
        assert_eq!(slots.acquire_first(), Admission::Beyond { in_flight: 3 });
        slots.set_rules(observed(false));
        assert_eq!(slots.try_acquire(), full(1, 1));
        slots.release();
        slots.release_beyond();
        slots.release_beyond();
        assert_eq!((slots.in_flight(), slots.would_reject()), (0, 3));
    }

    #[test]
    fn a_limit_below_the_calls_in_flight_rejects_until_enough_have_ended() {
        let slots = simply(3);
        for in_flight in 1..=3 {
            assert_eq!(slots.try_acquire(), AtOnce::Admitted { in_flight });
        }
        assert_eq!(slots.set_limit(1), 3);
        assert_eq!(slots.try_acquire(), full(1, 3));
        slots.release();
        slots.release();
        assert_eq!(slots.try_acquire(), full(1, 1));
        slots.release();
        assert_eq!(slots.try_acquire(), AtOnce::Admitted { in_flight: 1 });
    }

    #[test]
    fn the_largest_limit_and_the_switch_do_not_touch_each_other() {
        let mut rules = SIMPLY;
        rules.enabled = false;
        let slots = Slots::new(super::super::algorithm::Bounds::MAX, rules);
        assert_eq!((slots.limit(), slots.enabled()), (1_000_000, false));
        assert_eq!(slots.try_acquire(), AtOnce::Unusual);
        assert_eq!(slots.acquire_first(), Admission::Off);
        slots.set_limit(7);
        assert_eq!(
            (slots.limit(), slots.in_flight(), slots.enabled()),
            (7, 0, false)
        );
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn simply(limit: u32) -> Slots {
        let rules = Rules {
            enabled: true,
            observed: false,
            queues: false,
        };
        Slots::new(limit, rules)
    }

    #[test]
    fn never_more_than_the_limit_hold_a_slot_and_none_is_turned_away_while_one_is_free() {
        loom::model(|| {
            let slots = Arc::new(simply(2));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let slots = slots.clone();
                    thread::spawn(move || {
                        // Two callers within a limit of two: a rejection would be a spurious one.
                        let AtOnce::Admitted { in_flight } = slots.acquire() else {
                            panic!("rejected")
                        };
                        assert!((1..=2).contains(&in_flight));
                        slots.release();
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(slots.in_flight(), 0);
        });
    }

    #[test]
    fn one_slot_is_held_by_one_caller_at_a_time() {
        loom::model(|| {
            let slots = Arc::new(simply(1));
            let holders = Arc::new(loom::cell::UnsafeCell::new(0));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (slots, holders) = (slots.clone(), holders.clone());
                    thread::spawn(move || {
                        if let AtOnce::Admitted { .. } = slots.acquire() {
                            // Loom fails the model if two callers could be here at once.
                            holders.with_mut(|_| ());
                            slots.release();
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(slots.in_flight(), 0);
        });
    }

    #[test]
    fn a_limit_set_while_calls_come_and_go_holds_and_loses_no_count() {
        loom::model(|| {
            let slots = Arc::new(simply(2));
            let caller = {
                let slots = slots.clone();
                thread::spawn(move || {
                    if let AtOnce::Admitted { .. } = slots.acquire() {
                        slots.release();
                    }
                })
            };
            let setter = {
                let slots = slots.clone();
                thread::spawn(move || {
                    slots.set_limit(1);
                    if let AtOnce::Admitted { in_flight } = slots.acquire() {
                        assert_eq!(in_flight, 1, "admitted above the limit of 1");
                        slots.release();
                    }
                })
            };
            setter.join().unwrap();
            caller.join().unwrap();
            assert_eq!((slots.in_flight(), slots.limit()), (0, 1));
        });
    }
}
