//! For some traffic only.

use crate::{Kernel, daemon, objects, sockets};
use airtcp_kernel::cgroup;
use airtcp_live::namespace::Namespace;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Enters a cgroup, then prints the controllers of a connection's ends.
const IN_CGROUP: &str = "
import os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
listener = socket.create_server(('127.0.0.1', 0))
opener = socket.create_connection(listener.getsockname())
for end in opener, listener.accept()[0]:
    print(end.getsockopt(6, socket.TCP_CONGESTION, 16).rstrip(b'\\0').decode())
";

/// A cgroup for a test.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new(name: &str) -> Option<Cgroup> {
        let Some(mount) = cgroup::mount() else {
            eprintln!("skipped: no cgroups of version 2 here");
            return None;
        };
        let path = mount.join(name);
        fs::create_dir(&path).unwrap();
        Some(Cgroup(path))
    }

    /// The controllers of who opens and who accepts a connection in it.
    fn connection(&self) -> Vec<String> {
        let output = Command::new("python3").args(["-c", IN_CGROUP]).arg(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel may still be taking its last process out; then an empty folder stays.
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_cgroups_connections_use_it_until_it_is_unloaded() {
    let Some(kernel) = Kernel::take() else { return };
    let (before, name) = (objects::all(), kernel.name("group"));
    let Some(group) = Cgroup::new(&name) else { return };
    let path = group.0.to_str().unwrap();
    let namespace = Namespace::new().unwrap();
    let connection = || namespace.run(|| group.connection()).unwrap();
    let usual = connection();
    daemon::cc(&["load", "vegas", "--as", &name, "--cgroup", path]);
    assert_eq!(connection(), [name.as_str(), &name]);
    assert_ne!(namespace.run(|| sockets::selected(&sockets::pair().0)).unwrap(), name, "outside of it");
    let error = daemon::refused(&["load", "vegas", "--as", &kernel.name("other"), "--cgroup", path]);
    assert!(error.contains(&format!("already uses `{name}`")), "{error}");
    assert!(daemon::cc(&["unload", &name]).contains(&format!("undone: cgroup {path}")));
    assert_eq!(connection(), usual);
    daemon::assert_gone(&name);
    objects::assert_none_since(&before);
}

/// Whichever of both a connection uses has begun with it, and ends with it.
#[test]
fn beside_a_route_a_cgroup_decides_unless_the_route_is_locked() {
    let Some(kernel) = Kernel::take() else { return };
    let (in_group, on_route) = (kernel.name("group"), kernel.name("route"));
    let Some(group) = Cgroup::new(&in_group) else { return };
    let namespace = Namespace::new().unwrap();
    daemon::cc(&["load", "veno", "--as", &in_group, "--cgroup", group.0.to_str().unwrap()]);
    daemon::cc(&["load", "hybla", "--as", &on_route]);
    let connection = |congctl: &[&str]| {
        let route = ["route", "replace", "local", "127.0.0.1", "dev", "lo", "table", "local", "congctl"];
        let ip = || Command::new("ip").args(route).args(congctl).status().unwrap();
        assert!(namespace.run(ip).unwrap().success());
        namespace.run(|| group.connection()).unwrap()
    };
    let counted = |name: &str| {
        let status = daemon::status(name);
        [&status["counters"]["sockets_opened"], &status["sockets"]].map(|count| count.as_u64().unwrap())
    };
    assert_eq!(connection(&[&on_route]), [in_group.as_str(), &in_group]);
    assert_eq!((counted(&in_group), counted(&on_route)), ([2, 0], [0, 0]));
    assert_eq!(connection(&["lock", &on_route]), [on_route.as_str(), &on_route]);
    assert_eq!((counted(&in_group), counted(&on_route)), ([2, 0], [2, 0]));
    assert_eq!(connection(&["reno"]), [in_group.as_str(), &in_group]);
    assert_eq!(counted(&in_group), [4, 0]);
    daemon::cc(&["unload", &in_group, &on_route]);
    daemon::assert_gone(&in_group);
    daemon::assert_gone(&on_route);
}

#[test]
fn a_routes_connections_use_it_until_it_is_unloaded_from_elsewhere() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("route");
    let namespace = Namespace::new().unwrap();
    let ip = |args: &[&str]| {
        let output = namespace.run(|| Command::new("ip").args(args).output().unwrap()).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let routes = || ip(&["route", "show", "10.77.0.0/16"]);
    ip(&["route", "add", "10.77.0.0/16", "dev", "lo", "mtu", "1400", "congctl", "cubic"]);
    ip(&["route", "add", "10.77.0.0/16", "dev", "lo", "metric", "20"]);
    let usual = routes();
    namespace.run(|| daemon::cc(&["load", "vegas", "--as", &name, "--route", "10.77.0.0/16"])).unwrap();
    let applied = routes();
    assert!(applied.contains(&format!("mtu 1400 congctl {name}")), "{applied}");
    assert!(applied.contains(&format!("metric 20 congctl {name}")), "{applied}");
    let unloaded = daemon::cc(&["unload", &name]);
    assert_eq!(unloaded.matches("undone: route 10.77.0.0/16").count(), 2, "{unloaded}");
    assert_eq!(routes(), usual);
    daemon::assert_gone(&name);
}

/// One of its links is down when it is applied, the other when it is undone.
#[test]
fn a_route_over_links_that_are_down_uses_it_until_it_is_unloaded() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("hops");
    let namespace = Namespace::new().unwrap();
    let script = |text: &str| {
        let output = namespace.run(|| Command::new("sh").args(["-ec", text]).output().unwrap()).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    script(
        "for link in a b; do
             ip link add near_$link type veth peer name far_$link
             ip link set near_$link up; ip link set far_$link up
         done
         ip address add 10.1.0.1/24 dev near_a; ip address add 10.2.0.1/24 dev near_b
         ip route add 10.77.0.0/16 nexthop via 10.1.0.2 weight 3 nexthop via 10.2.0.2",
    );
    let usual = script("ip route show 10.77.0.0/16");
    script("ip link set far_b down");
    namespace.run(|| daemon::cc(&["load", "vegas", "--as", &name, "--route", "10.77.0.0/16"])).unwrap();
    let applied = script("ip link set far_a down; ip link set far_b up; ip route show 10.77.0.0/16");
    assert!(applied.contains(&format!("congctl {name}")), "{applied}");
    daemon::cc(&["unload", &name]);
    assert_eq!(script("ip link set far_a up; ip route show 10.77.0.0/16"), usual);
    daemon::assert_gone(&name);
}

/// Routes to 10.88.0.0/16, each with something of its own. What this kernel or this iproute2 lacks is left out.
const ODD_ROUTES: &str = "
via 10.1.0.2 dev near congctl lock cubic mtu lock 1400 advmss 1000 window 50000 rto_min 50ms initcwnd 20
via 10.1.0.2 dev near rtt 300ms rttvar 9ms ssthresh 77 cwnd lock 9 reordering 9 hoplimit 9 features ecn realm 5
via 10.1.0.2 dev near tos 0x10 metric 9 proto 77 src 10.1.0.1 initrwnd 30 quickack 1 fastopen_no_cookie 1
via inet6 fe80::1 dev near
via 10.99.0.1 dev near onlink
nexthop via 10.1.0.2 weight 3 nexthop via 10.99.0.1 dev near weight 5 onlink
nexthop encap ip id 30 dst 10.1.0.9 via 10.1.0.2 dev near nexthop via 10.1.0.3
nhid 7
nhid 8 mtu 1300
nhid 9
nhid 10
encap ip id 30 dst 10.1.0.9 ttl 9 tos 4 via 10.1.0.2 dev near
encap mpls 100/200 via 10.1.0.2
encap seg6 mode encap segs fd02::2 dev near
";

/// What these need beside the link `near`.
const FOR_ODD_ROUTES: &str = "
link add near type veth peer name far
link set near up
link set far up
address add 10.1.0.1/24 dev near
nexthop add id 7 via 10.1.0.2 dev near
nexthop add id 8 group 7
nexthop add id 9 encap ip id 30 dst 10.1.0.9 via 10.1.0.2 dev near
nexthop add id 10 via 10.99.0.1 dev near onlink
";

/// What airtcpd does not know is carried along.
#[test]
fn whatever_a_route_has_it_has_afterwards() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("odd");
    let lines = |text: &'static str| text.lines().filter(|line| !line.is_empty());
    let is_carried_along = |odd: &&str| {
        let namespace = Namespace::new().unwrap();
        let ip = |line: &str| {
            namespace.run(|| Command::new("ip").args(line.split(' ')).output().unwrap()).unwrap()
        };
        lines(FOR_ODD_ROUTES).for_each(|line| drop(ip(line)));
        if !ip(&format!("route add 10.88.0.0/16 {odd}")).status.success() {
            eprintln!("not here: {odd}");
            return false;
        }
        let routes = || String::from_utf8(ip("-details route show 10.88.0.0/16").stdout).unwrap();
        let usual = routes();
        namespace.run(|| daemon::cc(&["load", "vegas", "--as", &name, "--route", "10.88.0.0/16"])).unwrap();
        let applied = routes();
        assert!(applied.contains(&name), "{odd}: {applied}");
        daemon::cc(&["unload", &name]);
        assert_eq!(routes(), usual, "{odd}");
        daemon::assert_gone(&name);
        true
    };
    let tried = lines(ODD_ROUTES).filter(is_carried_along).count();
    assert!(tried >= 5, "{tried}");
}

#[test]
fn a_namespaces_default_is_put_back_unless_somebody_has_changed_it() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("default");
    let namespace = Namespace::new().unwrap();
    let sysctl = "net.ipv4.tcp_congestion_control";
    let usual = namespace.sysctl_value(sysctl).unwrap();
    let load = || daemon::cc(&["load", "spectcp", "--as", &name, "--default"]);
    namespace.run(load).unwrap();
    let ends = namespace.run(|| <[_; 2]>::from(sockets::pair()).map(|end| sockets::selected(&end))).unwrap();
    assert_eq!(ends, [name.as_str(), &name]);
    daemon::cc(&["unload", &name]);
    assert_eq!(namespace.sysctl_value(sysctl).unwrap(), usual);
    namespace.run(load).unwrap();
    namespace.sysctl(sysctl, "reno").unwrap();
    assert!(!daemon::cc(&["unload", &name]).contains("undone"));
    assert_eq!(namespace.sysctl_value(sysctl).unwrap(), "reno");
    daemon::assert_gone(&name);
}

/// SpecTCP without ECN never slows down.
#[test]
fn who_loads_what_needs_ecn_is_warned_where_there_is_none() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("ecn");
    let namespace = Namespace::new().unwrap();
    let warning = |ecn| {
        namespace.sysctl("net.ipv4.tcp_ecn", ecn).unwrap();
        let load = ["cc", "load", "spectcp", "--as", &name, "--default"];
        let loaded = namespace.run(|| Command::new(daemon::PROGRAM).args(load).output().unwrap()).unwrap();
        daemon::cc(&["unload", &name]);
        String::from_utf8(loaded.stderr).unwrap()
    };
    let warned = warning("2");
    assert!(warned.contains("has net.ipv4.tcp_ecn=2: for connections"), "{warned}");
    assert!(warned.contains("sysctl -w net.ipv4.tcp_ecn=1"), "{warned}");
    assert_eq!(warning("1"), "");
    assert!(daemon::cc(&["list", "new-jersey"]).contains("needs net.ipv4.tcp_timestamps=1"));
}

#[test]
fn who_unloads_what_somebody_else_made_the_default_is_warned() {
    let Some(kernel) = Kernel::take() else { return };
    let name = kernel.name("theirs");
    let namespace = Namespace::new().unwrap();
    daemon::cc(&["load", "veno", "--as", &name]);
    namespace.sysctl("net.ipv4.tcp_congestion_control", &name).unwrap();
    let unload = || Command::new(daemon::PROGRAM).args(["cc", "unload", &name]).output().unwrap();
    let warning = String::from_utf8(namespace.run(unload).unwrap().stderr).unwrap();
    assert!(warning.contains("sysctl -w net.ipv4.tcp_congestion_control=cubic"), "{warning}");
    daemon::assert_gone(&name);
}

#[test]
fn what_cannot_be_undone_keeps_it_loaded_unless_forced() {
    let Some(kernel) = Kernel::take() else { return };
    let (name, previous, other) = (kernel.name("forced"), kernel.name("previous"), kernel.name("other"));
    let Some(group) = Cgroup::new(&name) else { return };
    let path = group.0.to_str().unwrap();
    let namespace = Namespace::new().unwrap();
    let sysctl = "net.ipv4.tcp_congestion_control";
    daemon::cc(&["load", "veno", "--as", &previous]);
    namespace.sysctl(sysctl, &previous).unwrap();
    namespace.run(|| daemon::cc(&["load", "veno", "--as", &name, "--default", "--cgroup", path])).unwrap();
    daemon::cc(&["load", "veno", "--as", &other]);
    daemon::cc(&["unload", &previous]);
    let error = daemon::refused(&["unload", &name, &other]);
    assert!(error.contains("stays loaded") && error.contains("--force"), "{error}");
    assert!(error.contains(&format!("undone: cgroup {path}")), "{error}");
    assert!(daemon::available().contains(&name));
    let applied = daemon::status(&name)["applied"].take();
    assert_eq!((applied.as_array().unwrap().len(), &applied[0]["to"]), (1, &"default".into()), "{applied}");
    daemon::assert_gone(&other);
    daemon::cc(&["unload", &name, "--force"]);
    daemon::assert_gone(&name);
}
