//! A rule that outlives the process that made it: pinned in the BPF file system, with the sysctls that it
//! needs, and a guard for the namespace's connections that it is not for.

use super::record::{self, LoadedRule, Sysctl};
use super::{Attached, Counters, Home, Means, RTO_MAX, RTO_MIN_SYSCTL, RtoError, RtoRule, SOCKET_RTO_MIN};
use super::{load_and_attach, metrics, read, sockopt, sysctl};
use crate::cgroup::{self, CgroupError};
use crate::loading::{self, bpffs};
use crate::namespace::NamespaceId;
use airtcp_wire::Dur;
use libbpf_rs::MapHandle;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, socket};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/sys/fs/bpf/airtcp/rto";
const RTO_MAX_SYSCTL: &str = "net.ipv4.tcp_rto_max_ms";

/// The installed rule.
pub struct Installed {
    pub record: LoadedRule,
    /// `None` if the installing process did not finish.
    pub counters: Option<Counters>,
    pub is_guarded: bool,
}

/// Puts new connections of `cgroup`, and of those below it, under a rule, until [`uninstall`]. The sysctls of
/// the calling thread's network namespace are changed, but its connections outside the cgroup keep their
/// RTO_MIN. Connections of other namespaces are left alone if the rule needs the sysctls.
///
/// # Errors
/// Those of [`super::attach`]; a rule is already installed; other connections could not be spared. Nothing is
/// left behind.
pub fn install(cgroup: &Path, rule: &RtoRule) -> Result<Installed, RtoError> {
    rule.check()?;
    // Before anything is made.
    let rule = &Means::of_kernel().fit(rule)?;
    let cgroup = fs::canonicalize(cgroup).map_err(|error| CgroupError::Open(cgroup.to_owned(), error))?;
    let _lock = record::lock()?;
    bpffs::mount().map_err(|error| RtoError::Installed(error.to_string()))?;
    match installed()? {
        Some(Installed { record, counters: Some(_), .. }) => {
            let (rule, cgroup) = (record.rule, record.cgroup.display());
            return Err(RtoError::Installed(format!(
                "{cgroup} already has {rule}; `airtcpd rto off` removes it"
            )));
        }
        // Left by a process that was killed.
        Some(Installed { record, .. }) => drop(undo(&record)?),
        None => {}
    }
    let (attached, record) = prepare(&cgroup, rule)?;
    put_in_force(attached, &record).inspect_err(|_| {
        // Report the first error.
        let _ = undo(&record);
    })?;
    installed()?.ok_or_else(|| RtoError::Installed("the rule has disappeared".to_owned()))
}

/// The rule installed on this host.
///
/// # Errors
/// What the kernel refuses.
pub fn installed() -> Result<Option<Installed>, RtoError> {
    let Some(record) = LoadedRule::read()? else { return Ok(None) };
    let [rule, guard, _, counters] = pins();
    let counters = match fs::exists(&rule) {
        Ok(true) => Some(read(&MapHandle::from_pinned_path(counters)?)?),
        Ok(false) => None,
        Err(error) => return Err(RtoError::io(rule.display().to_string(), error)),
    };
    Ok(Some(Installed { record, counters, is_guarded: guard.exists() }))
}

/// Removes the installed rule, also from its listeners, and describes what was undone. Open connections keep
/// the floor, or the longest RTO that a factor last gave them.
///
/// # Errors
/// What the kernel refuses.
pub fn uninstall() -> Result<Option<Vec<String>>, RtoError> {
    let _lock = record::lock()?;
    LoadedRule::read()?.map(|record| undo(&record)).transpose()
}

fn undo(record: &LoadedRule) -> Result<Vec<String>, RtoError> {
    let [rule, guard, release, counters] = pins();
    unpin(&rule)?;
    let restore = || run(&release).and_then(|()| sysctl::restore(&record.sysctls));
    let gone = || vec!["its network namespace is gone, with its sysctls".to_owned()];
    let undone = record.namespace.within(restore)?.unwrap_or_else(gone);
    // Last, because no socket may be made with the rule's RTO_MIN and connect unguarded.
    for pin in [guard, release, counters] {
        unpin(&pin)?;
    }
    LoadedRule::remove()?;
    Ok(undone)
}

/// Pins of the rule, the guard, the program that releases sockets, and the counters.
fn pins() -> [PathBuf; 4] {
    ["rule", "guard", "release", "counters"].map(|name| Path::new(FOLDER).join(name))
}

/// Reading a pinned iterator runs it.
fn run(pin: &Path) -> Result<(), RtoError> {
    match fs::read(pin) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(RtoError::Io(pin.display().to_string(), error))
        }
        _ => Ok(()),
    }
}

fn unpin(pin: &Path) -> Result<(), RtoError> {
    loading::remove(pin).map(drop).map_err(|error| RtoError::Io(pin.display().to_string(), error))
}

fn prepare(cgroup: &Path, rule: &RtoRule) -> Result<(Attached, LoadedRule), RtoError> {
    let change =
        |(name, now): (&str, String)| Ok(Sysctl { before: sysctl::get(name)?, name: name.to_owned(), now });
    let sysctls = rule.sysctls().into_iter().map(change).collect::<Result<Vec<_>, RtoError>>()?;
    let home = home(cgroup, rule, &sysctls)?;
    let namespace = NamespaceId::current()?;
    let record = LoadedRule { rule: rule.to_string(), cgroup: cgroup.to_owned(), namespace, sysctls };
    Ok((load_and_attach(cgroup, rule, Some(&home))?, record))
}

fn home(cgroup: &Path, rule: &RtoRule, sysctls: &[Sysctl]) -> Result<Home, RtoError> {
    let cookie = (!sysctls.is_empty()).then(cookie).transpose()?;
    // A kernel without these sysctls has these.
    let stock = |name| sysctl::get(name).ok().and_then(|value| value.parse().ok());
    let min = stock(RTO_MIN_SYSCTL).map_or(*SOCKET_RTO_MIN.end(), Dur::from_micros);
    let max = stock(RTO_MAX_SYSCTL).map_or(*RTO_MAX.end(), Dur::from_millis);
    let is_shared = sysctls.iter().any(|sysctl| sysctl.name == RTO_MIN_SYSCTL);
    let guarded = if is_shared { others(cgroup)? } else { None };
    if is_shared && guarded.is_none() && rule.mark.is_some() {
        return Err(RtoError::Rule(
            "a mark: the root cgroup contains all processes; name a cgroup below it".to_owned(),
        ));
    }
    if guarded.is_some() && !SOCKET_RTO_MIN.contains(&min) {
        return Err(RtoError::Installed(format!(
            "{RTO_MIN_SYSCTL} is {}, which the namespace's other connections could not be given each: set it to 200000 \
             first, or run in a network namespace of its own",
            sysctl::get(RTO_MIN_SYSCTL)?
        )));
    }
    Ok(Home { cookie, min: min.clamp(*SOCKET_RTO_MIN.start(), *SOCKET_RTO_MIN.end()), max, guarded })
}

/// The number by which programs know this network namespace.
fn cookie() -> Result<u64, RtoError> {
    socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
        .and_then(|socket| getsockopt(&socket, sockopt::NetnsCookie))
        .map_err(|errno| RtoError::Io("SO_NETNS_COOKIE".to_owned(), errno.into()))
}

/// The root of all cgroups, unless that is `cgroup`.
fn others(cgroup: &Path) -> Result<Option<PathBuf>, RtoError> {
    let root = cgroup::mount().ok_or_else(|| RtoError::Installed("no cgroup2 is mounted".to_owned()))?;
    let inode = |path: &Path| fs::metadata(path).map(|metadata| metadata.ino()).ok();
    Ok((inode(&root) != inode(cgroup)).then_some(root))
}

/// What has to be undone is recorded before it is done.
fn put_in_force(mut attached: Attached, record: &LoadedRule) -> Result<(), RtoError> {
    let [rule, guard, release, counters] = pins();
    record.write()?;
    loading::folder::make(Path::new(FOLDER)).map_err(|error| RtoError::Io(FOLDER.to_owned(), error))?;
    attached.counters.pin(counters)?;
    if let Some(link) = &mut attached.guard {
        link.pin(guard)?;
    }
    if let Some(link) = &mut attached.release {
        link.pin(release)?;
    }
    for Sysctl { name, now, .. } in &record.sysctls {
        sysctl::set(name, now)?;
    }
    if !record.sysctls.is_empty() {
        metrics::flush().map_err(|error| RtoError::Io("the cached RTTs (tcp_metrics)".to_owned(), error))?;
    }
    attached.rule.pin(rule)?;
    Ok(())
}
