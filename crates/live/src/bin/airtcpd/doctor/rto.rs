//! What `airtcpd rto` needs.

use super::check::{Check, Section, words};
use airtcp_kernel::rto::{self, RtoRule};
use airtcp_kernel::{cgroup, loading::missing_capabilities};
use std::fs;
use std::path::{Path, PathBuf};

const WHY: &str = "a custom retransmission timer";

pub fn section() -> Section {
    let mounted = cgroup::mount();
    let mut checks = vec![longest_rto(), cgroups(mounted.as_deref())];
    checks.extend(mounted.map(|root| sockops(&root)));
    checks.extend(installed());
    Section { name: "rto, retransmission timers", checks }
}

fn longest_rto() -> Check {
    let done = rto::has_rto_max().map(|()| "can be set per connection".to_owned()).map_err(words);
    Check::tried("TCP_RTO_MAX_MS", WHY, done, "Linux 6.15 or newer").needed()
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

fn sockops(root: &Path) -> Check {
    if let Some(missing) = missing_capabilities() {
        let found = format!("could not be tested without {missing}");
        return Check::missing("sockops", WHY, found, "run it as root (sudo)").needed();
    }
    let path = root.join(format!("airtcp-doctor-{}", std::process::id()));
    let attach = |folder: &Folder| rto::attach(&folder.0, &RtoRule::factor(10.0)).map_err(words);
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
