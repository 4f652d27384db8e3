//! Memory of this process.

/// Gives memory that was freed back to the host. An allocator keeps most of it otherwise.
#[allow(unsafe_code, reason = "only glibc has it, and needs it")]
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes no pointer, and is safe beside other threads (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}
