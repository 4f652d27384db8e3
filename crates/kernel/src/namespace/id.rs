//! Identifies a network namespace, so that any process can undo settings there.

use super::{Namespace, OWN, with_context};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How the kernel names network namespaces as files.
const KIND: &str = "net:[";

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

    fn open(self) -> Option<Namespace> {
        let is_it = |path: &PathBuf| NamespaceId::at(path).is_ok_and(|found| found == self);
        places().filter(is_it).find_map(|path| File::open(path).ok()).map(Namespace)
    }
}

/// All network namespaces that this process can enter. Those that only processes of an outer PID namespace know are
/// not among them.
pub fn all() -> impl Iterator<Item = Namespace> {
    let mut seen = BTreeSet::new();
    let new = move |path: &PathBuf| {
        NamespaceId::at(path).is_ok_and(|found| seen.insert((found.device, found.inode)))
    };
    places().filter(new).filter_map(|path| File::open(path).ok()).map(Namespace)
}

/// Files by which network namespaces can be entered: those of threads that are in one or hold one open, and those that
/// are mounted, as `ip netns` does, in some process's mount namespace.
fn places() -> impl Iterator<Item = PathBuf> {
    let threads = processes().flat_map(|process| list(&process.join("task")));
    let held = processes().flat_map(|process| list(&process.join("fd")));
    let is_namespace =
        |path: &PathBuf| fs::read_link(path).is_ok_and(|to| to.to_string_lossy().starts_with(KIND));
    threads.map(|thread| thread.join("ns/net")).chain(mounted()).chain(held.filter(is_namespace))
}

fn mounted() -> impl Iterator<Item = PathBuf> {
    let mut seen = BTreeSet::new();
    let new =
        move |process: &PathBuf| fs::metadata(process.join("ns/mnt")).is_ok_and(|mnt| seen.insert(mnt.ino()));
    processes().filter(new).flat_map(|process| {
        let mounts = fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
        let places =
            mounts.lines().filter_map(|line| namespace_mounted(line).map(str::to_owned)).collect::<Vec<_>>();
        places.into_iter().map(move |place| process.join("root").join(place.trim_start_matches('/')))
    })
}

/// Where a line of mountinfo mounts a network namespace (proc_pid_mountinfo(5): the fourth and the fifth field).
fn namespace_mounted(line: &str) -> Option<&str> {
    let mut fields = line.split(' ').skip(3);
    fields.next().filter(|root| root.starts_with(KIND)).and_then(|_| fields.next())
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let is_process =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit());
    list(Path::new("/proc")).filter(is_process)
}

fn list(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
