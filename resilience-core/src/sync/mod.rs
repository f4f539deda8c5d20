//! The one switch between the standard library's primitives and loom's. What the models check imports from here.

mod padded;
pub(crate) mod thread;
pub(crate) mod thread_slot;

pub(crate) use padded::Padded;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::TryLockError;

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering, fence},
};

/// Locks a mutex whose data stays valid through a panic of its holder.
///
/// Everything kept under a lock in this crate is either replaced as a whole or guarded by a `catch_unwind` of its
/// own, so poisoning carries no information.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Like [`lock`], but `None` if another thread holds the lock now.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Runs foreign code so that a panic in it stays in it; `None` if it panicked. The panic hook has reported it then.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    // What the foreign code left half changed is its author's to bear; nothing of ours is.
    let payload = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => return Some(value),
        Err(payload) => payload,
    };
    // What it panicked with is foreign too.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(payload);
    }
    None
}

/// Waits a moment in a loop that another thread is about to end.
pub(crate) fn spin() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}
