//! The BPF file system, in which programs and maps outlive the processes that made them.

use nix::mount::{MsFlags, mount as mount_at};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use std::fs;
use std::io;
use std::iter::successors;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub const PLACE: &str = "/sys/fs/bpf";
/// The folder in it of everything that airtcpd pins.
pub(crate) const OURS: &str = "/sys/fs/bpf/airtcp";

/// Why nothing can be pinned.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    #[error(
        "cannot mount the BPF file system at {PLACE}: {0}; `mount -t bpf bpf {PLACE}` must succeed first"
    )]
    Refused(#[from] io::Error),
    #[error(
        "no BPF file system is mounted at {PLACE} in this mount namespace, and one that is mounted here goes with this \
         command, and what it has loaded; `ip netns exec NAME` makes such namespaces: use `nsenter --net=/run/netns/NAME`"
    )]
    Passing,
}

pub fn is_mounted() -> bool {
    statfs(Path::new(PLACE)).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// Mounts it unless it is mounted. Returns whether it was missing. It stays mounted.
///
/// # Errors
/// What the kernel refuses.
pub fn mount() -> Result<bool, MountError> {
    if is_mounted() {
        return Ok(false);
    }
    if is_passing() {
        return Err(MountError::Passing);
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount_at(Some("bpf"), PLACE, Some("bpf"), flags, Some("mode=700")).map_err(io::Error::from)?;
    Ok(true)
}

/// Returns whether an ancestor of this process has another mount namespace. This one was then made for a
/// command, and ends with it.
fn is_passing() -> bool {
    let own = mount_namespace("self");
    let mut ancestors = successors(parent("self"), |process| parent(process));
    own.is_some()
        && ancestors.any(|process| mount_namespace(&process).is_some_and(|found| Some(found) != own))
}

fn mount_namespace(process: &str) -> Option<u64> {
    fs::metadata(format!("/proc/{process}/ns/mnt")).ok().map(|found| found.ino())
}

fn parent(process: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim();
    (parent != "0").then(|| parent.to_owned())
}
