//! What makes the kernel wake a thread in time, and what the process no longer needs once it has that.

use caps::CapSet;
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use std::io;

/// Above what is not real-time, below the kernel's own threads.
const PRIORITY: i32 = 10;

/// User and group 65534, which own nothing.
const NOBODY: u32 = 65_534;

/// Has the kernel wake this thread without slack, and before all that is not real-time (SCHED_FIFO). Answers whether it
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

/// Becomes nobody, if this process is root's, and gives up all capabilities: its devices and files stay open, and nothing
/// else is in reach. Call it while there is one thread.
///
/// # Errors
/// The kernel's.
pub fn become_nobody() -> io::Result<()> {
    if geteuid().is_root() {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
    }
    for set in [CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        caps::clear(None, set).map_err(io::Error::other)?;
    }
    prctl::set_no_new_privs()?;
    Ok(())
}
