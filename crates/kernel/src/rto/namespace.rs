//! The network namespace of a rule, and its sysctls.

use super::record::Sysctl;
use super::{RtoError, sockopt};
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, socket};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

const OURS: &str = "/proc/thread-self/ns/net";

/// The inode of the calling thread's.
pub(super) fn current() -> io::Result<u64> {
    Ok(fs::metadata(OURS)?.ino())
}

/// What programs know it by.
pub(super) fn cookie() -> io::Result<u64> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    Ok(getsockopt(&socket, sockopt::NetnsCookie)?)
}

/// Runs `work` in the namespace of this inode, or answers `None` if nothing is in it any more.
pub(super) fn within<T: Send>(inode: u64, work: impl FnOnce() -> T + Send) -> io::Result<Option<T>> {
    if current()? == inode {
        return Ok(Some(work()));
    }
    let Some(namespace) = find(inode) else { return Ok(None) };
    let entered = || setns(&namespace, CloneFlags::CLONE_NEWNET).map(|()| work()).map_err(io::Error::from);
    let done = std::thread::scope(|scope| scope.spawn(entered).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(Some)
}

/// By a process that is in it, or its name.
fn find(inode: u64) -> Option<File> {
    let processes =
        fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path().join("ns/net"));
    let named = fs::read_dir("/run/netns").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_it = |file: &File| file.metadata().is_ok_and(|metadata| metadata.ino() == inode);
    processes.chain(named).filter_map(|path| File::open(path).ok()).find(is_it)
}

pub(super) fn get(name: &str) -> Result<String, RtoError> {
    let text = fs::read_to_string(path(name)).map_err(|error| RtoError::Io(name.to_owned(), error))?;
    Ok(text.trim_end().to_owned())
}

pub(super) fn set(name: &str, value: &str) -> Result<(), RtoError> {
    fs::write(path(name), value).map_err(|error| RtoError::Io(format!("{name}={value}"), error))
}

/// Undoes changes, each unless someone has changed it again since. Answers in words.
pub(super) fn restore(sysctls: &[Sysctl]) -> Result<Vec<String>, RtoError> {
    let undo = |Sysctl { name, before, now }: &Sysctl| -> Result<String, RtoError> {
        let found = get(name)?;
        if found != *now {
            return Ok(format!("{name} = {found}: left, as it has been changed from {now} since"));
        }
        set(name, before)?;
        Ok(format!("{name} = {before} again"))
    };
    sysctls.iter().rev().map(undo).collect()
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
