//! Network namespaces: what was set in one is undone there, whoever undoes it.

use crate::cc::CcError;
use nix::sched::{CloneFlags, setns};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

const OWN: &str = "/proc/thread-self/ns/net";

/// Which one. Numbers are given anew when a namespace has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    device: u64,
    inode: u64,
}

impl Namespace {
    /// This thread's.
    pub fn current() -> Result<Namespace, CcError> {
        Namespace::at(Path::new(OWN)).map_err(CcError::io("tell this network namespace"))
    }

    /// Does `work` there; `None`: it is gone.
    pub fn within<T: Send>(
        self,
        work: impl FnOnce() -> Result<T, CcError> + Send,
    ) -> Result<Option<T>, CcError> {
        if Namespace::current()? == self {
            return work().map(Some);
        }
        let Some(door) = self.door() else { return Ok(None) };
        let enter = || setns(&door, CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
        thread::scope(|scope| {
            let inside = scope
                .spawn(|| enter().map_err(CcError::io("enter a network namespace")).and_then(|()| work()));
            inside.join().expect("nothing there panics").map(Some)
        })
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
