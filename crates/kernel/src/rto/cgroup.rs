//! Cgroups of version 2.

use super::RtoError;
use nix::sys::statfs::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, fstatfs};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The folder of a cgroup, open.
///
/// # Errors
/// It is not there, or not a cgroup of version 2.
pub(super) fn open(path: &Path) -> Result<File, RtoError> {
    let failed = |error| RtoError::Cgroup(path.to_owned(), error);
    let folder = File::open(path).map_err(failed)?;
    let kind = fstatfs(&folder).map_err(|errno| failed(errno.into()))?.filesystem_type();
    if kind == CGROUP2_SUPER_MAGIC {
        return Ok(folder);
    }
    let what = if kind == CGROUP_SUPER_MAGIC { "one of version 1" } else { "a file or folder elsewhere" };
    let mounted = mount().map_or_else(|| "no place".to_owned(), |place| place.display().to_string());
    Err(RtoError::NotCgroup2(path.to_owned(), what, mounted))
}

/// Where cgroups of version 2 are mounted.
#[must_use]
pub fn mount() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (place, kind) = (fields.nth(1)?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(place))
    })
}
