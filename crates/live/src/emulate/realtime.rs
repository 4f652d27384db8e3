//! What makes the kernel wake a thread in time.

use nix::sys::prctl;

/// Above what is not real-time, below the kernel's own threads.
const PRIORITY: i32 = 10;

/// Has the kernel wake this thread without slack, and before all that is not real-time (SCHED_FIFO). Returns whether it
/// may have the latter; it works without, and is late more often then.
#[allow(unsafe_code, reason = "sched_setscheduler(2), for which the system call library has no words")]
pub fn be_on_time() -> bool {
    // Slack is a matter of energy: 50 µs unless one asks.
    let _ = prctl::set_timerslack(1);
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: the parameters live until the call returns. Thread 0 is this one.
    let done = unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters)
    };
    done == 0
}
