//! Packet control on paper 001's path: with threshold 3 it is as if it were not there (§VII.A).

use crate::common::{MBIT, Shared, link, ms, scheme};
use airtcp_proto::path::jitter::table::{self, DelayRange};
use airtcp_sim::pcap::Format;
use airtcp_sim::scenario::model::{Distribution, Jitter};
use airtcp_sim::{Capture, RunOptions, Scenario, run};
use airtcp_wire::{Dur, Probability};

/// Scenario I, and with `loss` scenario II.
fn scenario(loss: f64) -> Scenario {
    let mut links = vec![link("wired", MBIT, ms(10), 50), link("wireless", MBIT / 4, ms(306), 50)];
    let range = |probability, low, high| DelayRange {
        probability: Probability::new(probability),
        low: ms(low),
        high: ms(high),
    };
    let ranges = vec![range(0.8, 0, 42), range(0.1, 42, 72), range(0.08, 72, 144), range(0.02, 144, 468)];
    let jitter = Jitter {
        distribution: Distribution::Table(table::Config { ranges }),
        overtaking: true,
        start: ms(500),
    };
    let wireless = &mut links[1];
    for side in [&mut wireless.forward, &mut wireless.reverse] {
        side.jitter = Some(jitter.clone());
        side.loss.packet = loss.into();
    }
    Scenario::over(links, Dur::from_secs(20))
}

/// A packet at the fixed host.
#[derive(Clone, PartialEq, Debug)]
struct Seen {
    at_us: u64,
    is_sent: bool,
    ack: u32,
    length_and_header: (u32, [u8; 20]),
}

/// What the fixed host sends and receives, and how many data packets the base station took away.
fn at_fixed_host(scenario: &Scenario, text: &str, seed: u64) -> (Vec<Seen>, u64) {
    let file = Shared::default();
    let capture = Capture { link: "wired".to_owned(), format: Format::Pcap, writer: Box::new(file.clone()) };
    let options = RunOptions { captures: vec![capture], ..RunOptions::default() };
    let record = run(scenario, &scheme(text), seed, options).unwrap().record;
    let under_way = record.links[0].packets_sent - record.links[2].packets_arrived;
    let file = file.0.lock().unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut seen = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let header: [u8; 20] = file[at + 36..at + 56].try_into().unwrap();
        seen.push(Seen {
            at_us: u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4)),
            is_sent: file[at + 29] == 0,
            ack: u32::from_be_bytes(header[8..12].try_into().unwrap()),
            length_and_header: (word(at + 12), header),
        });
        at += 16 + word(at + 8) as usize;
    }
    (seen, under_way)
}

/// Without the ACKs that are older than one before them: a sender does not look at them.
fn without_old_acks(packets: Vec<Seen>) -> Vec<Seen> {
    let mut newest = 0;
    packets
        .into_iter()
        .filter(|packet| {
            let is_old = !packet.is_sent && (packet.ack.wrapping_sub(newest) as i32) < 0 && newest != 0;
            if !packet.is_sent && !is_old {
                newest = packet.ack;
            }
            !is_old
        })
        .collect()
}

/// The same packets in the same order. An old ACK takes its 0.3 ms on the wire, so that its absence shows in the times.
fn assert_same(plain: Vec<Seen>, filtered: Vec<Seen>, case: &str) {
    let plain = without_old_acks(plain);
    for (one, other) in plain.iter().zip(&filtered) {
        assert_eq!(
            (one.is_sent, one.length_and_header),
            (other.is_sent, other.length_and_header),
            "{case}, at {} µs and {} µs",
            one.at_us,
            other.at_us
        );
        assert!(one.at_us.abs_diff(other.at_us) < 1000, "{case}: {} and {} µs", one.at_us, other.at_us);
    }
    assert!(plain.len().abs_diff(filtered.len()) <= 1, "{case}");
}

const NONE: &str = "reno:profile=ns2-2.26";

/// Threshold 3 passes every duplicate: the fixed host sends the same packets at the same times, and gets the same but
/// for old ACKs.
#[test]
fn the_ack_filter_with_threshold_3_leaves_the_packet_trace_as_it_is() {
    for loss in [0.0, 0.01] {
        let scenario = scenario(loss);
        for seed in 1..=12 {
            let (plain, _) = at_fixed_host(&scenario, NONE, seed);
            let text = format!("{NONE}+packet-control:threshold=3:data_filter=false");
            let (filtered, _) = at_fixed_host(&scenario, &text, seed);
            assert!(plain.len() > filtered.len(), "no ACK was old: nothing is shown");
            assert_same(plain, filtered, &format!("loss {loss}, seed {seed}"));
        }
    }
}

/// The data filter may act at any threshold: it drops a spurious retransmission whose original has been acknowledged.
/// Where there is none, both filters together change nothing either.
#[test]
fn both_filters_with_threshold_3_change_nothing_until_data_is_dropped() {
    let scenario = scenario(0.0);
    let mut untouched = 0;
    for seed in 1..=12 {
        let (plain, under_way) = at_fixed_host(&scenario, NONE, seed);
        let text = format!("{NONE}+packet-control:threshold=3");
        let (filtered, missing) = at_fixed_host(&scenario, &text, seed);
        if missing <= under_way {
            assert_same(plain, filtered, &format!("seed {seed}"));
            untouched += 1;
        }
    }
    assert!((3..12).contains(&untouched), "{untouched} of 12 runs without a dropped retransmission");
}
