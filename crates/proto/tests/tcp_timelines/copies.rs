//! Copies of the tail (`tail_copies`).

use crate::common::{Pair, Weather, ms};
use crate::tcp_timelines::script::MSS;
use airtcp_proto::tcp::{Event, Reason, TcpConfig, profile};
use airtcp_wire::{Flags, Time};

fn config(tail_copies: u8) -> TcpConfig {
    TcpConfig { packet_size: 1052, tail_copies, ..profile::linux() }
}

/// Half a round trip after the connection is open, 10 ms each way, the client writes `segments` segments.
fn pair(config: &TcpConfig, peer: &TcpConfig, segments: u64) -> Pair {
    let mut pair = Pair::new(config, peer, [1, 100], Weather::clear(ms(10)), 1);
    pair.run(Time::ZERO + ms(30));
    pair.ends[0].write(segments * MSS);
    pair
}

fn copies(pair: &Pair) -> Vec<u64> {
    let sent = pair.data_sent(0, MSS);
    sent.iter().filter(|(_, _, reason)| *reason == Reason::Copy).map(|(_, segment, _)| *segment).collect()
}

#[test]
fn the_last_segments_are_sent_again_in_order() {
    let mut short = pair(&config(2), &config(0), 3);
    short.run(Time::ZERO + ms(1_000));
    assert_eq!(copies(&short), [0, 1, 2, 0, 1, 2]);
    let stats = short.ends[0].stats();
    assert_eq!(
        (stats.retransmissions, stats.copies, stats.spurious_detected),
        (0, 2 + 6, 0),
        "the SYN was copied, too"
    );
    assert_eq!(short.ends[1].received(), 3 * MSS);
    let mut long = pair(&config(1), &config(0), 200);
    long.run(Time::ZERO + ms(5_000));
    assert_eq!(copies(&long), (190..200).collect::<Vec<_>>());
}

/// Each segment is lost once, and nobody waits for a timer.
#[test]
fn a_segment_that_is_lost_once_is_not_missed() {
    for lost in 0..3 {
        let mut pair = pair(&config(1), &config(0), 3);
        let mut is_lost = false;
        pair.lose = Box::new(move |by, transmit| {
            let is_it = by == 0 && transmit.segment.len > 0 && transmit.offset == lost * MSS && !is_lost;
            is_lost |= is_it;
            is_it
        });
        pair.run(Time::ZERO + ms(40));
        assert_eq!(pair.ends[1].received(), 3 * MSS, "{lost}");
        pair.run(Time::ZERO + ms(1_000));
        assert_eq!(pair.ends[0].stats().cwnd_reductions, 0, "{lost}");
    }
}

/// RFC 9293 §3.8.1: a SYN that is lost would wait for a second.
#[test]
fn a_handshake_survives_the_loss_of_a_syn_and_of_its_answer() {
    for by in 0..2 {
        let mut pair = Pair::new(&config(1), &config(1), [1, 100], Weather::clear(ms(10)), 1);
        let mut is_lost = false;
        pair.lose = Box::new(move |from, _| from == by && !std::mem::replace(&mut is_lost, true));
        pair.run(Time::ZERO + ms(40));
        assert!(pair.events.iter().all(|events| events.contains(&Event::Connected)), "{by}");
    }
}

/// RFC 9040: the SYN's timer is that of the last connection.
#[test]
fn a_syn_waits_as_long_as_the_path_of_the_last_connection_needs() {
    let mut first = pair(&config(0), &config(0), 3);
    first.run(Time::ZERO + ms(1_000));
    let (srtt, rttvar) = first.ends[0].known_rtt().unwrap();
    assert_eq!(srtt, ms(20));
    let mut second = Pair::new(&config(0), &config(0), [1, 100], Weather::clear(ms(10)), 1);
    second.ends[0].share_rtt(srtt, rttvar);
    let mut is_lost = false;
    second.lose = Box::new(move |_, _| !std::mem::replace(&mut is_lost, true));
    second.run(Time::ZERO + ms(300));
    let syns: Vec<_> = second.log.iter().filter(|sent| sent.transmit.segment.flags == Flags::SYN).collect();
    assert_eq!(syns[1].at, Time::ZERO + ms(220), "SRTT and 200 ms");
    assert!(second.events[0].contains(&Event::Connected));
}

/// Duplicate ACKs of a peer without SACK would mean losses.
#[test]
fn a_peer_without_sack_gets_none() {
    let peer = TcpConfig { sack: false, ..config(0) };
    let mut pair = pair(&config(2), &peer, 3);
    pair.run(Time::ZERO + ms(1_000));
    assert_eq!((copies(&pair), pair.ends[1].received()), (vec![], 3 * MSS));
}

/// A window that holds no more than what is out holds no copies.
#[test]
fn copies_are_data_to_the_congestion_control() {
    let narrow = TcpConfig { initial_window: 4, ..config(2) };
    let mut pair = pair(&narrow, &config(0), 3);
    pair.run(Time::ZERO + ms(35));
    assert_eq!(copies(&pair).len(), 1, "one segment's room is left");
}
