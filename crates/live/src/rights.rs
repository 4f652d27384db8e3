//! Dropping privileges.

use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use std::io;

/// User and group 65534, which own nothing.
const NOBODY: u32 = 65_534;

/// Becomes nobody, if this process runs as root.
///
/// # Errors
/// The kernel's.
pub fn be_nobody() -> io::Result<()> {
    if geteuid().is_root() {
        let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
    }
    Ok(())
}

/// Becomes nobody, if this process runs as root, and drops all capabilities but `kept`. Open devices and files stay
/// open, and nothing else is in reach. Call it while there is one thread.
///
/// # Errors
/// The kernel's.
pub fn become_nobody(kept: &[Capability]) -> io::Result<()> {
    prctl::set_keepcaps(true)?;
    be_nobody()?;
    prctl::set_keepcaps(false)?;
    keep_only(kept)
}

/// Drops all capabilities but `kept`, for good, in this thread and in those that it starts.
///
/// # Errors
/// The kernel's.
pub fn keep_only(kept: &[Capability]) -> io::Result<()> {
    let keep = || -> Result<(), caps::errors::CapsError> {
        let permitted = caps::read(None, CapSet::Permitted)?;
        let kept: CapsHashSet = kept.iter().copied().filter(|kept| permitted.contains(kept)).collect();
        caps::clear(None, CapSet::Inheritable)?;
        caps::set(None, CapSet::Effective, &kept)?;
        caps::set(None, CapSet::Permitted, &kept)
    };
    keep().map_err(io::Error::other)?;
    Ok(prctl::set_no_new_privs()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_keeps_what_it_is_told_and_had_and_the_others_all() {
        let permitted = || caps::read(None, CapSet::Permitted).unwrap();
        let before = permitted();
        let asked = [Capability::CAP_NET_RAW];
        let left = thread::scope(|scope| {
            let thread = scope.spawn(|| {
                keep_only(&asked).unwrap();
                permitted()
            });
            thread.join().unwrap()
        });
        assert_eq!(left, before.iter().copied().filter(|one| asked.contains(one)).collect());
        assert_eq!(permitted(), before);
    }
}
