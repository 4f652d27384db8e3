//! A packet that the tap sees again, at another port, on another interface or behind a router, is one packet; one that
//! TCP sent again is another.

use crate::common::records::{IP, Record, pcap, pcapng, records};
use crate::common::timeline::read_file;
use crate::common::{RADIO, path, simulate};
use airtcp_capture::Capture;
use airtcp_sim::Scenario;
use airtcp_sim::pcap::Format;
use airtcp_sim::scenario::model::{Link, Side};
use airtcp_wire::{Dur, Rate};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Two seconds of a transfer with losses, captured at its sender.
static PLAIN: LazyLock<Vec<Record>> = LazyLock::new(|| {
    let scenario = path(2, |side| side.loss.packet = 0.02.into());
    records(&simulate(&scenario, "cubic", Format::Pcap).at_sender)
});

/// What may happen to a packet between two points of its way.
#[derive(Clone, Copy, Debug)]
struct Changes {
    hop_limit: bool,
    addresses: bool,
    tag: bool,
    mark: bool,
}

impl Changes {
    fn apply(self, record: &mut Record) {
        record.data[IP + 8] -= u8::from(self.hop_limit);
        record.data[IP + 1] |= if self.mark { 3 } else { 0 };
        if self.addresses {
            record.data[..12].fill(7);
        }
        if self.tag {
            record.data.splice(12..12, [0x81, 0, 0, 5]);
            record.original_len += 4;
        }
    }
}

/// Nothing but the marks and the number of those left out differs.
fn assert_same(found: &Capture, plain: &Capture) {
    for (found, plain) in [(&found.forward, &plain.forward), (&found.reverse, &plain.reverse)] {
        let counts = airtcp_capture::Counts { duplicates: 0, ce_marks: 0, ..found.counts };
        assert_eq!(counts, plain.counts);
        assert_eq!(found.fates, plain.fates);
        assert_eq!(found.round_trips, plain.round_trips);
        assert_eq!(found.position, plain.position);
    }
    assert_eq!(found.overview.all_bytes, plain.overview.all_bytes);
    assert_eq!(found.overview.connections, plain.overview.connections);
    assert_eq!(found.handshake_rtt, plain.handshake_rtt);
}

fn changes() -> impl Strategy<Value = Changes> {
    any::<[bool; 4]>().prop_map(|[hop_limit, addresses, tag, mark]| Changes {
        hop_limit,
        addresses,
        tag,
        mark,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Some packets or all are seen again, once or twice, a little later. Without identifications, that is within half
    /// a round trip; with them, at any time.
    #[test]
    fn what_is_seen_again_is_one_packet(
        share in prop_oneof![Just(1.0), 0.05..1.0f64],
        more in 1usize..3,
        lag_us in 0u64..8_000,
        with_ids: bool,
        changes in changes(),
        seed: u64,
    ) {
        let mut plain = PLAIN.clone();
        if with_ids {
            plain.iter_mut().enumerate().for_each(|(n, record)| record.identify(n as u16 + 1));
        }
        let lag_us = if with_ids { lag_us * 10 } else { lag_us };
        let mut all = plain.clone();
        for (n, record) in plain.iter().enumerate() {
            let draw = (n as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            if (draw as f64) < share * f64::from(1 << 24) {
                for copy in 1..=more as u64 {
                    let mut again = record.clone();
                    again.ns += copy * (lag_us * 1000 + 1);
                    changes.apply(&mut again);
                    all.push(again);
                }
            }
        }
        all.sort_by_key(|record| record.ns);
        let again = (all.len() - plain.len()) as u64;
        let found = read_file(&pcap(1, &all));
        assert_same(&found, &read_file(&pcap(1, &plain)));
        prop_assert_eq!(found.forward.counts.duplicates + found.reverse.counts.duplicates, again);
    }

    /// Two interfaces see all packets, or each sees one direction, or one of them a part.
    #[test]
    fn each_direction_is_followed_on_one_interface(way in 0usize..3, lag_us in 0u64..30_000) {
        let plain = PLAIN.clone();
        let mut all = plain.clone();
        match way {
            0 => all.extend(plain.iter().map(|record| Record { interface: 1, ns: record.ns + lag_us * 1000, ..record.clone() })),
            1 => all.iter_mut().for_each(|record| record.interface = u32::from(record.is_forward())),
            _ => all.extend(plain.iter().step_by(3).map(|record| Record { interface: 4, ..record.clone() })),
        }
        all.sort_by_key(|record| record.ns);
        let found = read_file(&pcapng(&all));
        assert_same(&found, &read_file(&pcap(1, &plain)));
        prop_assert_eq!(found.overview.elsewhere, (all.len() - plain.len()) as u64);
    }
}

/// `tcpdump -i any` on a router: a packet comes in on one interface of the host and goes out on another.
#[test]
fn interfaces_of_a_host_are_told_apart() {
    let cooked = |record: &Record, index: u8, lag: u64| {
        let header = [&[8, 0, 0, 0, 0, 0, 0, index, 0, 1][..], &[0; 10]].concat();
        let data = [&header, &record.data[IP..]].concat();
        Record { ns: record.ns + lag, data, original_len: record.original_len + 6, ..record.clone() }
    };
    let mut all: Vec<Record> =
        PLAIN.iter().flat_map(|record| [cooked(record, 2, 0), cooked(record, 3, 90_000)]).collect();
    all.sort_by_key(|record| record.ns);
    let found = read_file(&pcap(276, &all));
    assert_same(&found, &read_file(&pcap(1, &PLAIN)));
    assert_eq!(found.overview.elsewhere, PLAIN.len() as u64);
}

/// On a path of 0.3 ms whose hosts' clocks tick once a millisecond, what is sent again mostly has the same timestamp, and
/// there are no identifications: all of it is told from packets seen again.
#[test]
fn on_a_short_path_what_is_sent_again_is_no_second_sighting() {
    let mut radio = Link::symmetric(RADIO, Side::plain(Rate(100_000_000), Dur::from_micros(100), 60));
    radio.forward.loss.packet = 0.02.into();
    let last = Link::symmetric("last", Side::plain(Rate(10_000_000_000), Dur::ZERO, 10_000));
    let run = simulate(&Scenario::over(vec![radio, last], Dur::from_secs(2)), "reno", Format::Pcap);
    let counts = run.sender().forward.counts;
    assert!(counts.retransmissions > 100, "{counts:?}");
    assert_eq!(counts.retransmissions, run.truth.retransmissions);
    assert_eq!(counts.duplicates, 0);
}

/// A router that clamps the MSS shows the SYN with both values.
#[test]
fn of_two_values_of_the_mss_the_smaller_holds() {
    const MSS_AT: usize = IP + 20 + 20 + 2;
    let mut all = PLAIN.clone();
    let mut clamped = all[0].clone();
    assert_eq!(clamped.data[MSS_AT - 2..MSS_AT + 2], [2, 4, 5, 0xb4]);
    clamped.data[MSS_AT..MSS_AT + 2].copy_from_slice(&1400u16.to_be_bytes());
    clamped.ns += 1000;
    all.insert(1, clamped);
    let found = read_file(&pcap(1, &all));
    assert_eq!(found.mss, Some(1400));
    assert_eq!(found.handshake_rtt, read_file(&pcap(1, &PLAIN)).handshake_rtt);
}
