//! Congestion controls in the running kernel. Needs root and a kernel with struct_ops; skipped elsewhere.

use airtcp_kernel::cc;
use std::collections::BTreeMap;

#[test]
fn a_controller_can_be_registered() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return;
    }
    for controller in cc::controllers() {
        let name = Some(format!("airtcp{}", std::process::id()));
        let request = cc::Request { controller, name, params: BTreeMap::new() };
        let registered = cc::register(&request).unwrap_or_else(|error| panic!("{error}"));
        let available =
            std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        assert!(available.contains(registered.name()), "{available}");
        assert_eq!(registered.counters().unwrap().sockets(), 0);
        for param in &controller.params {
            registered.set(param.name, param.max).unwrap();
            assert_eq!(registered.params().unwrap()[param.name], param.max);
        }
    }
}
