//! Network namespaces: what was set in one is undone there, whoever undoes it.

use nix::sched::{CloneFlags, setns};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{panic, thread};

const OWN: &str = "/proc/thread-self/ns/net";

/// Why there is nothing to be done in a namespace.
#[derive(Debug, thiserror::Error)]
#[error("cannot {0} network namespace: {1}")]
pub struct NamespaceError(&'static str, io::Error);

/// Which one. Numbers are given anew when a namespace has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    device: u64,
    inode: u64,
}

impl Namespace {
    /// This thread's.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn current() -> Result<Namespace, NamespaceError> {
        Namespace::at(Path::new(OWN)).map_err(|error| NamespaceError("tell this", error))
    }

    /// The number that the kernel's tools show.
    #[must_use]
    pub fn inode(self) -> u64 {
        self.inode
    }

    /// Does `work` there; `None`: it is gone.
    ///
    /// # Errors
    /// Those of `work`; it must not be entered.
    pub fn within<T: Send, E: From<NamespaceError> + Send>(
        self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<Option<T>, E> {
        if Namespace::current()? == self {
            return work().map(Some);
        }
        let Some(door) = self.door() else { return Ok(None) };
        let inside = || {
            setns(&door, CloneFlags::CLONE_NEWNET)
                .map_err(|error| NamespaceError("enter a", error.into()))?;
            work()
        };
        let done = thread::scope(|scope| scope.spawn(inside).join());
        done.unwrap_or_else(|panic| panic::resume_unwind(panic)).map(Some)
    }

    fn at(path: &Path) -> io::Result<Namespace> {
        let found = fs::metadata(path)?;
        Ok(Namespace { device: found.dev(), inode: found.ino() })
    }

    /// A file by which it can be entered: of a thread that is in it or holds it open, or one that `ip netns` has mounted.
    fn door(self) -> Option<File> {
        let tasks = list(Path::new("/proc")).flat_map(|process| list(&process.join("task")));
        let inside = tasks.map(|task| task.join("ns/net"));
        let held = list(Path::new("/proc")).flat_map(|process| list(&process.join("fd")));
        let is_it = |path: &PathBuf| Namespace::at(path).is_ok_and(|found| found == self);
        inside
            .chain(list(Path::new("/run/netns")))
            .chain(held)
            .filter(is_it)
            .find_map(|path| File::open(path).ok())
    }
}

fn list(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
