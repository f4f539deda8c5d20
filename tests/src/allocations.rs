//! Counts the allocations of the calling thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant and without a destructor, so that reading it allocates nothing and works while a thread ends.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

fn note(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    keep(bytes as i64);
}

fn keep(bytes: i64) {
    BYTES.set(BYTES.get() + bytes);
}

/// The system's allocator, counted. Make it the `#[global_allocator]` of a test or benchmark.
#[derive(Debug)]
pub struct Counting;

// SAFETY: everything is handed on to the system's allocator as it came.
#[expect(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        keep(-(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        keep(-(layout.size() as i64));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns how often the calling thread allocates while it runs `run`; 0 without [`Counting`] in place.
pub fn count(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

/// Returns how many bytes more the calling thread holds than before it runs `run`, less what it frees of others.
pub fn kept<R>(run: impl FnOnce() -> R) -> (R, i64) {
    let before = BYTES.get();
    let result = run();
    (result, BYTES.get() - before)
}
