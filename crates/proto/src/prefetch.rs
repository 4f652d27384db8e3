//! Fetching memory before it is needed.
//!
//! With thousands of connections, each event touches one that is no longer in any cache. But links know which packets come out next, so the
//! processor can fetch what these need while it works on others.

use std::ops::Range;

/// Fetches all of a value into the nearest cache. This affects only speed.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    prefetch_part(value, 0..size_of_val(value));
}

/// Fetches these bytes of a value into the nearest cache.
#[inline]
pub fn prefetch_part<T: ?Sized>(value: &T, part: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// Bytes of a cache line.
        const LINE: usize = 64;
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
