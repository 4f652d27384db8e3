//! What `airtcp compare --on linux` uses besides.

use super::check::{Check, Section, newer_kernel, program, words};
use airtcp_kernel::cc;
use airtcp_kernel::netlink::{LOOPBACK, Netlink};
use airtcp_live::namespace::Namespace;
use airtcp_live::trial::tcp_info::TcpInfo;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};

pub fn section() -> Section {
    let mut checks: Vec<_> = ["cubic", "reno", "bbr"].into_iter().map(present).collect();
    checks.extend([counted_timeouts(), fair_queue(), iperf3()]);
    Section { name: "compare --on linux", checks }
}

fn present(name: &str) -> Check {
    let why = "the comparison, which always includes it";
    match cc::available() {
        Ok(found) => match found.iter().find(|(found, _)| found == name) {
            Some((_, owner)) => Check::ok(name, why, format!("of {owner}")),
            None => Check::limited(
                name,
                why,
                "not there",
                &format!("modprobe tcp_{name} (CONFIG_TCP_CONG_{})", name.to_uppercase()),
            ),
        },
        Err(error) => Check::limited(name, why, words(error), "mount -t proc proc /proc"),
    }
}

fn counted_timeouts() -> Check {
    let why = "records of what the kernel's TCP did";
    let said = |counts| match counts {
        true => "counts timeouts".to_owned(),
        false => {
            "does not count timeouts, as from Linux 6.7 on: airtcpd does, by what is sent again".to_owned()
        }
    };
    let done = TcpInfo::counts_timeouts().map(said).map_err(words);
    Check::tried("TCP_INFO", why, done, &newer_kernel("4.1")).needed()
}

fn fair_queue() -> Check {
    let why = "pacing in the queue; without it bbr paces itself";
    let make = || {
        let mut message = TcMessage::with_index(LOOPBACK as i32);
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![TcAttribute::Kind("fq".to_owned())];
        Netlink::open()?.change(RouteNetlinkMessage::NewQueueDiscipline(message))
    };
    match Namespace::new().and_then(|namespace| namespace.run(make)?) {
        Ok(()) => Check::ok("qdisc fq", why, "there"),
        Err(error) => {
            Check::limited("qdisc fq", why, words(error), "none needed; modprobe sch_fq (CONFIG_NET_SCH_FQ)")
        }
    }
}

fn iperf3() -> Check {
    let why = "manual tests; airtcp has its own sender and receiver";
    match program("iperf3") {
        Some(path) => Check::ok("iperf3", why, path.display()),
        None => Check::limited("iperf3", why, "not in PATH", "install iperf3"),
    }
}
