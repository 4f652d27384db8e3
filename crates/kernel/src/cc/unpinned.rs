//! Before Linux 6.4 a map that is registered stays so until something unregisters it, and before it is pinned only its process
//! would. A record lets the next process do it if that one is killed.
//!
//! A record is a file, named by the map's number, with the controller's name in it. Its maker holds a lock on it while it lives.

use super::pins::{OPS, folder};
use crate::loading::{Lock, remove};
use libbpf_rs::{ErrorKind, MapCore, MapHandle};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The records' lock and folder, in /run/airtcp.
const KIND: &str = "unpinned";
const FOLDER: &str = "/run/airtcp/unpinned";

const KEY: [u8; 4] = [0; 4];

/// A map that is about to be registered. Dropping this forgets it.
pub(super) struct Unpinned {
    path: PathBuf,
    /// Locked while the maker lives.
    _alive: Flock<File>,
}

impl Unpinned {
    /// `map` is its number.
    pub fn record(map: u32, name: &str) -> io::Result<Unpinned> {
        let _lock = Lock::take(KIND)?;
        let path = Path::new(FOLDER).join(map.to_string());
        let file = File::create(&path)?;
        let mut alive = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        alive.write_all(name.as_bytes())?;
        Ok(Unpinned { path, _alive: alive })
    }
}

impl Drop for Unpinned {
    fn drop(&mut self) {
        // With the lock, the folder goes with the last record.
        let _lock = Lock::take(KIND);
        let _ = remove(&self.path);
    }
}

/// Unregisters what killed processes have left, and returns the controllers' names.
pub(super) fn release() -> io::Result<Vec<String>> {
    let mut released = Vec::new();
    if !Path::new(FOLDER).exists() {
        return Ok(released);
    }
    let _lock = Lock::take(KIND)?;
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        let Some(name) = name_if_dead(&path)? else { continue };
        let map = path.file_name().and_then(|file| file.to_str()?.parse().ok());
        if let Some(map) = map.filter(|map| !is_pinned(*map, &name)) {
            match MapHandle::from_map_id(map) {
                Ok(map) => {
                    unregister(&map)?;
                    released.push(name);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        remove(&path)?;
    }
    Ok(released)
}

/// The name in a record whose maker is dead.
fn name_if_dead(path: &Path) -> io::Result<Option<String>> {
    match Flock::lock(File::open(path)?, FlockArg::LockExclusiveNonblock) {
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, error)) => Err(error.into()),
        Ok(mut file) => {
            let mut name = String::new();
            file.read_to_string(&mut name)?;
            Ok(Some(name))
        }
    }
}

/// Its process was killed after it had pinned the map.
fn is_pinned(map: u32, name: &str) -> bool {
    let pinned = MapHandle::from_pinned_path(folder(name).join(OPS));
    pinned.and_then(|pinned| pinned.info()).is_ok_and(|pinned| pinned.info.id == map)
}

/// Unregisters a map's controller, if it is registered.
pub(super) fn unregister(map: &MapHandle) -> io::Result<()> {
    map.delete(&KEY).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(io::Error::other(error)),
    })
}
