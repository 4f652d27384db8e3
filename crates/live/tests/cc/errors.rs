//! What cannot be done says why, and leaves nothing behind.

use crate::sharing::without_rights;
use crate::{Kernel, daemon, objects};
use airtcp_kernel::cc::{self, Request};
use std::collections::BTreeMap;
use std::process::Command;

#[test]
fn what_is_wrong_is_told_and_nothing_is_loaded() {
    let Some(kernel) = Kernel::take() else { return };
    let (before, name) = (objects::all(), kernel.name("wrong"));
    let version1 = std::env::temp_dir();
    let cases: &[(&[&str], &str)] = &[
        (&["venno"], "did you mean `veno`?"),
        (&["veno:bata=3"], "did you mean `beta`?"),
        (&["veno:beta=-1"], "out of range: 0 to 1000"),
        (&["veno:beta=nan"], "out of range"),
        (&["westwood-vt:alpha=20"], "`westwood-vt`: alpha = 20 exceeds beta = 16: lower alpha to 16 or less"),
        (&["westwood-vt:alpha=15", "--set", "beta=12"], "or raise beta to 15 or more"),
        (&["veno:beta=many"], "`many` is not a number"),
        (&["veno", "--set", "beta"], "write KEY=VALUE"),
        (&["veno", "hybla", "--set", "beta=3"], "for one controller"),
        (&["hybla", "veno:bata=3"], "did you mean `beta`?"),
        (&["veno", "veno"], "veno is named twice"),
        (&["veno:beta=2:beta=3"], "beta is given twice"),
        (&["veno:beta=2", "--set", "beta=3"], "beta is given twice"),
        (&["veno", "--as", "sixteen_letters_"], "1 to 15 letters"),
        (&["veno", "--as", "../veno"], "1 to 15 letters"),
        (&["veno", "--cgroup", "/nowhere"], "no cgroup /nowhere"),
        (&["veno", "--cgroup", version1.to_str().unwrap()], "is not a v2 cgroup"),
        (&["veno", "--route", "fd00::/8"], "--cgroup"),
    ];
    for (args, expected) in cases {
        let mut args = [&["load"], *args].concat();
        // Under a name of its own, lest others of the host be in the way.
        let is_one = args.get(2).is_none_or(|next| next.starts_with("--"));
        if is_one && !args.contains(&"--as") {
            args.extend(["--as", &name]);
        }
        let error = daemon::mistaken(&args);
        assert!(error.contains(expected), "{args:?}: {error}");
    }
    assert!(daemon::refused(&["load", "veno", "--as", "reno"]).contains("from the kernel"));
    let no_route = daemon::refused(&["load", "veno", "--as", &name, "--route", "203.0.113.0/24"]);
    assert!(no_route.contains("no route to exactly 203.0.113.0/24"), "{no_route}");
    daemon::assert_gone(&name);
    objects::assert_none_since(&before);
}

#[test]
fn a_name_that_is_taken_is_told_with_its_owner() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("taken");
    let controller = cc::find("veno").unwrap();
    let request = Request { controller, name: Some(name.clone()), params: BTreeMap::new() };
    let foreign = cc::register(&request).unwrap();
    let error = daemon::refused(&["load", "hybla", "--as", &name]);
    assert!(error.contains("another eBPF program"), "{error}");
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    assert!(daemon::refused(&["unload", &name]).contains("airtcpd has not loaded"));
    assert!(daemon::available().contains(&name));
    drop(foreign);
    daemon::assert_gone(&name);
    daemon::cc(&["load", "hybla", "--as", &name]);
    assert!(daemon::refused(&["load", "hybla", "--as", &name]).contains("from airtcpd cc load"));
    assert!(daemon::mistaken(&["set", &name, "rho_max=2", "rho=1"]).contains("has no parameter `rho`"));
    assert_eq!(daemon::status(&name)["params"]["rho_max"], 16.0);
    daemon::cc(&["unload", &name]);
    daemon::assert_gone(&name);
}

#[test]
fn a_change_that_is_out_of_order_with_what_is_loaded_is_refused() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("order");
    daemon::cc(&["load", "westwood-vt:alpha=4:beta=8", "--as", &name]);
    let error = daemon::mistaken(&["set", &name, "alpha=10"]);
    assert!(error.contains("`westwood-vt`: alpha = 10 exceeds beta = 8"), "{error}");
    assert_eq!(daemon::status(&name)["params"]["alpha"], 4.0);
    daemon::cc(&["set", &name, "alpha=10", "beta=12"]);
    assert_eq!(daemon::status(&name)["params"]["alpha"], 10.0);
    daemon::cc(&["unload", &name]);
    daemon::assert_gone(&name);
}

#[test]
fn missing_rights_are_named() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("bare");
    let output = without_rights(&[daemon::PROGRAM, "cc", "load", "veno", "--as", &name]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("missing CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF"), "{error}");
    daemon::assert_gone(&name);
}

/// `ip netns exec` hides the BPF file system: what is pinned in one of its own goes with the command.
#[test]
fn nothing_is_loaded_where_it_would_not_stay() {
    let Some(kernel) = Kernel::take() else { return };
    let (before, name) = (objects::all(), kernel.name("passing"));
    let script = format!(
        "mount -t tmpfs airtcp-test /sys/fs/bpf && exec {} cc load veno --as {name}",
        env!("CARGO_BIN_EXE_airtcpd")
    );
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("nsenter --net="), "{error}");
    objects::assert_none_since(&before);
}
