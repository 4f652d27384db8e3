//! Lets one process at a time change what is loaded.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io;

/// Held while something is loaded, changed or removed.
pub(crate) struct Lock(#[expect(dead_code, reason = "unlocks when it is dropped")] Flock<File>);

impl Lock {
    /// Waits for the lock of a folder, which is made if there is none.
    pub(crate) fn take(folder: &str) -> io::Result<Lock> {
        fs::create_dir_all(folder)?;
        Flock::lock(File::open(folder)?, FlockArg::LockExclusive).map(Lock).map_err(|(_, errno)| errno.into())
    }
}
