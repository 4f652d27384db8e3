//! Subflows of Multipath TCP, whose packets have options of their own.

use crate::common::timeline::{MSS, Timeline, read_file};
use airtcp_wire::{Ecn, Flags, Segment, Seq, Timestamps};

/// RFC 8684 §3.3: a subflow repeats an acknowledgment to tell of the whole connection. Nothing was out of order.
#[test]
fn multipath_acknowledgments_are_no_reordering() {
    for with_handshake in [true, false] {
        let mut line = Timeline::default();
        if with_handshake {
            line.handshake(40.0, 0.0);
        }
        for n in 0..50 {
            let at = 41.0 + 2.0 * f64::from(n);
            line.data(at, n, at as u64, 1);
        }
        for n in 1..=50 {
            let at = 82.0 + 2.0 * f64::from(n);
            line.ack(at, n, (at - 42.0) as u64, &[]);
            // Twice more, with another acknowledgment of the whole connection's data.
            for more in [0.3, 0.6] {
                line.ack(at + more, n, (at - 42.0) as u64, &[]);
                let last = &mut line.packets.last_mut().unwrap().1;
                add_option(last, &[30, 8, 0x20, 1, 0, 0, (more * 10.0) as u8, n as u8]);
            }
        }
        line.packets.sort_by_key(|packet| packet.0);
        let capture = line.found();
        assert_eq!((capture.forward.counts.late, capture.forward.counts.retransmissions), (0, 0));
        assert_eq!(capture.forward.round_trips.len(), 50);
        assert!(capture.multipath);
    }
}

/// Adds an option to the TCP header of an IPv4 packet.
fn add_option(packet: &mut Vec<u8>, option: &[u8]) {
    let end = 20 + usize::from(packet[32] >> 4) * 4;
    packet.splice(end..end, option.iter().copied());
    let len = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&len);
    packet[32] += (option.len() as u8 / 4) << 4;
}

/// RFC 6691 §2: options take the place of data. A segment that the card splits later has as many bytes of data in each
/// packet as its options leave, so that blocks and retransmissions fit the packets.
#[test]
fn merged_segments_are_split_by_the_options_that_they_have() {
    const SIGNAL: [u8; 20] = [30, 20, 0x20, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 7, 168, 0, 0];
    let len = MSS - SIGNAL.len() as u32;
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    let send = |line: &mut Timeline, ms: f64, packet: u32, packets: u32| {
        let segment = Segment {
            seq: Seq(1000 + packet * len),
            ack: Seq(5000),
            flags: Flags::ACK,
            len: packets * len,
            timestamps: Some(Timestamps { value: ms as u32, echo: 1 }),
            ..Segment::default()
        };
        line.push(ms, true, Ecn::NotEct, segment);
        add_option(&mut line.packets.last_mut().unwrap().1, &SIGNAL);
    };
    send(&mut line, 41.0, 0, 2);
    send(&mut line, 43.0, 2, 2);
    let ack = |line: &mut Timeline, ms: f64, echo: u64, to: u32, block: &[(u32, u32)]| {
        line.ack_bytes(ms, 0, echo, block);
        let packet = &mut line.packets.last_mut().unwrap().1;
        packet[28..32].copy_from_slice(&(1000 + to * len).to_be_bytes());
    };
    ack(&mut line, 81.0, 41, 2, &[]);
    ack(&mut line, 83.0, 41, 2, &[(3 * len, 4 * len)]);
    send(&mut line, 85.0, 2, 1);
    ack(&mut line, 125.0, 85, 4, &[]);
    let way = line.found().forward;
    assert_eq!((way.counts.data_packets, way.counts.merged, way.counts.retransmissions), (5, 2, 1));
    assert_eq!((way.counts.late, way.counts.missed), (0, 0));
    let lost: Vec<usize> = (0..way.fates.len()).filter(|&index| way.fates[index].1).collect();
    assert_eq!(lost, [2]);
}

/// Where SACK is agreed, an acknowledgment that repeats the last one and has no block tells of no hole: it answers a
/// probe, or a packet that came twice.
#[test]
fn with_sack_a_repeated_acknowledgment_alone_is_no_reordering() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    line.burst(4);
    line.ack(81.0, 1, 41, &[]).ack(81.5, 1, 41, &[]).ack(84.0, 4, 42, &[]);
    assert_eq!(line.found().forward.counts.late, 0);
    // Without SACK, and where options are cut off, it may be one.
    let cut = read_file(&line.file(101, &[], 44));
    assert_eq!(cut.forward.counts.late, 1);
    assert!(cut.cut > 0);
}
