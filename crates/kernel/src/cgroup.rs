//! Cgroups of version 2.

use nix::sys::statfs::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, fstatfs};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why a cgroup cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    #[error("no cgroup {0}: {1}")]
    Open(PathBuf, io::Error),
    #[error("{0} is not a v2 cgroup but {1}; v2 cgroups are mounted at {2}")]
    NotVersion2(PathBuf, &'static str, String),
}

/// Opens the folder of a cgroup.
///
/// # Errors
/// It does not exist, or is not a cgroup of version 2.
pub fn open(path: &Path) -> Result<File, CgroupError> {
    let failed = |error| CgroupError::Open(path.to_owned(), error);
    let folder = File::open(path).map_err(failed)?;
    let kind = fstatfs(&folder).map_err(|errno| failed(errno.into()))?.filesystem_type();
    if kind == CGROUP2_SUPER_MAGIC {
        return Ok(folder);
    }
    let what = if kind == CGROUP_SUPER_MAGIC { "a v1 cgroup" } else { "a file or folder elsewhere" };
    let mounted = mount().map_or_else(|| "no place".to_owned(), |place| place.display().to_string());
    Err(CgroupError::NotVersion2(path.to_owned(), what, mounted))
}

/// Where cgroups of version 2 are mounted.
pub fn mount() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (place, kind) = (fields.nth(1)?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(place))
    })
}
