//! Another retransmission timer for the connections of a cgroup: RTO = SRTT + m·RTTVAR (paper 003), or a
//! fine-grained one (paper 000's F3). `bpf/rto.bpf.c` explains how.

mod error;
mod install;
mod means;
mod metrics;
mod record;
mod rule;
mod sockopt;
mod sysctl;

pub use error::RtoError;
pub use install::{Installed, install, installed, uninstall};
pub use means::Means;
pub use record::{LoadedRule, Sysctl};
pub use rule::{RTO_MAX, RTO_MIN_SYSCTL, RtoRule, SOCKET_RTO_MIN, Timer};

use crate::cgroup;
use crate::loading::listening;
use crate::skeleton::rto::{RtoSkel, RtoSkelBuilder};
use airtcp_wire::Dur;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, OpenObject, ProgramMut};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A rule in force. Dropping this removes it: new connections have the kernel's timer, open ones keep the
/// longest RTO that they were last given.
pub struct Attached {
    rule: Link,
    guard: Option<Link>,
    release: Option<Link>,
    counters: MapHandle,
}

/// The network namespace of an installed rule.
struct Home {
    /// The namespace's cookie, if the rule reaches only its connections.
    cookie: Option<u64>,
    /// RTO_MIN without the rule.
    min: Dur,
    /// RTO_MAX without the rule.
    max: Dur,
    /// The root of all cgroups, if the namespace's other connections are to be given `min`.
    guarded: Option<PathBuf>,
}

/// Counts under a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Connections established under it.
    pub connections: u64,
    /// Expiries of their retransmission timers, except for SYNs.
    pub timeouts: u64,
    /// Socket options that the kernel has refused to set.
    pub refused: u64,
    /// Connections of the cgroup in network namespaces that lack the rule's sysctls. The rule leaves them
    /// alone.
    pub foreign: u64,
    /// Connections of sockets or listeners that are older than those sysctls. The rule leaves these alone, too.
    pub early: u64,
}

/// Puts new connections of `cgroup`, and of those below it, under a rule. Their network namespace must have had
/// [`RtoRule::sysctls`] before their sockets were made; a connection without them keeps the kernel's timer.
///
/// # Errors
/// The rule or the cgroup is not possible, or the kernel or missing rights prevent it.
pub fn attach(cgroup: &Path, rule: &RtoRule) -> Result<Attached, RtoError> {
    rule.check()?;
    load_and_attach(cgroup, &Means::of_kernel().fit(rule)?, None)
}

impl Attached {
    /// # Errors
    /// What the kernel refuses.
    pub fn counters(&self) -> Result<Counters, RtoError> {
        read(&self.counters)
    }
}

fn read(map: &MapHandle) -> Result<Counters, RtoError> {
    let sum = |key: u32| -> Result<u64, RtoError> {
        let cpus = map.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        Ok(cpus.iter().filter_map(|value| value.first_chunk()).map(|value| u64::from_ne_bytes(*value)).sum())
    };
    let [connections, timeouts, refused, foreign, early] = [sum(0)?, sum(1)?, sum(2)?, sum(3)?, sum(4)?];
    Ok(Counters { connections, timeouts, refused, foreign, early })
}

fn load_and_attach(cgroup: &Path, rule: &RtoRule, home: Option<&Home>) -> Result<Attached, RtoError> {
    let folder = cgroup::open(cgroup)?;
    let mut object = MaybeUninit::uninit();
    let skeleton = listening(|| load(&mut object, rule, home))?;
    let guard = match home.and_then(|home| home.guarded.as_ref()) {
        Some(root) => Some(attach_to(root, &cgroup::open(root)?, &skeleton.progs.guard)?),
        None => None,
    };
    let releases = home.filter(|_| skeleton.progs.release.autoload());
    let release = releases.map(|_| listening(|| skeleton.progs.release.attach())).transpose()?;
    let counters = MapHandle::try_from(&skeleton.maps.counters)?;
    Ok(Attached { rule: attach_to(cgroup, &folder, &skeleton.progs.rule)?, guard, release, counters })
}

fn attach_to(cgroup: &Path, folder: &File, program: &ProgramMut<'_>) -> Result<Link, RtoError> {
    let attached = listening(|| program.attach_cgroup(folder.as_raw_fd()));
    attached.map_err(|refused| RtoError::from(refused).attaching(cgroup))
}

fn load<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    rule: &RtoRule,
    home: Option<&Home>,
) -> libbpf_rs::Result<RtoSkel<'a>> {
    let mut skeleton = RtoSkelBuilder::default().open(object)?;
    let has_rto_max = Means::of_kernel().rto_max;
    // Old kernels let no iterator set options. There, only listeners' floors would be released.
    skeleton.progs.release.set_autoload(has_rto_max);
    skeleton.progs.guard.set_autoload(home.is_some_and(|home| home.guarded.is_some()));
    if let Some(constants) = skeleton.maps.rodata_data.as_deref_mut() {
        match rule.timer {
            Timer::Factor { factor, min } => {
                constants.factor_thousandths = (factor * 1000.0).round() as u32;
                constants.min_ms = whole_ms(min);
            }
            Timer::Floor(floor) if SOCKET_RTO_MIN.contains(&floor) => constants.floor_us = whole_us(floor),
            Timer::Floor(_) => {}
        }
        constants.needed_min_us = rule.namespace_floor().map_or(0, whole_us);
        constants.ruled_mark = rule.mark.unwrap_or(0);
        constants.max_ms = whole_ms(rule.max);
        constants.backoff = rule.backoff;
        constants.has_rto_max = has_rto_max;
        if let Some(home) = home {
            constants.ruled_namespace = home.cookie.unwrap_or(0);
            constants.stock_min_us = whole_us(home.min);
            constants.stock_max_ms = whole_ms(home.max);
        }
    }
    skeleton.load()
}

fn whole_ms(time: Dur) -> u32 {
    time.as_millis() as u32
}

fn whole_us(time: Dur) -> u32 {
    (time.0 / 1000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::libbpf_sys;
    use std::os::fd::AsFd;

    #[test]
    #[allow(unsafe_code, reason = "libbpf-rs attaches to cgroups beside others alone")]
    fn a_program_that_excludes_others_is_told() {
        if !nix::unistd::geteuid().is_root() || !Means::of_kernel().rto_max {
            eprintln!("skipped: not root, or an old kernel");
            return;
        }
        let path = cgroup::mount().unwrap().join(format!("airtcp-exclusive-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        let folder = cgroup::open(&path).unwrap();
        let (rule, mut object) = (RtoRule::factor(10.0), MaybeUninit::uninit());
        let skeleton = load(&mut object, &rule, None).unwrap();
        let program = skeleton.progs.rule.as_fd().as_raw_fd();
        // SAFETY: both are open.
        let code = unsafe {
            libbpf_sys::bpf_prog_attach(program, folder.as_raw_fd(), libbpf_sys::BPF_CGROUP_SOCK_OPS, 0)
        };
        assert_eq!(code, 0);
        let told = attach(&path, &rule).map(drop).unwrap_err().to_string();
        std::fs::remove_dir(&path).unwrap();
        assert!(told.contains("excludes others") && told.contains(path.to_str().unwrap()), "{told}");
    }
}
