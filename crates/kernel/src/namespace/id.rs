//! Identifies a network namespace, so that any process can undo settings there.

use super::{Namespace, OWN, with_context};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why nothing can be done in a namespace.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NamespaceError(io::Error);

/// A namespace's numbers. They are reused when it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceId {
    device: u64,
    inode: u64,
}

impl NamespaceId {
    /// This thread's namespace.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn current() -> Result<NamespaceId, NamespaceError> {
        NamespaceId::at(Path::new(OWN)).map_err(|error| NamespaceError(with_context(error, OWN)))
    }

    /// The namespace with this number, which may not exist.
    ///
    /// # Errors
    /// /proc is not mounted.
    pub fn of_inode(inode: u64) -> Result<NamespaceId, NamespaceError> {
        Ok(NamespaceId { inode, ..NamespaceId::current()? })
    }

    /// The number that the kernel's tools show.
    #[must_use]
    pub fn inode(self) -> u64 {
        self.inode
    }

    /// Does `work` in the namespace; `None` if it is gone.
    ///
    /// # Errors
    /// Those of `work`, or the namespace cannot be entered.
    pub fn within<T: Send, E: From<NamespaceError> + Send>(
        self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<Option<T>, E> {
        if NamespaceId::current()? == self {
            return work().map(Some);
        }
        let Some(namespace) = self.open() else { return Ok(None) };
        namespace.run(work).map_err(NamespaceError)?.map(Some)
    }

    fn at(path: &Path) -> io::Result<NamespaceId> {
        let found = fs::metadata(path)?;
        Ok(NamespaceId { device: found.dev(), inode: found.ino() })
    }

    /// Opens a file by which the namespace can be entered: one of a thread that is in it or holds it open, or
    /// one that `ip netns` has mounted.
    fn open(self) -> Option<Namespace> {
        let tasks = list(Path::new("/proc")).flat_map(|process| list(&process.join("task")));
        let inside = tasks.map(|task| task.join("ns/net"));
        let held = list(Path::new("/proc")).flat_map(|process| list(&process.join("fd")));
        let is_it = |path: &PathBuf| NamespaceId::at(path).is_ok_and(|found| found == self);
        inside
            .chain(list(Path::new("/run/netns")))
            .chain(held)
            .filter(is_it)
            .find_map(|path| File::open(path).ok())
            .map(Namespace)
    }
}

fn list(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
