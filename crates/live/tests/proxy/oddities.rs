//! A host with whatever `ip` can make, and all of airtcpd there: what it does not know of a host hurts nothing.

use crate::circuit::{Gateway, KEY, RECEIVE, of};
use crate::daemon::at_base_of;
use crate::rig::{MOBILE, Rig, WIRELESS, accept, eventually, ip, listen, plain, records};
use airtcp_live::proxy::{Entrance, Limits, Proxy};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

/// Arguments of `ip`. What this kernel or this iproute2 lacks is left out.
const ODDITIES: &str = "
link add odd0 type dummy
link set odd0 up alias odd,indeed
link property add dev odd0 altname an-alternative-name-of-more-than-15-letters
link add link wd0 name wd0.5 type vlan id 5 ingress-qos-map 1:2
link add link wd0 name odd-mac type macvlan mode bridge
link add odd-bond type bond mode active-backup
link add odd-bridge type bridge vlan_filtering 1
link add odd-gre type gre local 10.2.0.1 remote 10.2.0.2 ttl 9 key 7
link add odd-ipip type ipip local 10.2.0.1 remote 10.2.0.2
link add odd-sit type sit local 10.2.0.1
link add odd-vxlan type vxlan id 5 dev wd0 dstport 4789
link add odd-geneve type geneve id 5 remote 10.2.0.2
link add odd-wg type wireguard
link add odd-ifb type ifb
link add odd-vrf type vrf table 77
link set odd-vrf up
link add odd-xfrm type xfrm dev wd0 if_id 7
link add odd-team type team
link set odd-gre up
link set odd-ipip up mtu 1300
address add 10.66.0.1 peer 10.66.0.2/32 dev odd0 label odd0:label
address add 10.67.0.1/24 dev odd0 valid_lft 900 preferred_lft 800
address add 10.68.0.1/24 dev odd0 noprefixroute metric 77 scope link
address add 10.69.0.1/31 broadcast 10.69.0.3 dev odd0 proto 0x20
address add 10.66.1.1/24 dev odd-vrf
-6 address add fd66::1/64 dev odd0 nodad home mngtmpaddr valid_lft 900 preferred_lft 0
-6 address add fe80::66/64 peer fe80::67 dev odd0 nodad
nexthop add id 7 via 10.2.0.2 dev wd0
nexthop add id 8 via 10.1.0.2 dev air0
nexthop add id 9 group 7,3/8
nexthop add id 10 blackhole
nexthop add id 11 group 7/8 type resilient buckets 4
nexthop add id 12 encap ip id 30 dst 10.2.0.2 via 10.2.0.2 dev wd0
route add 10.70.0.0/24 via 10.2.0.2 congctl cubic
route add 10.70.1.0/24 dev odd0 congctl lock reno mtu lock 1400 advmss 1000 window 50000
route add 10.70.2.0/24 dev odd0 rtt 300ms rttvar 9ms ssthresh 77 cwnd lock 9 reordering 9 rto_min 50ms hoplimit 9
route add 10.70.3.0/24 dev odd0 initcwnd 20 initrwnd 30 features ecn quickack 1 fastopen_no_cookie 1 realm 5
route add 10.71.0.0/24 nexthop via 10.2.0.2 weight 3 nexthop via 10.1.0.2 weight 5 onlink congctl cubic
route add 10.72.0.0/24 nhid 7
route add 10.73.0.0/24 nhid 9 mtu 1300
route add 10.74.0.0/24 nhid 10
route add 10.75.0.0/24 nhid 11
route add 10.75.1.0/24 nhid 12
route add 10.76.0.0/24 via inet6 fe80::1 dev wd0
route add unreachable 10.77.1.0/24 metric 4278198272
route add blackhole 10.77.2.0/24
route add prohibit 10.77.3.0/24
route add throw 10.77.4.0/24 table 4000000
route add local 10.77.5.0/24 dev lo table local
route add 10.78.0.0/24 tos 0x10 dev wd0 src 10.2.0.1 proto 77 scope link metric 9
route add 10.79.0.0/24 encap ip id 30 dst 10.2.0.2 ttl 9 tos 4 dev odd-gre
route add 10.79.1.0/24 encap mpls 100/200 via 10.2.0.2
route add 10.79.2.0/24 encap seg6 mode encap segs fd02::2 dev wd0
route add default dev odd0 table 77 congctl cubic
route add multicast 224.5.0.0/16 dev odd0
route add default metric 5000 nexthop via 10.2.0.2 nexthop via 10.1.0.2
-6 route add fd70::/64 dev odd0 congctl cubic expires 900 pref high
-6 route add fd71::/64 encap seg6 mode inline segs fd02::2 dev wd0
-6 route add fd72::/64 encap ioam6 trace prealloc type 0x800000 ns 0 size 12 dev wd0
-6 route add fd73::/64 nexthop via fd02::2 weight 2 nexthop via fd01::2
-6 route add fd74::/64 from fd66::/64 dev odd0
rule add pref 90 uidrange 5000-6000 lookup main
rule add pref 100 from 10.9.0.0/16 goto 300
rule add pref 110 l3mdev
rule add pref 120 lookup main suppress_prefixlength 0
rule add pref 130 lookup main suppress_ifgroup 5
rule add pref 140 fwmark 0x1/0xff lookup 77
rule add pref 150 ipproto tcp sport 1000-2000 dport 80 lookup 77
rule add pref 160 ipproto udp lookup 77
rule add pref 170 not from 0.0.0.0/0 iif wd0 lookup 77
rule add pref 180 to 10.99.0.0/24 oif wd0 prohibit
rule add pref 190 to 10.98.0.0/24 blackhole
rule add pref 200 tun_id 5 lookup 77
rule add pref 210 dsfield 0x10 to 10.97.0.0/24 lookup 77
rule add pref 220 to 10.96.0.0/24 dscp 5 lookup 77
rule add pref 230 to 10.95.0.0/24 flowlabel 5 lookup 77
rule add pref 240 to 10.94.0.0/24 realms 5/6 lookup 77
rule add pref 300 lookup main protocol 77
-6 rule add pref 100 from fd09::/16 goto 300
-6 rule add pref 110 uidrange 5000-6000 lookup main
-6 rule add pref 300 lookup main
";

/// Of these every kernel has all.
const LEAST: usize = 30;

/// The base station as such a host.
fn on_an_odd_host(test: impl FnOnce(&Rig) + Send) {
    let Some(rig) = Rig::new(None) else { return };
    at_base_of(&rig, |rig| {
        let made = |line: &&str| {
            Command::new("ip").args(line.split(' ')).stderr(Stdio::null()).status().unwrap().success()
        };
        let lines = ODDITIES.lines().filter(|line| !line.is_empty());
        let (made, lacking): (Vec<_>, Vec<_>) = lines.partition(made);
        if !lacking.is_empty() {
            eprintln!("not here: {lacking:#?}");
        }
        assert!(made.len() >= LEAST, "{made:?}");
        assert!(ip("route show 10.70.0.0/24").contains("congctl cubic"));
        assert!(of("circuit", &format!("key {KEY}")).status().unwrap().success());
        test(rig);
    });
}

fn run(command: &mut Command) -> Output {
    command.stderr(Stdio::piped()).output().unwrap()
}

fn assert_works(command: &mut Command) {
    let Output { status, stderr, .. } = run(command);
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
}

#[test]
fn programs_start_whatever_the_host_has() {
    on_an_odd_host(|rig| {
        let _receiver = Gateway::start(&rig.mobile, RECEIVE);
        let line = "--receiver 10.1.0.2:4007 --key-file /run/circuit.key -- true";
        assert_works(&mut of("decouple", line));
        assert_works(&mut of("link", "--shell --quiet --every 0 -- true"));
        assert_works(&mut of("link", "--shell --nat --quiet --every 0 -- true"));
        let doctor = run(&mut of("doctor", ""));
        let told = String::from_utf8_lossy(&doctor.stdout);
        assert!(told.contains("leftovers") && doctor.stderr.is_empty(), "{doctor:?}");
    });
}

#[test]
fn daemons_serve_whatever_the_host_has() {
    on_an_odd_host(|rig| {
        let _receiver = Gateway::start(&rig.mobile, RECEIVE);
        let before = state();
        let circuit = Gateway::of(
            "circuit",
            &rig.base,
            of("circuit", "send --to 10.1.0.2:4007 --prefix 10.3.0.0/24").args(["--key-file", KEY]),
        );
        eventually(|| circuit.count("open") == 1, "there is a circuit");
        circuit.end();
        for stack in ["kernel", "own"] {
            let proxy = format!("run --wireless air0 --connections 100 --wireless-stack {stack}");
            let proxy = Gateway::of("proxy", &rig.base, &mut of("proxy", &proxy));
            eventually(|| proxy.status().is_some(), "there is a proxy");
            proxy.end();
        }
        eventually(|| state() == before, "all of it is as it was");
    });
}

/// Rules, routes and links, without what the kernel does in its own time: its routes to IPv6 addresses, what counts down,
/// and the state of links.
fn state() -> Vec<String> {
    let tables = ["rule", "-6 rule", "route show table all", "-6 route show table all"].map(ip).concat();
    let lasting = tables.lines().filter(|line| !line.contains("proto kernel"));
    let words = lasting.flat_map(str::split_whitespace).filter(|word| !word.ends_with("sec"));
    let links = ip("-o link");
    let names = links.lines().filter_map(|line| line.split_whitespace().nth(1));
    words.chain(names).map(str::to_owned).collect()
}

/// `ip netns exec` hides the cgroups of the host.
#[test]
fn a_command_in_a_named_namespace_is_decoupled() {
    let Some(rig) = Rig::new(None) else { return };
    if airtcp_kernel::cgroup::mount().is_none() {
        return eprintln!("skipped: no cgroups of version 2 here");
    }
    at_base_of(&rig, |rig| {
        assert!(of("circuit", &format!("key {KEY}")).status().unwrap().success());
        let _receiver = Gateway::start(&rig.mobile, RECEIVE);
        ip(&format!("netns attach base {}", nix::unistd::gettid()));
        let listener = listen(&rig.mobile, SocketAddr::new(MOBILE, 0));
        let port = listener.local_addr().unwrap().port();
        let hidden = "! grep -q cgroup2 /proc/self/mounts || exit 3";
        let script = format!(
            "{hidden}; exec 3<>/dev/tcp/10.1.0.2/{port}; echo hello >&3; read status <&3; exit $status"
        );
        let mut command = Command::new("ip");
        command.args(["netns", "exec", "base", env!("CARGO_BIN_EXE_airtcpd"), "decouple"]);
        command.args(["--receiver", "10.1.0.2:4007", "--key-file", KEY, "--", "bash", "-c", &script]);
        let mut daemon = Gateway::of("decouple", &rig.base, &mut command);
        let mut far = accept(&listener);
        far.read_exact(&mut [0; 6]).unwrap();
        assert_eq!(daemon.count("accepted_total"), 1, "it is carried");
        far.write_all(b"7\n").unwrap();
        drop(far);
        assert_eq!(daemon.process.wait().unwrap().code(), Some(7));
        // A cgroup that could not be removed would stay on record.
        let own = format!("{}-", daemon.process.id());
        assert!(!records().iter().any(|name| name.starts_with(&own)), "{:?}", records());
    });
}

/// As in a network namespace that somebody has just made.
#[test]
fn without_a_loopback_a_proxy_says_how_to_get_one() {
    let Some(rig) = Rig::new(None) else { return };
    let entrance = Entrance::Transparent { wireless: WIRELESS.to_owned(), ports: vec![] };
    let set_up = || {
        ip("link set lo down");
        Proxy::set_up(&plain(entrance.clone(), Limits::default())).err().unwrap().to_string()
    };
    let said = rig.base.run(set_up).unwrap();
    assert!(said.contains("`ip link set lo up`"), "{said}");
}
