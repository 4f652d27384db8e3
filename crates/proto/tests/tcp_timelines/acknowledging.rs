//! The receiver: when it acknowledges, and what it says.

use crate::tcp_timelines::script::{Script, plain};
use airtcp_proto::tcp::{TcpConfig, Transmit};
use airtcp_wire::{Bytes, Dur, Ecn, Flags};

const NONE: Flags = Flags(0);

fn delaying() -> TcpConfig {
    TcpConfig { ack_every: 2, delayed_ack: Dur::from_millis(200), ..plain() }
}

fn acks(script: &mut Script) -> Vec<(u64, u64)> {
    script.drain().iter().map(|(at, t)| (at.0 / 1_000_000, Script::acked_by(t))).collect()
}

fn last(script: &mut Script) -> Transmit {
    script.drain().last().expect("an ACK").1
}

/// RFC 5681 §4.2: every second full segment, or after the delay.
#[test]
fn delayed_acks() {
    let mut script = Script::connected(&delaying(), 100);
    script.data(0, 1000, Ecn::NotEct, NONE);
    assert_eq!(acks(&mut script), []);
    script.at(110).data(1000, 1000, Ecn::NotEct, NONE);
    assert_eq!(acks(&mut script), [(110, 2000)]);
    script.at(120).data(2000, 1000, Ecn::NotEct, NONE).at(900);
    assert_eq!(acks(&mut script), [(320, 3000)]);
}

/// BSD's 200 ms clock: the ACK leaves at its next tick.
#[test]
fn a_delayed_ack_may_wait_for_a_tick() {
    let config = TcpConfig { delayed_ack_tick: Dur::from_millis(200), ..delaying() };
    let mut script = Script::connected(&config, 100);
    script.at(130).data(0, 1000, Ecn::NotEct, NONE).at(900);
    assert_eq!(acks(&mut script), [(200, 1000)]);
}

/// RFC 5681 §4.2: out of order at once, and at once again when the gap is filled.
#[test]
fn out_of_order_data_is_acknowledged_at_once() {
    let mut script = Script::connected(&delaying(), 100);
    script.data(1000, 1000, Ecn::NotEct, NONE).data(2000, 1000, Ecn::NotEct, NONE);
    assert_eq!(acks(&mut script), [(100, 0), (100, 0)]);
    script.data(0, 1000, Ecn::NotEct, NONE);
    assert_eq!(acks(&mut script), [(100, 3000)]);
}

/// Linux: after three at once, ACKs of segments beyond a gap wait for 5 % of the handshake's RTT, or for the 44th; what moves
/// RCV.NXT is acknowledged at once, and the next gap has its first three.
#[test]
fn acks_beyond_a_gap_are_compressed() {
    let config = TcpConfig { sack: true, compressed_acks: 44, ..plain() };
    let mut script = Script::connected(&config, 10);
    let beyond = |script: &mut Script, at_ms, offsets: std::ops::Range<u64>| {
        script.at(at_ms);
        for n in offsets {
            script.data(1000 * n, 1000, Ecn::NotEct, NONE);
        }
        let micros =
            |(at, transmit): &(airtcp_wire::Time, Transmit)| (at.0 / 1000, Script::acked_by(transmit));
        script.drain().iter().map(micros).collect::<Vec<_>>()
    };
    assert_eq!(beyond(&mut script, 100, 1..6), [(100_000, 0); 3]);
    assert_eq!(beyond(&mut script, 200, 6..6), [(100_500, 0)]);
    assert_eq!(beyond(&mut script, 200, 6..51), [(200_000, 0)], "the 45th does not wait");
    assert_eq!(beyond(&mut script, 300, 52..54), []);
    assert_eq!(beyond(&mut script, 300, 0..1), [(300_000, 51_000)], "and what waited is told with it");
    assert_eq!(beyond(&mut script, 400, 54..58), [(400_000, 51_000); 3]);
}

/// The peer would not learn what has arrived.
#[test]
fn without_sack_no_ack_is_compressed() {
    let mut script = Script::connected(&TcpConfig { compressed_acks: 44, ..plain() }, 100);
    for n in 1..10 {
        script.data(1000 * n, 1000, Ecn::NotEct, NONE);
    }
    assert_eq!(acks(&mut script), [(100, 0); 9]);
}

/// RFC 2018 §4: the block of the segment that has just arrived comes first.
#[test]
fn sack_blocks_come_most_recent_first() {
    let mut script = Script::connected(&TcpConfig { sack: true, ..plain() }, 100);
    for offset in [1000, 3000, 5000] {
        script.data(offset, 1000, Ecn::NotEct, NONE);
    }
    assert_eq!(Script::sacked_by(&last(&mut script)), [(5000, 6000), (3000, 4000), (1000, 2000)]);
    script.data(2000, 1000, Ecn::NotEct, NONE);
    assert_eq!(Script::sacked_by(&last(&mut script)), [(1000, 4000), (5000, 6000)]);
}

/// RFC 2883 §4: a duplicate is reported in the first block.
#[test]
fn a_duplicate_is_reported() {
    let mut script = Script::connected(&TcpConfig { sack: true, dsack: true, ..plain() }, 100);
    script.data(0, 1000, Ecn::NotEct, NONE);
    script.data(0, 1000, Ecn::NotEct, NONE);
    assert_eq!(Script::sacked_by(&last(&mut script)), [(0, 1000)]);
    script.data(3000, 2000, Ecn::NotEct, NONE).data(3000, 1000, Ecn::NotEct, NONE);
    assert_eq!(Script::sacked_by(&last(&mut script)), [(3000, 4000), (3000, 5000)]);
}

/// RFC 3168 §6.1.3: ECE on every ACK from CE until CWR.
#[test]
fn congestion_experienced_is_echoed_until_cwr() {
    let mut script = Script::connected(&TcpConfig { ecn: true, ..plain() }, 100);
    let mut echoes = |offset, ecn, flags| {
        script.data(offset, 1000, ecn, flags);
        last(&mut script).segment.flags.contains(Flags::ECE)
    };
    assert!(!echoes(0, Ecn::Ect0, NONE));
    assert!(echoes(1000, Ecn::Ce, NONE));
    assert!(echoes(2000, Ecn::Ect0, NONE));
    assert!(!echoes(3000, Ecn::Ect0, Flags::CWR));
    assert!(echoes(4000, Ecn::Ce, Flags::CWR));
}

/// RFC 9293 §3.8.6.2.2: a slow reader's window opens in steps of a segment, not byte by byte.
#[test]
fn the_window_opens_in_steps() {
    let mut script = Script::connected(&TcpConfig { receive_window: Bytes(4000), ..plain() }, 100);
    for offset in [0, 1000, 2000, 3000] {
        script.data(offset, 1000, Ecn::NotEct, NONE);
    }
    assert_eq!(last(&mut script).segment.window, 0);
    script.connection.read(500);
    script.write(0);
    assert!(script.drain().is_empty(), "half a segment is not worth telling");
    script.connection.read(500);
    script.write(0);
    assert_eq!(last(&mut script).segment.window, 1000);
}

/// RFC 7323 §2.4: a scaled window is advertised in units, which together never exceed the buffer, whatever the sizes of segments.
#[test]
fn a_scaled_window_ends_with_the_buffer() {
    const BUFFER: u64 = 262_144;
    let config = TcpConfig { receive_window: Bytes(BUFFER), window_scaling: true, ..plain() };
    let mut script = Script::connected(&config, 100);
    let mut sent = 0;
    while sent < 2 * BUFFER {
        script.data(sent, 1001, Ecn::NotEct, NONE);
        sent += 1001;
        script.drain();
        assert!(script.connection.received() <= BUFFER, "{} bytes wait", script.connection.received());
    }
    assert_eq!(script.connection.received(), BUFFER, "all of it is used");
}

/// RFC 9293 §3.10.7.4: data beyond the window is not taken, and is answered with an ACK.
#[test]
fn data_beyond_the_window_is_refused() {
    let mut script = Script::connected(&TcpConfig { receive_window: Bytes(2000), ..plain() }, 100);
    script.data(5000, 1000, Ecn::NotEct, NONE);
    assert_eq!(acks(&mut script), [(100, 0)]);
    script.data(1000, 3000, Ecn::NotEct, NONE);
    script.data(0, 1000, Ecn::NotEct, NONE);
    assert_eq!(script.connection.received(), 2000, "clipped at the right edge");
}

/// RFC 7323 §5.3 R1: a segment with an older timestamp than the last in-order one is dropped.
#[test]
fn paws_drops_old_duplicates() {
    let mut script = Script::connected(&TcpConfig { timestamps: true, packet_size: 1052, ..plain() }, 100);
    script.at(500).data(0, 1000, Ecn::NotEct, NONE);
    let mut old = script.header(0, 0);
    old.timestamps = Some(airtcp_wire::Timestamps { value: 10, echo: 0 });
    old.seq = old.seq.at(1000);
    old.len = 1000;
    script.input(old, Ecn::NotEct);
    assert_eq!(script.connection.received(), 1000);
}
