//! The BPF file system, in which programs and maps outlive the processes that made them.

use nix::mount::{MsFlags, mount as mount_at};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::io;
use std::path::Path;

pub const PLACE: &str = "/sys/fs/bpf";

#[derive(Debug, thiserror::Error)]
#[error("cannot mount the BPF file system at {PLACE}: {0}; `mount -t bpf bpf {PLACE}` has to succeed first")]
pub struct MountError(#[from] io::Error);

pub fn is_mounted() -> bool {
    statfs(Path::new(PLACE)).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// Mounts it unless it is. Has it been missing? It stays mounted.
///
/// # Errors
/// What the kernel refuses.
pub fn mount() -> Result<bool, MountError> {
    if is_mounted() {
        return Ok(false);
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount_at(Some("bpf"), PLACE, Some("bpf"), flags, Some("mode=700")).map_err(io::Error::from)?;
    Ok(true)
}
