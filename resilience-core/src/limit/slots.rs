//! The slots that calls in flight hold, and the limit on them.

use crate::sync::{AtomicU64, Ordering};

/// The calls in flight and the limit on them in one word, so that a call is admitted against the limit in force at that
/// very moment: never more than the limit are admitted, and none is turned away while a slot is free.
///
/// Bits 0 to 31 count the calls in flight, bits 32 to 62 hold the limit, bit 63 says that the limit is switched off.
#[derive(Debug)]
pub(crate) struct Slots(AtomicU64);

const LIMIT_SHIFT: u32 = 32;
const OFF: u64 = 1 << 63;
const LIMIT_MASK: u64 = !OFF >> LIMIT_SHIFT << LIMIT_SHIFT;

/// One reading of the word.
#[derive(Clone, Copy)]
struct Word(u64);

impl Word {
    fn in_flight(self) -> u32 {
        self.0 as u32
    }

    fn limit(self) -> u32 {
        ((self.0 & LIMIT_MASK) >> LIMIT_SHIFT) as u32
    }

    fn with_limit(self, limit: u32) -> Self {
        Self(self.0 & !LIMIT_MASK | u64::from(limit) << LIMIT_SHIFT & LIMIT_MASK)
    }

    fn with_off(self, off: bool) -> Self {
        Self(if off { self.0 | OFF } else { self.0 & !OFF })
    }
}

/// The answer to a call that asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It holds one; the calls in flight now, itself included.
    Admitted { in_flight: u32 },
    /// The limit is switched off: the call passes and holds nothing.
    Off,
    /// All are taken.
    Full { limit: u32, in_flight: u32 },
}

impl Slots {
    pub(crate) fn new(limit: u32, enabled: bool) -> Self {
        Self(AtomicU64::new(
            Word(0).with_limit(limit).with_off(!enabled).0,
        ))
    }

    /// Takes a slot if one is free. A full limit is answered from one load, without a write.
    #[inline]
    pub(crate) fn try_acquire(&self) -> Admission {
        let mut word = Word(self.0.load(Ordering::Relaxed));
        loop {
            if word.0 & OFF != 0 {
                return Admission::Off;
            }
            if word.in_flight() >= word.limit() {
                return Admission::Full {
                    limit: word.limit(),
                    in_flight: word.in_flight(),
                };
            }
            // Acquire: what the call before did in this slot happens before what this one does, as with a semaphore;
            // pairs with the release in `release`.
            match self.0.compare_exchange_weak(
                word.0,
                word.0 + 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    return Admission::Admitted {
                        in_flight: word.in_flight() + 1,
                    };
                }
                Err(seen) => word = Word(seen),
            }
        }
    }

    /// Gives back a slot that an [`Admission::Admitted`] stands for; only once for each.
    #[inline]
    pub(crate) fn release(&self) {
        // Cannot borrow from the limit's bits: each release stands for one admission.
        let before = self.0.fetch_sub(1, Ordering::Release);
        debug_assert_ne!(Word(before).in_flight(), 0, "a slot was given back twice");
    }

    /// Sets the limit and returns the one before. Calls that run above it finish.
    pub(crate) fn set_limit(&self, limit: u32) -> u32 {
        self.update(|word| word.with_limit(limit)).limit()
    }

    /// Switches the limit on or off. Calls that hold a slot give it back, those let through while it was off hold none.
    pub(crate) fn set_enabled(&self, enabled: bool) {
        self.update(|word| word.with_off(!enabled));
    }

    fn update(&self, change: impl Fn(Word) -> Word) -> Word {
        let mut word = Word(self.0.load(Ordering::Relaxed));
        loop {
            // Relaxed: the word carries all there is to know; nothing else is published by it.
            match self.0.compare_exchange_weak(
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
        Word(self.0.load(Ordering::Relaxed)).limit()
    }

    pub(crate) fn in_flight(&self) -> u32 {
        Word(self.0.load(Ordering::Relaxed)).in_flight()
    }

    pub(crate) fn enabled(&self) -> bool {
        self.0.load(Ordering::Relaxed) & OFF == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_limit_below_the_calls_in_flight_rejects_until_enough_have_ended() {
        let slots = Slots::new(3, true);
        for in_flight in 1..=3 {
            assert_eq!(slots.try_acquire(), Admission::Admitted { in_flight });
        }
        assert_eq!(slots.set_limit(1), 3);
        assert_eq!(
            slots.try_acquire(),
            Admission::Full {
                limit: 1,
                in_flight: 3
            }
        );
        slots.release();
        slots.release();
        assert_eq!(
            slots.try_acquire(),
            Admission::Full {
                limit: 1,
                in_flight: 1
            }
        );
        slots.release();
        assert_eq!(slots.try_acquire(), Admission::Admitted { in_flight: 1 });
    }

    #[test]
    fn the_largest_limit_and_the_switch_do_not_touch_each_other() {
        let slots = Slots::new(super::super::algorithm::Bounds::MAX, false);
        assert_eq!((slots.limit(), slots.enabled()), (1_000_000, false));
        assert_eq!(slots.try_acquire(), Admission::Off);
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

    #[test]
    fn never_more_than_the_limit_hold_a_slot_and_none_is_turned_away_while_one_is_free() {
        loom::model(|| {
            let slots = Arc::new(Slots::new(2, true));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let slots = slots.clone();
                    thread::spawn(move || {
                        // Two callers within a limit of two: a rejection would be a spurious one.
                        let Admission::Admitted { in_flight } = slots.try_acquire() else {
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
            let slots = Arc::new(Slots::new(1, true));
            let holders = Arc::new(loom::cell::UnsafeCell::new(0));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (slots, holders) = (slots.clone(), holders.clone());
                    thread::spawn(move || {
                        if let Admission::Admitted { .. } = slots.try_acquire() {
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
            let slots = Arc::new(Slots::new(2, true));
            let caller = {
                let slots = slots.clone();
                thread::spawn(move || {
                    if let Admission::Admitted { .. } = slots.try_acquire() {
                        slots.release();
                    }
                })
            };
            let setter = {
                let slots = slots.clone();
                thread::spawn(move || {
                    slots.set_limit(1);
                    if let Admission::Admitted { in_flight } = slots.try_acquire() {
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
