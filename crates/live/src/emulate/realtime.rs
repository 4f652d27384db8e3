//! Makes the kernel wake a thread in time.

use nix::sys::prctl;

/// Above everything that is not real-time, below the kernel's own threads.
const PRIORITY: i32 = 10;

/// Makes the kernel wake this thread without slack, and before everything that is not real-time (SCHED_FIFO). Returns
/// whether the latter is allowed. Without it, the thread wakes late more often.
#[allow(unsafe_code, reason = "sched_setscheduler(2), for which the system call library has no words")]
pub fn be_on_time() -> bool {
    // The default slack of 50 µs saves energy.
    let _ = prctl::set_timerslack(1);
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the parameters live until the call returns. Thread 0 is this one.
    let done = unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters)
    };
    done == 0
}
