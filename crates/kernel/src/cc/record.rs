//! Records of pinned controllers, from which any process can report and undo them: files in /run/airtcp/cc. One
//! process at a time changes them.

use super::CcError;
use super::apply::Applied;
use crate::loading::{Lock, Record, missing_capabilities};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
        let record = record(name);
        let read = record.read().map_err(CcError::io(format!("read {}", record.0.display())))?;
        Ok(read.unwrap_or_default())
    }

    pub fn write(&self, name: &str) -> Result<(), CcError> {
        let record = record(name);
        record.write(self).map_err(CcError::io(format!("write {}", record.0.display())))
    }

    pub fn remove(name: &str) -> Result<(), CcError> {
        record(name).remove().map_err(CcError::io(format!("forget `{name}`")))
    }
}

/// Held while something is loaded, changed or unloaded. Reports missing capabilities before it touches files.
pub fn lock() -> Result<Lock, CcError> {
    check_capabilities()?;
    Lock::take("cc").map_err(CcError::io(format!("lock {FOLDER}")))
}

/// # Errors
/// [`CcError::Capability`].
pub fn check_capabilities() -> Result<(), CcError> {
    missing_capabilities().map_or(Ok(()), |missing| Err(CcError::Capability(missing)))
}

fn record(name: &str) -> Record {
    Record(Path::new(FOLDER).join(format!("{name}.json")))
}
