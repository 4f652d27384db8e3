//! Records of changes, from which any process can report and undo them: files of JSON below /run/airtcp.

use super::folder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Where a record is, or would be.
pub(crate) struct Record(pub(crate) PathBuf);

impl Record {
    /// `None` if there is none.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        if_it_exists(fs::read(&self.0))?.map(|text| Ok(serde_json::from_slice(&text)?)).transpose()
    }

    /// Writes all or nothing: a crash leaves the previous record.
    pub(crate) fn write(&self, value: &impl Serialize) -> io::Result<()> {
        let mut new = OsString::from(&self.0);
        new.push(".new");
        if let Some(folder) = self.0.parent() {
            folder::make(folder)?;
        }
        fs::write(&new, serde_json::to_vec_pretty(value)?)?;
        fs::rename(&new, &self.0)
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove(&self.0).map(drop)
    }
}

/// Removes a file or a pin. Returns whether it was there.
pub(crate) fn remove(path: &Path) -> io::Result<bool> {
    if_it_exists(fs::remove_file(path)).map(|removed| removed.is_some())
}

fn if_it_exists<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_last_and_may_be_removed_twice() {
        let folder = std::env::temp_dir().join(format!("airtcp-record-{}", std::process::id()));
        let record = Record(folder.join("one.json"));
        assert_eq!(record.read::<Vec<u32>>().unwrap(), None);
        for value in [vec![1, 2], vec![3]] {
            record.write(&value).unwrap();
            assert_eq!(record.read().unwrap(), Some(value));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
        record.remove().unwrap();
        record.remove().unwrap();
        assert_eq!(record.read::<Vec<u32>>().unwrap(), None);
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_record_that_is_none_is_told() {
        let record = Record(std::env::temp_dir().join(format!("airtcp-no-record-{}", std::process::id())));
        fs::write(&record.0, "no JSON").unwrap();
        assert_eq!(record.read::<Vec<u32>>().unwrap_err().kind(), ErrorKind::InvalidData);
        record.remove().unwrap();
    }
}
