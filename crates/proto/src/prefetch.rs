//! Asking for memory before it is needed.
//!
//! With thousands of connections each event touches one that no cache holds any more. But links know what comes out of
//! them next, so that the processor can fetch that while it works on what comes first.

use std::ops::Range;

/// Bytes that a cache fetches at once.
const LINE: usize = 64;

/// Fetches all of a value into the nearest cache. Changes nothing but speed.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_part(value, 0..size_of_val(value));
}

/// The same of these bytes of a value.
#[inline]
pub fn prefetch_part<T: ?Sized>(value: &T, part: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        for line in part.step_by(LINE) {
            #[allow(unsafe_code, reason = "a prefetch is a hint: it reads nothing and faults on nothing")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, part);
}
