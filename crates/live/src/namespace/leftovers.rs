//! Changes that do not vanish with the process that made them. They are recorded before they are made, and the next
//! start undoes them if the process cannot.
//!
//! A record is a file in [`FOLDER`] on which its maker holds a lock for as long as it lives. A lock ends with its
//! holder, whatever kills it, and is seen in every PID namespace, unlike a process id. It is there for a moment after
//! the holder was killed, and until a worker that has a copy of it has died, too: who cleans waits for that. A change
//! that another living process has also recorded stays: the last one undoes it.

use super::detour::Detour;
use super::{Namespace, divert, nft, sysctl};
use crate::warn;
use airtcp_kernel::cgroup::View;
use airtcp_kernel::namespace;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// How long the locks of the dying are waited for, and how often they are looked at.
const DYING: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(2);

/// Folder of the records. It is empty after a reboot, and the changes are gone, too.
pub const FOLDER: &str = "/run/airtcp";

/// A change to be undone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A sysctl of the network namespace in which it is recorded, set from `before` to `set`. If it is no longer
    /// `set`, somebody else has decided, and it stays.
    Sysctl { name: String, before: String, set: String },
    /// A control group, whose processes end with it.
    Cgroup(PathBuf),
    /// A file, such as a pin in the BPF file system.
    File(PathBuf),
    /// The policy route for this mark, in the network namespace in which it is recorded.
    Divert(u32),
    /// Policy rules in the network namespace in which they are recorded.
    Detour(Detour),
    /// A table of nft, by its family and name, in the network namespace in which it is recorded.
    Table(String),
}

impl Change {
    /// Returns whether it can be undone only in its own network namespace.
    fn is_of_namespace(&self) -> bool {
        !matches!(self, Change::Cgroup(_) | Change::File(_))
    }
}

/// What was changed, as a noun.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Sysctl { name, before, set } => {
                write!(f, "the sysctl {name}, set from {before} to {set}")
            }
            Change::Cgroup(path) => write!(f, "the control group {}", path.display()),
            Change::File(path) => write!(f, "the file {}", path.display()),
            Change::Divert(mark) => write!(f, "the policy route for the mark {mark:#x}"),
            Change::Detour(detour) => write!(f, "the policy route {detour}"),
            Change::Table(name) => write!(f, "the nft table {name}"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Entry {
    /// The cookie of the network namespace.
    namespace: u64,
    /// Whether the maker made that namespace, too, so that the two end together.
    #[serde(default)]
    is_makers: bool,
    change: Change,
}

impl Entry {
    fn here(change: Change) -> io::Result<Entry> {
        let is_makers = namespace_of("self")? != namespace_of("thread-self")?;
        Ok(Entry { namespace: cookie()?, is_makers, change })
    }

    /// Returns whether it has gone with its namespace.
    fn is_gone(&self, living: &Living) -> bool {
        self.change.is_of_namespace() && (self.is_makers || !living.may_have(self.namespace))
    }
}

/// The network namespaces that there are, by their cookies. They are looked up when a record first asks for another one
/// than this thread's.
struct Living {
    here: u64,
    others: OnceCell<Option<BTreeMap<u64, Namespace>>>,
}

impl Living {
    fn new() -> io::Result<Living> {
        Ok(Living { here: cookie()?, others: OnceCell::new() })
    }

    /// Whoever does not see all processes, as in a PID namespace of its own, or may not enter all namespaces, as a unit
    /// with few capabilities, cannot tell that one is gone.
    fn may_have(&self, cookie: u64) -> bool {
        cookie == self.here || self.others().is_none_or(|others| others.contains_key(&cookie))
    }

    fn others(&self) -> Option<&BTreeMap<u64, Namespace>> {
        let find = || sees_all_processes().then(|| by_cookie(namespace::all())).flatten();
        self.others.get_or_init(find).as_ref()
    }

    /// Does `work` in the namespace with this cookie; `None` if it is not in reach.
    fn within<T: Send>(
        &self,
        cookie: u64,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<Option<T>> {
        if cookie == self.here {
            return work().map(Some);
        }
        let other = self.others().and_then(|others| others.get(&cookie));
        other.map(|namespace| namespace.run(work)?).transpose()
    }
}

/// `None` if this process may not enter all of them, and so cannot tell which ones there are.
fn by_cookie(namespaces: impl Iterator<Item = Namespace>) -> Option<BTreeMap<u64, Namespace>> {
    namespaces.map(|namespace| Some((namespace.run(cookie).ok()?.ok()?, namespace))).collect()
}

/// Returns whether this process is in the PID namespace that contains all others.
fn sees_all_processes() -> bool {
    /// PROC_PID_INIT_INO (linux/proc_ns.h).
    const FIRST: u64 = 0xefff_fffc;
    pid_namespace().is_ok_and(|number| number == FIRST)
}

/// The network namespace of this process or thread.
fn namespace_of(who: &str) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{who}/ns/net"))
}

/// A change on record. Dropping it undoes the change.
#[derive(Debug)]
pub struct RecordedChange {
    folder: PathBuf,
    path: PathBuf,
    entry: Entry,
    /// Locked while the maker lives.
    _alive: Flock<File>,
}

impl RecordedChange {
    /// Records a change that is about to be made in this thread's network namespace. Make it only after this.
    ///
    /// # Errors
    /// The file system's: without root, permission denied.
    pub fn of(change: Change) -> io::Result<RecordedChange> {
        let folder = Path::new(FOLDER);
        let _guard = lock(folder)?;
        RecordedChange::write(folder, change)
    }

    /// Records that a sysctl of this thread's network namespace is set to `value`, and sets it. `None` if it has that
    /// value already and nobody will undo it.
    ///
    /// # Errors
    /// The file system's, and the kernel's.
    pub fn of_sysctl(name: &str, value: &str) -> io::Result<Option<RecordedChange>> {
        RecordedChange::of_sysctl_in(Path::new(FOLDER), name, value)
    }

    fn of_sysctl_in(folder: &Path, name: &str, value: &str) -> io::Result<Option<RecordedChange>> {
        let guard = lock(folder)?;
        let before = before(folder, name)?;
        if before == value {
            return Ok(None);
        }
        let change = Change::Sysctl { name: name.to_owned(), before, set: value.to_owned() };
        let record = RecordedChange::write(folder, change)?;
        let done = sysctl::set(name, value);
        // A dropped record, as this one is if that failed, takes the lock itself.
        drop(guard);
        done.map(|()| Some(record))
    }

    /// The caller holds the lock.
    fn write(folder: &Path, change: Change) -> io::Result<RecordedChange> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let entry = Entry::here(change)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}-{}-{number}.json", Maker::this()?, entry.namespace));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        let mut alive = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error)?;
        alive.write_all(&serde_json::to_vec(&entry)?)?;
        Ok(RecordedChange { folder: folder.to_owned(), path, entry, _alive: alive })
    }
}

impl Drop for RecordedChange {
    fn drop(&mut self) {
        let done = lock(&self.folder).and_then(|_guard| {
            undo(&self.entry, &others(&self.folder, &self.path)?)?;
            fs::remove_file(&self.path)
        });
        if let Err(error) = done {
            warn!("airtcpd: could not undo {}; the next start will try again: {error}", self.entry.change);
        }
    }
}

/// Value of a sysctl of this thread's network namespace, or, if a change of it is on record, its value before that.
///
/// # Errors
/// The file system's, and the kernel's.
pub fn sysctl_before(name: &str) -> io::Result<String> {
    let folder = Path::new(FOLDER);
    let _guard = lock(folder)?;
    before(folder, name)
}

/// Undoes what dead processes have left, in all network namespaces and in the file systems. Returns what was undone. What
/// has gone with its namespace is forgotten.
///
/// # Errors
/// The file system's. What cannot be undone stays on record.
pub fn clean() -> io::Result<Vec<Change>> {
    clean_in(Path::new(FOLDER))
}

/// [`clean`] at the start of a command: reports what it undid and what it could not undo, and lets the command go on.
/// Without the right to clean, the command cannot make such changes either, and reports that then.
pub fn clean_up() {
    match clean() {
        Ok(undone) => {
            for change in undone {
                warn!("airtcpd: undone, left by a process that died: {change}");
            }
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(error) => warn!("airtcpd: {FOLDER}: {error}"),
    }
}

/// What dead processes have left and nobody has undone yet, in all network namespaces.
///
/// # Errors
/// The file system's.
pub fn left() -> io::Result<Vec<Change>> {
    left_in(Path::new(FOLDER))
}

fn left_in(folder: &Path) -> io::Result<Vec<Change>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let _guard = lock_after_the_dying(folder)?;
    let living = Living::new()?;
    let entries = records(folder)?.iter().map(|path| dead(path)).collect::<io::Result<Vec<_>>>()?;
    let left = entries.into_iter().flatten().filter(|entry| !entry.is_gone(&living));
    Ok(left.map(|entry| entry.change).collect())
}

fn clean_in(folder: &Path) -> io::Result<Vec<Change>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let _guard = lock_after_the_dying(folder)?;
    let living = Living::new()?;
    let mut undone = Vec::new();
    for path in records(folder)? {
        let Some(entry) = dead(&path)? else { continue };
        if entry.is_gone(&living) {
            fs::remove_file(&path)?;
            continue;
        }
        let others = others(folder, &path)?;
        let done = if entry.change.is_of_namespace() {
            living.within(entry.namespace, || undo(&entry, &others))?
        } else {
            undo(&entry, &others).map(Some)?
        };
        if done.is_some() {
            fs::remove_file(&path)?;
            undone.push(entry.change);
        }
    }
    Ok(undone)
}

/// Takes the lock that is held while records are made, read and removed.
pub(crate) fn lock(folder: &Path) -> io::Result<Flock<File>> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock"))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error.into())
}

/// Takes that lock once nobody who is dying holds a record any more.
#[allow(clippy::disallowed_methods, reason = "no signal tells when a lock is gone")]
fn lock_after_the_dying(folder: &Path) -> io::Result<Flock<File>> {
    for _ in 0..DYING.as_millis() / LOOK.as_millis() {
        let guard = lock(folder)?;
        if !records(folder)?.iter().any(|path| is_held_by_the_dying(path)) {
            return Ok(guard);
        }
        drop(guard);
        thread::sleep(LOOK);
    }
    lock(folder)
}

/// Its maker has died or is about to, and somebody, perhaps the maker's worker, holds the lock still.
fn is_held_by_the_dying(path: &Path) -> bool {
    Maker::of(path).is_some_and(|maker| maker.is_dying())
        && File::open(path).is_ok_and(|file| {
            matches!(Flock::lock(file, FlockArg::LockExclusiveNonblock), Err((_, Errno::EWOULDBLOCK)))
        })
}

/// Who made a record. With that, its name begins.
struct Maker {
    pid: u32,
    /// The number of its PID namespace: processes in different ones may have the same id.
    pid_namespace: u64,
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.pid_namespace)
    }
}

impl Maker {
    fn this() -> io::Result<Maker> {
        Ok(Maker { pid: process::id(), pid_namespace: pid_namespace()? })
    }

    fn of(record: &Path) -> Option<Maker> {
        let mut parts = record.file_name()?.to_str()?.split('-');
        Some(Maker { pid: parts.next()?.parse().ok()?, pid_namespace: parts.next()?.parse().ok()? })
    }

    /// Whoever is in another PID namespace is taken to live.
    fn is_dying(&self) -> bool {
        /// The bit of SIGKILL, which is pending until the process is gone.
        const KILLED: u64 = 1 << (libc::SIGKILL - 1);
        if pid_namespace().ok() != Some(self.pid_namespace) {
            return false;
        }
        let status = match fs::read_to_string(format!("/proc/{}/status", self.pid)) {
            Ok(status) => status,
            Err(error) => {
                return error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH);
            }
        };
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let pending = u64::from_str_radix(field("ShdPnd:"), 16).unwrap_or_default();
        field("State:").starts_with(['Z', 'X']) || pending & KILLED != 0
    }
}

/// The number of this process's PID namespace.
fn pid_namespace() -> io::Result<u64> {
    fs::metadata("/proc/self/ns/pid").map(|found| found.ino())
}

fn records(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|file| Ok(file?.path()));
    let is_record = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    paths.filter(|path: &io::Result<PathBuf>| path.as_ref().map_or(true, is_record)).collect()
}

/// Returns the entry of a record whose maker is dead. A truncated record was never acted on, and is removed.
fn dead(path: &Path) -> io::Result<Option<Entry>> {
    match Flock::lock(File::open(path)?, FlockArg::LockExclusiveNonblock) {
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, error)) => Err(error.into()),
        Ok(mut file) => {
            let entry = read(&mut file);
            if entry.is_none() {
                fs::remove_file(path)?;
            }
            Ok(entry)
        }
    }
}

fn read(file: &mut File) -> Option<Entry> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// All other records, from any process. If several of the dead share a change, the last of their records undoes it.
fn others(folder: &Path, path: &Path) -> io::Result<Vec<Entry>> {
    let paths = records(folder)?.into_iter().filter(|other| other != path);
    Ok(paths.filter_map(|other| read(&mut File::open(other).ok()?)).collect())
}

/// The caller holds the lock.
fn before(folder: &Path, name: &str) -> io::Result<String> {
    let here = cookie()?;
    let borrowed = others(folder, folder)?.into_iter().find_map(|entry| match entry.change {
        Change::Sysctl { name: other, before, .. } if other == name && entry.namespace == here => {
            Some(before)
        }
        _ => None,
    });
    borrowed.map_or_else(|| sysctl::get(name), Ok)
}

fn undo(entry: &Entry, others: &[Entry]) -> io::Result<()> {
    if others.contains(entry) {
        return Ok(());
    }
    let done = match &entry.change {
        Change::Sysctl { name, before, set } => match sysctl::get(name) {
            Ok(value) if value == *set => sysctl::set(name, before),
            other => other.map(|_| ()),
        },
        Change::Cgroup(path) => {
            let path = &View::find().map_or_else(|| path.clone(), |view| view.reach(path));
            // Not before Linux 5.14; a group in use then stays, and the error says so.
            let _ = fs::write(path.join("cgroup.kill"), "1");
            remove_emptied(path)
        }
        Change::File(path) => fs::remove_file(path),
        Change::Divert(mark) => divert::remove(*mark),
        Change::Detour(detour) => detour.remove(),
        Change::Table(name) => nft::remove(name),
    };
    match done {
        // Gone already, e.g. the sysctl with its interface.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Killed processes take a while to disappear.
#[allow(clippy::disallowed_methods, reason = "no signal tells when")]
fn remove_emptied(cgroup: &Path) -> io::Result<()> {
    for _ in 0..500 {
        match fs::remove_dir(cgroup) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                thread::sleep(Duration::from_millis(2));
            }
            done => return done,
        }
    }
    fs::remove_dir(cgroup)
}

/// A number that the calling thread's network namespace has, and no other living one.
fn cookie() -> io::Result<u64> {
    match netns_cookie() {
        // Before Linux 5.14. A later namespace may get the number of one that is gone.
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => inode(),
        found => found,
    }
}

/// The number of the calling thread's network namespace in the kernel's file system of namespaces.
fn inode() -> io::Result<u64> {
    fs::metadata("/proc/thread-self/ns/net").map(|found| found.ino())
}

/// A number that the calling thread's network namespace has, and no other one until the host boots.
#[allow(unsafe_code, reason = "neither std nor nix has SO_NETNS_COOKIE")]
fn netns_cookie() -> io::Result<u64> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let (mut cookie, mut len) = (0u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `len` bytes to `cookie`, which has as many.
    let result = unsafe {
        let value = (&raw mut cookie).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_NETNS_COOKIE, value, &raw mut len)
    };
    if result == 0 { Ok(cookie) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests;
