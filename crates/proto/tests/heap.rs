//! An allocator that counts what each thread takes from it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static TAKEN: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

#[allow(unsafe_code, reason = "passes on to the system's allocator")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        TAKEN.set(TAKEN.get() + layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.set(TAKEN.get() - layout.size() as i64);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations by this thread so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Bytes that this thread has taken and not given back.
pub fn taken() -> i64 {
    TAKEN.get()
}
