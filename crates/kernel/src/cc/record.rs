//! Records of pinned controllers, from which any process can report and undo them: files in /run/airtcp/cc. One
//! process at a time changes them.

use super::apply::Applied;
use super::{CcError, requirements};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

const FOLDER: &str = "/run/airtcp/cc";

/// The record of one controller.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadedController {
    /// The scheme whose sender it is.
    pub scheme: String,
    /// Version of the airtcpd that has loaded it.
    pub version: String,
    pub applied: Vec<Applied>,
}

impl LoadedController {
    /// Returns an empty record if there is none.
    pub fn read(name: &str) -> Result<LoadedController, CcError> {
        let path = path(name);
        let doing = || format!("read {}", path.display());
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| CcError::io(doing())(error.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(LoadedController::default()),
            Err(error) => Err(CcError::io(doing())(error)),
        }
    }

    /// Writes all or nothing: a crash leaves the previous record.
    pub fn write(&self, name: &str) -> Result<(), CcError> {
        let (path, new) = (path(name), path(&format!("{name}.new")));
        let write = || -> io::Result<()> {
            fs::create_dir_all(FOLDER)?;
            fs::write(&new, serde_json::to_vec_pretty(self)?)?;
            fs::rename(&new, &path)
        };
        write().map_err(CcError::io(format!("write {}", path.display())))
    }

    pub fn remove(name: &str) -> Result<(), CcError> {
        match fs::remove_file(path(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(CcError::io(format!("forget `{name}`"))(error))
            }
            _ => Ok(()),
        }
    }
}

/// Held while something is loaded, changed or unloaded.
pub struct Lock(#[expect(dead_code, reason = "unlocks when it is dropped")] Flock<File>);

impl Lock {
    /// Reports missing capabilities before it touches files.
    pub fn take() -> Result<Lock, CcError> {
        requirements::check_capabilities()?;
        let doing = || CcError::io(format!("lock {FOLDER}"));
        fs::create_dir_all(FOLDER).map_err(doing())?;
        let folder = File::open(FOLDER).map_err(doing())?;
        let lock =
            Flock::lock(folder, FlockArg::LockExclusive).map_err(|(_, errno)| doing()(errno.into()))?;
        Ok(Lock(lock))
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{name}.json"))
}
