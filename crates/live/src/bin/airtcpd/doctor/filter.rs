//! What `airtcpd filter` needs.

use super::check::{Check, Section, incapable, with_rights, words};
use airtcp_kernel::filter::{Hooks, Parameters, attach};
use airtcp_kernel::loading::missing_capabilities;
use airtcp_live::namespace::Namespace;

const WHY: &str = "packet control at a base station";
const PROGRAMS: &str = "programs";

pub fn section() -> Section {
    let checks = match missing_capabilities() {
        Some(missing) => vec![incapable(PROGRAMS, WHY, &missing)],
        None => vec![hooks(Hooks::Newest), hooks(Hooks::Clsact)],
    };
    Section { name: "filter, packet control", checks }
}

/// Attaches the programs to a loopback of their own.
fn hooks(hooks: Hooks) -> Check {
    let attached = || attach("lo", &Parameters::default(), hooks).map(|attached| attached.hooks());
    let tried = Namespace::new().and_then(|namespace| namespace.run(attached)).map_err(words);
    let done = tried.and_then(|done| done.map_err(words));
    let done = done.map(|hooks| format!("attached the programs to {hooks}, and removed them"));
    let cure =
        &with_rights("the kernel needs tcx (Linux 6.6), or CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF");
    match hooks {
        Hooks::Newest => Check::tried(PROGRAMS, WHY, done, cure).needed(),
        Hooks::Clsact => Check::tried("clsact", "airtcpd filter attach --clsact", done, cure),
    }
}
