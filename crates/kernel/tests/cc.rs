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
        let greatest: BTreeMap<_, _> =
            controller.params.iter().map(|param| (param.name.to_owned(), param.max)).collect();
        registered.set_all(&greatest).unwrap();
        for (name, value) in registered.params().unwrap() {
            assert_eq!(value, greatest[name]);
        }
    }
}

#[test]
fn a_change_must_be_in_order_with_what_stays() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return;
    }
    let name = Some(format!("ordered{}", std::process::id()));
    let controller = cc::find("westwood-vt").unwrap();
    let params = |alpha, beta| BTreeMap::from([("alpha".to_owned(), alpha), ("beta".to_owned(), beta)]);
    let wrong = cc::register(&cc::Request { controller, name: name.clone(), params: params(20.0, 16.0) });
    assert!(wrong.err().unwrap().to_string().contains("alpha = 20 exceeds beta = 16"));
    let registered = cc::register(&cc::Request { controller, name, params: params(20.0, 24.0) }).unwrap();
    let refusal = |key, value| registered.set(key, value).unwrap_err().to_string();
    assert!(refusal("alpha", 25.0).contains("alpha = 25 exceeds beta = 24"));
    assert!(refusal("beta", 19.0).contains("alpha = 20 exceeds beta = 19"));
    let now = |key| registered.params().unwrap()[key];
    assert_eq!((now("alpha"), now("beta")), (20.0, 24.0));
    registered.set("beta", 20.0).unwrap();
    registered.set_all(&params(30.0, 31.0)).unwrap();
    assert_eq!((now("alpha"), now("beta")), (30.0, 31.0));
}
