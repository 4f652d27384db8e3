//! Congestion controls in the running kernel, by the library and by `airtcpd cc`. Needs root and a kernel with struct_ops;
//! skipped elsewhere.

mod apply;
mod daemon;
mod errors;
mod leaks;
mod objects;
mod sharing;
mod sockets;

use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};

/// What these tests change is the whole kernel's: one at a time, whichever process runs it.
pub struct Kernel(#[expect(dead_code, reason = "unlocks when it is dropped")] Flock<File>);

impl Kernel {
    /// `None`: not permitted here, which is said.
    pub fn take() -> Option<Kernel> {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: loading congestion controls needs root");
            return None;
        }
        fs::create_dir_all("/run/airtcp").unwrap();
        let file = File::create("/run/airtcp/test.lock").unwrap();
        Flock::lock(file, FlockArg::LockExclusive).map(Kernel).ok()
    }

    /// A name that no other process uses.
    pub fn name(&self, suffix: &str) -> String {
        format!("t{}_{suffix}", std::process::id())
    }
}
