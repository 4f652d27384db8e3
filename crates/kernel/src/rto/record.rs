//! What an installed rule has changed, so that any process can report and undo it: a file in /run/airtcp/rto. One process
//! at a time changes it.

use super::RtoError;
use crate::loading::{Lock, Record, missing_capabilities};
use crate::namespace::NamespaceId;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

const FILE: &str = "/run/airtcp/rto/rule.json";

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
        record().read().map_err(file_error)
    }

    pub(super) fn write(&self) -> Result<(), RtoError> {
        record().write(self).map_err(file_error)
    }

    pub(super) fn remove() -> Result<(), RtoError> {
        record().remove().map_err(file_error)
    }
}

/// Held while a rule is installed or removed.
pub(super) fn lock() -> Result<Lock, RtoError> {
    match missing_capabilities() {
        Some(missing) => Err(RtoError::Capability(missing)),
        None => Lock::take("rto").map_err(file_error),
    }
}

fn record() -> Record {
    Record(PathBuf::from(FILE))
}

fn file_error(error: io::Error) -> RtoError {
    RtoError::io(FILE, error)
}
