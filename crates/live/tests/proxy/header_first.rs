//! `airtcpd header-first` at the base station, in front of the queue to the mobile host.

use crate::circuit::{Gateway, KEY, RECEIVE, SEND, airtcpd, data, of};
use crate::daemon::at_base_of;
use crate::rig::{Rig, SERVER, WIRELESS};
use airtcp_live::namespace::Namespace;
use std::io::{Read, Write};
use std::process::Command;
use std::thread;

const QUEUE: &str = "root tbf rate 50mbit burst 10kb limit 300kb";

fn tc(line: &str) {
    assert!(Command::new("tc").args(line.split_whitespace()).status().unwrap().success(), "tc {line}");
}

/// Paper 000 §4.7: a circuit that fills the queue loses header packets, and no data, which stays within some
/// `--max-headers` times VMSS: an eighth of the queue's room would do here.
#[test]
fn a_congested_circuit_loses_header_packets_and_no_data() {
    if Command::new("tc").arg("-V").output().is_err() {
        return eprintln!("skipped: no tc here (iproute2)");
    }
    let Some(rig) = Rig::new(None) else { return };
    let phone = Namespace::new().unwrap();
    rig.extend(&phone, 1500);
    at_base_of(&rig, |rig| {
        assert!(airtcpd(&format!("key {KEY}")).status().unwrap().success());
        rig.base.run(|| tc(&format!("qdisc add dev {WIRELESS} {QUEUE}"))).unwrap();
        let line = format!("{WIRELESS} --max-headers 20");
        let router = Gateway::of("header-first", &rig.base, &mut of("header-first", &line));
        let _receiver = Gateway::start(&rig.mobile, RECEIVE);
        let sender = Gateway::start(&rig.base, SEND);
        sender.awaits_open();
        let (mut at_phone, mut at_server) = rig.connect(&phone, &rig.server, SERVER);
        let sent = data(4_000_000);
        let received = thread::scope(|scope| {
            scope.spawn(|| at_server.write_all(&sent).unwrap());
            let mut received = vec![0; sent.len()];
            at_phone.read_exact(&mut received).unwrap();
            received
        });
        assert!(received == sent);
        let counted = router.status().unwrap();
        let count = |name: &str| counted["counters"][name].as_u64().unwrap();
        assert_eq!((count("overflow_data_packets_total"), count("overflow_header_packets_total")), (0, 0));
        assert!(count("dropped_header_packets_total") > 0, "{counted:#}");
        assert!(count("header_packets_total") * 1500 > sent.len() as u64 / 2, "{counted:#}");
        router.end();
        assert_eq!(sender.count("standstills_total"), 0);
    });
}
