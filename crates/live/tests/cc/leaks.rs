//! Whatever is loaded and used goes away again.

use crate::{Kernel, daemon, objects, sockets};
use airtcp_kernel::cc::{self, Request};
use airtcp_live::namespace::Namespace;
use std::collections::BTreeMap;
use std::fs;

#[test]
fn a_hundred_cycles_of_loading_and_unloading_leave_nothing() {
    let Some(kernel) = Kernel::take() else { return };
    let before = objects::all();
    let name = kernel.name("cycle");
    for controller in cc::controllers().iter().cycle().take(100) {
        let request = Request { controller, name: Some(name.clone()), params: BTreeMap::new() };
        cc::load(&[request], &[]).unwrap();
        let unloaded = cc::unload(&name, false).unwrap();
        assert_eq!(unloaded.sockets, Some(0));
    }
    daemon::assert_gone(&name);
    objects::assert_none_since(&before);
}

/// It has died between its steps: its maps are pinned, its link is not.
#[test]
fn what_a_killed_loader_has_left_is_removed_by_the_next() {
    let Some(kernel) = Kernel::take() else { return };
    let (before, name) = (objects::all(), kernel.name("killed"));
    daemon::cc(&["load", "veno", "--as", &name]);
    fs::remove_file(format!("/sys/fs/bpf/airtcp/cc/{name}/link")).unwrap();
    let next = kernel.name("next");
    daemon::cc(&["load", "veno", "--as", &next]);
    daemon::assert_gone(&name);
    daemon::cc(&["unload", &next]);
    objects::assert_none_since(&before);
}

#[test]
fn a_thousand_short_connections_leave_nothing() {
    let Some(kernel) = Kernel::take() else { return };
    let before = objects::all();
    for controller in cc::controllers() {
        let request = Request { controller, name: Some(kernel.name("short")), params: BTreeMap::new() };
        let registered = cc::register(&request).unwrap();
        let namespace = Namespace::new().unwrap();
        namespace.sysctl("net.ipv4.tcp_congestion_control", registered.name()).unwrap();
        let connections = 1000 / cc::controllers().len();
        namespace
            .run(|| {
                for _ in 0..connections {
                    sockets::transfer(&mut sockets::pair(), 1);
                }
                assert_eq!(sockets_in_use(), "0", "{}", controller.kernel_name);
            })
            .unwrap();
        let counters = registered.counters().unwrap();
        assert_eq!((counters.sockets_opened, counters.sockets()), (2 * connections as u64, 0));
    }
    objects::assert_none_since(&before);
}

/// Of this thread's namespace. Those that wait for late segments (RFC 9293's TIME-WAIT) have no controller any more.
fn sockets_in_use() -> String {
    let text = fs::read_to_string("/proc/thread-self/net/sockstat").unwrap();
    let line = text.lines().find(|line| line.starts_with("TCP:")).unwrap();
    line.split(' ').nth(2).unwrap().to_owned()
}
