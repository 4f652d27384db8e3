//! What `airtcpd rto` needs.

use super::check::{Check, Section, incapable, newer_kernel, words};
use airtcp_kernel::rto::{self, Means, RTO_MAX, RtoRule};
use airtcp_kernel::{cgroup, loading::missing_capabilities};
use airtcp_wire::Dur;
use std::fs;
use std::path::{Path, PathBuf};

const WHY: &str = "a custom retransmission timer";

pub fn section() -> Section {
    let mounted = cgroup::mount();
    let means = Means::of_kernel();
    let mut checks = vec![factor(means.rto_max), cgroups(mounted.as_deref())];
    checks.extend(mounted.map(|root| sockops(&root, &some_rule(means))));
    checks.extend(installed());
    Section { name: "rto, retransmission timers", checks }
}

fn factor(has_rto_max: bool) -> Check {
    let (what, why) = ("--factor", "a timer of SRTT + m·RTTVAR");
    if has_rto_max {
        return Check::ok(what, why, "a connection's longest RTO can be set (TCP_RTO_MAX_MS)");
    }
    let found = "no TCP_RTO_MAX_MS in this kernel; a floor works: --floor 50ms --max 120s";
    let own = "airtcpd proxy run --wireless IFACE --wireless-stack own --wireless-scheme rto-m:m=10+gbn";
    Check::missing(what, why, found, &format!("`{own}`; or {}", newer_kernel("6.15")))
}

/// One that this kernel has the means for.
fn some_rule(means: Means) -> RtoRule {
    match means.rto_max {
        true => RtoRule::factor(10.0),
        false => RtoRule { max: *RTO_MAX.end(), ..RtoRule::floor(Dur::from_millis(50)) },
    }
}

fn cgroups(mounted: Option<&Path>) -> Check {
    match mounted {
        Some(root) => Check::ok("cgroup2", WHY, format!("mounted at {}", root.display())),
        None => {
            let cure = "mount -t cgroup2 none /sys/fs/cgroup/unified";
            Check::missing("cgroup2", WHY, "not mounted", cure).needed()
        }
    }
}

fn sockops(root: &Path, rule: &RtoRule) -> Check {
    if let Some(missing) = missing_capabilities() {
        return incapable("sockops", WHY, &missing);
    }
    let path = root.join(format!("airtcp-doctor-{}", std::process::id()));
    let attach = |folder: &Folder| rto::attach(&folder.0, rule).map_err(words);
    let done = Folder::make(path).map_err(words).and_then(|folder| attach(&folder).map(drop));
    let done = done.map(|()| "attached the program to a cgroup, and detached it".to_owned());
    Check::tried("sockops", WHY, done, "CONFIG_CGROUP_BPF, and no exclusive program attached by others")
        .needed()
}

/// A cgroup, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn make(path: PathBuf) -> std::io::Result<Folder> {
        fs::create_dir(&path).map(|()| Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn installed() -> Option<Check> {
    let installed = rto::installed().ok()??;
    let why = "knowing which rule is in force";
    let found = format!("{}: {}", installed.record.cgroup.display(), installed.record.rule);
    Some(match installed.counters {
        Some(_) => Check::ok("installed", why, found),
        None => Check::limited(
            "installed",
            why,
            format!("{found}, by a process that was killed"),
            "airtcpd rto off",
        ),
    })
}
