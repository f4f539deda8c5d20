//! A small dense number for each live thread, so that per-thread data can sit in an array.
//!
//! A number is given back when its thread ends and goes to the next new thread, lowest first. The hand-over passes
//! through a mutex, so what the old owner wrote happens before what the new owner writes: data indexed by the number
//! has one writer at a time.

#[cfg(loom)]
pub(crate) use modelled::{current, if_assigned};
#[cfg(not(loom))]
pub(crate) use real::{current, if_assigned};

#[cfg(not(loom))]
mod real {
    use std::cell::Cell;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::sync::{Mutex, PoisonError};

    const UNASSIGNED: usize = usize::MAX;
    const ENDED: usize = usize::MAX - 1;

    thread_local! {
        // Constant and without a destructor: reading it is one load from the thread pointer.
        static SLOT: Cell<usize> = const { Cell::new(UNASSIGNED) };
        static GUARD: Guard = const { Guard };
    }

    struct Pool {
        free: BinaryHeap<Reverse<usize>>,
        next: usize,
    }

    static POOL: Mutex<Pool> = Mutex::new(Pool {
        free: BinaryHeap::new(),
        next: 0,
    });

    /// Gives the thread's number back when the thread ends.
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            let slot = SLOT.replace(ENDED);
            if slot < ENDED {
                POOL.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .free
                    .push(Reverse(slot));
            }
        }
    }

    /// Returns the calling thread's number if it has one by now, else one that is larger than any.
    #[inline]
    pub(crate) fn if_assigned() -> usize {
        SLOT.get()
    }

    /// Returns the calling thread's number, or `None` in a destructor that runs while the thread ends.
    pub(crate) fn current() -> Option<usize> {
        match SLOT.get() {
            UNASSIGNED => assign(),
            ENDED => None,
            slot => Some(slot),
        }
    }

    fn assign() -> Option<usize> {
        // Registers the destructor; fails if the thread's destructors are running already.
        GUARD.try_with(|_| ()).ok()?;
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = pool.free.pop().map_or_else(
            || {
                pool.next += 1;
                pool.next - 1
            },
            |Reverse(slot)| slot,
        );
        SLOT.set(slot);
        Some(slot)
    }
}

/// Loom's threads share one thread of the system, so they are told apart by loom's own means. Numbers are not reused.
#[cfg(loom)]
mod modelled {
    use loom::sync::atomic::{AtomicUsize, Ordering};

    loom::lazy_static! {
        static ref NEXT: AtomicUsize = AtomicUsize::new(0);
    }
    loom::thread_local! {
        static SLOT: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn if_assigned() -> usize {
        SLOT.with(|slot| *slot)
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the real one has none for an ending thread"
    )]
    pub(crate) fn current() -> Option<usize> {
        Some(if_assigned())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn live_threads_have_distinct_numbers_and_a_thread_keeps_its_own() {
        let barrier = std::sync::Barrier::new(8);
        let mut slots: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let slot = current().unwrap();
                        barrier.wait();
                        assert_eq!(current(), Some(slot));
                        slot
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), 8);
    }

    #[test]
    fn ended_threads_give_their_numbers_to_new_ones() {
        let highest = (0..1000)
            .map(|_| std::thread::spawn(|| current().unwrap()).join().unwrap())
            .max();
        // Other tests' threads have numbers too, but not that many at once.
        assert!(highest < Some(500), "{highest:?}");
    }

    #[test]
    fn a_destructor_of_the_ending_thread_may_ask_too() {
        struct Late(std::sync::mpsc::Sender<Option<usize>>);
        impl Drop for Late {
            fn drop(&mut self) {
                let _ = self.0.send(current());
            }
        }
        thread_local!(static LATE: Cell<Option<Late>> = const { Cell::new(None) });
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            // Destructors run in an order of the platform's; before or after the guard, the answer must be sound.
            LATE.set(Some(Late(sender)));
            current().unwrap()
        })
        .join()
        .unwrap();
        assert!(matches!(receiver.recv(), Ok(Some(_) | None)));
    }
}
