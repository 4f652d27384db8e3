//! What `airtcpd cc` needs.

use super::check::{Check, Health, Section, capable, incapable, newer_kernel, with_rights, words};
use airtcp_kernel::cc::probe;
use airtcp_kernel::cc::{
    CcError, Controller, Request, controllers, missing_in_kernel, register, release_unpinned,
};
use airtcp_kernel::loading::{bpffs, missing_capabilities};
use std::collections::BTreeMap;

const LOADING: &str = "loading congestion controls";
const SCHEME: &str = "this scheme in the kernel";

pub fn section() -> Section {
    let mut checks = vec![capabilities()];
    checks.extend(of_the_dead());
    checks.push(types());
    let struct_ops = struct_ops();
    let can_load = struct_ops.verdict == Health::Ok;
    checks.extend([struct_ops, bpf_file_system()]);
    if can_load {
        checks.extend(controllers().iter().map(loads));
    }
    Section { name: "cc, congestion controls for the kernel", checks }
}

fn capabilities() -> Check {
    match missing_capabilities() {
        None => Check::ok("capabilities", LOADING, "CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN"),
        Some(missing) => {
            Check::missing("capabilities", LOADING, format!("without {missing}"), &capable(&missing)).needed()
        }
    }
}

/// Before Linux 6.4, who is killed while it registers a controller leaves it.
fn of_the_dead() -> Option<Check> {
    if missing_capabilities().is_some() {
        return None;
    }
    let why = "loading it again";
    match release_unpinned() {
        Ok(names) if names.is_empty() => None,
        Ok(names) => Some(Check::ok(
            "leftovers",
            why,
            format!("unregistered {}, left by a killed airtcpd", names.join(", ")),
        )),
        Err(error) => Some(Check::limited("leftovers", why, words(error), "restart this host")),
    }
}

fn types() -> Check {
    let why = "programs that fit this kernel (BTF)";
    let cure = "a recent distribution kernel, or CONFIG_DEBUG_INFO_BTF=y and CONFIG_BPF_JIT=y";
    match missing_in_kernel() {
        None => Check::ok("kernel's types", why, "/sys/kernel/btf/vmlinux, with struct_ops for TCP"),
        Some(missing) => Check::missing("kernel's types", why, missing, cure).needed(),
    }
}

fn struct_ops() -> Check {
    let cure = with_rights("Linux 5.10 or newer with BTF and CONFIG_BPF_JIT");
    if let Some(missing) = missing_capabilities() {
        return incapable("struct_ops", LOADING, &missing);
    }
    let done = probe::congestion_controls().map_err(words);
    let done = done.map(|()| "registered and unregistered a Reno".to_owned());
    Check::tried("struct_ops", LOADING, done, &cure).needed()
}

fn bpf_file_system() -> Check {
    let why = "keeping programs loaded (cc load, rto)";
    let is_there = std::path::Path::new(bpffs::PLACE).is_dir();
    match (bpffs::is_mounted(), is_there) {
        (true, _) => Check::ok("BPF file system", why, format!("mounted at {}", bpffs::PLACE)),
        (false, true) => {
            Check::ok("BPF file system", why, format!("{} is mounted when needed", bpffs::PLACE))
        }
        (false, false) => {
            let found = format!("no {}", bpffs::PLACE);
            Check::missing("BPF file system", why, found, "CONFIG_BPF_SYSCALL; mount sysfs at /sys").needed()
        }
    }
}

fn loads(controller: &'static Controller) -> Check {
    let name = Some(format!("doctor_{}", std::process::id()));
    let request = Request { controller, name, params: BTreeMap::new() };
    let done = register(&request).map(|_| format!("the kernel takes it ({})", controller.kernel_name));
    let cure = match done {
        Err(CcError::NoPacing(_)) => newer_kernel("6.0"),
        _ => "report the kernel's message and version to us".to_owned(),
    };
    match (done, needs(controller)) {
        (Ok(found), Some((lack, cure))) => {
            Check::limited(controller.scheme(), SCHEME, format!("{found}; {lack}"), &cure)
        }
        (done, _) => Check::tried(controller.scheme(), SCHEME, done.map_err(words), &cure),
    }
}

/// What this network namespace lacks for `controller`, and the cure.
fn needs(controller: &Controller) -> Option<(String, String)> {
    let unmet = controller.needs().into_iter().filter_map(|need| Some((need, need.unmet().ok()??)));
    let (lacks, cures): (Vec<_>, Vec<_>) =
        unmet.map(|(need, found)| (format!("{found} here: {}", need.without), need.setting())).unzip();
    (!lacks.is_empty()).then(|| (lacks.join("; "), format!("sysctl -w {}", cures.join(" "))))
}
