//! Lets one process at a time change what is loaded, and leaves no empty folder behind.

use super::{bpffs, folder};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder of all records.
const RECORDS: &str = "/run/airtcp";

/// Held while something of one kind is loaded, changed or removed. At its end, the kind's folders go if nothing is left in
/// them.
pub(crate) struct Lock {
    /// Where the kind's records are, and where its pins.
    folders: [PathBuf; 2],
    #[expect(dead_code, reason = "unlocks when it is dropped, after the folders are gone")]
    held: Flock<File>,
}

impl Lock {
    /// Waits for the lock of a kind, which names its folders: `cc`, `filter`, `rto`.
    pub(crate) fn take(kind: &str) -> io::Result<Lock> {
        Lock::of([RECORDS, bpffs::OURS].map(|folder| Path::new(folder).join(kind)))
    }

    fn of(folders: [PathBuf; 2]) -> io::Result<Lock> {
        loop {
            match lock(&folders[0]) {
                Ok(Some(held)) => return Ok(Lock { folders, held }),
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Where something is left, this fails.
            let _ = fs::remove_dir(folder).and_then(|()| folder.parent().map_or(Ok(()), fs::remove_dir));
        }
    }
}

/// Locks a folder, which is made if there is none. `None` if who held the lock before has removed it.
fn lock(folder: &Path) -> io::Result<Option<Flock<File>>> {
    folder::make(folder)?;
    let held = Flock::lock(File::open(folder)?, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?;
    let is_there = fs::metadata(folder)?.ino() == held.metadata()?.ino();
    Ok(is_there.then_some(held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    fn folders(name: &str) -> (PathBuf, [PathBuf; 2]) {
        let root = std::env::temp_dir().join(format!("airtcp-{name}-{}", std::process::id()));
        let folders = ["records", "pins"].map(|folder| root.join(folder).join("kind"));
        (root, folders)
    }

    #[test]
    fn folders_go_unless_something_is_left_in_them() {
        let (root, folders) = folders("lock");
        let lock = Lock::of(folders.clone()).unwrap();
        fs::create_dir_all(&folders[1]).unwrap();
        fs::write(folders[1].join("pin"), "").unwrap();
        drop(lock);
        assert!(!root.join("records").exists() && folders[1].exists());
        fs::remove_file(folders[1].join("pin")).unwrap();
        drop(Lock::of(folders).unwrap());
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
        fs::remove_dir(root).unwrap();
    }

    #[test]
    fn one_holds_it_at_a_time_although_its_folder_comes_and_goes() {
        let (root, folders) = folders("locks");
        let holders = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _lock = Lock::of(folders.clone()).unwrap();
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        holders.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        fs::remove_dir(root).unwrap();
    }
}
