//! What an installed rule has changed, so that any process can report and undo it: a file in /run/airtcp/rto. One process
//! at a time changes it.

use super::RtoError;
use crate::cc::missing_capabilities;
use crate::namespace::NamespaceId;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

const FOLDER: &str = "/run/airtcp/rto";
const FILE: &str = "/run/airtcp/rto/rule.json";
const NEW: &str = "/run/airtcp/rto/rule.json.new";

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadedRule {
    /// The rule in words.
    pub rule: String,
    pub cgroup: PathBuf,
    pub namespace: NamespaceId,
    pub sysctls: Vec<Sysctl>,
}

/// A sysctl that was changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sysctl {
    pub name: String,
    pub before: String,
    pub now: String,
}

impl LoadedRule {
    pub(super) fn read() -> Result<Option<LoadedRule>, RtoError> {
        match fs::read(FILE) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| file_error(error.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(file_error(error)),
        }
    }

    /// Writes all or nothing.
    pub(super) fn write(&self) -> Result<(), RtoError> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::from);
        text.and_then(|text| fs::write(NEW, text)).and_then(|()| fs::rename(NEW, FILE)).map_err(file_error)
    }

    pub(super) fn remove() -> Result<(), RtoError> {
        fs::remove_file(FILE).map_err(file_error)
    }
}

/// Held while a rule is installed or removed.
pub(super) struct Lock(#[expect(dead_code, reason = "unlocks when it is dropped")] Flock<File>);

impl Lock {
    pub(super) fn take() -> Result<Lock, RtoError> {
        if let Some(missing) = missing_capabilities() {
            return Err(RtoError::Capability(missing));
        }
        fs::create_dir_all(FOLDER).map_err(file_error)?;
        let folder = File::open(FOLDER).map_err(file_error)?;
        Flock::lock(folder, FlockArg::LockExclusive).map(Lock).map_err(|(_, errno)| file_error(errno.into()))
    }
}

fn file_error(error: io::Error) -> RtoError {
    RtoError::io(FILE, error)
}
