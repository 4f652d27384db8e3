//! What a stranger may send, and how little of it is obeyed.

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::tcp::{Connection, State, TcpConfig};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, SynOptions, Time, Timestamps};

const FIN_ACK: Flags = Flags(Flags::FIN.0 | Flags::ACK.0);

/// Connected, with 100 bytes received and acknowledged, and three segments out.
fn victim(config: &TcpConfig) -> Script {
    let config = TcpConfig { initial_window: 3, ..config.clone() };
    let mut script = Script::connected(&config, 100);
    script.data(0, 100, Ecn::NotEct, Flags::default());
    script.write(3);
    script.drain();
    script
}

fn timestamped() -> TcpConfig {
    TcpConfig { timestamps: true, packet_size: 1052, ..plain() }
}

/// A segment of the peer's at RCV.NXT.
fn genuine(script: &Script) -> Segment {
    let header = script.header(0, 0);
    Segment { seq: header.seq.at(100), ..header }
}

fn back(seq: Seq, bytes: u32) -> Seq {
    Seq(seq.0.wrapping_sub(bytes))
}

/// Nothing has moved, and what the peer sends is still taken.
fn assert_unmoved(mut script: Script) {
    let view = script.view();
    assert_eq!(script.connection.state(), State::Established);
    assert_eq!((script.connection.received(), view.una, view.nxt), (100, 0, 3 * MSS));
    let data = Segment { len: 50, ..genuine(&script) };
    script.input(data, Ecn::NotEct);
    assert_eq!(script.connection.received(), 150, "genuine data is refused");
}

/// RFC 9293 §3.10.7.4, first: a segment below RCV.NXT has no FIN for us.
#[test]
fn an_old_fin_ends_nothing() {
    for (end, ack) in [(50, 0), (100, 0), (50, 9999), (100, 9999)] {
        let mut script = victim(&plain());
        let next = genuine(&script);
        let old = Segment { seq: back(next.seq, 101 - end), flags: FIN_ACK, ..next };
        script.input(Segment { ack: next.ack.at(ack), ..old }, Ecn::NotEct);
        assert_unmoved(script);
    }
}

/// RFC 5961 §5.2: an ACK of what was never sent is challenged, and its FIN and timestamp are not for us (RFC 7323 §5.3 R3).
#[test]
fn an_ack_of_the_future_is_challenged() {
    let mut script = victim(&timestamped());
    let next = genuine(&script);
    let timestamps = Some(Timestamps { value: 0x7fff_0000, echo: 0 });
    let forged = Segment { ack: next.ack.at(9999), flags: FIN_ACK, timestamps, ..next };
    script.input(forged, Ecn::NotEct);
    let answer = script.drain();
    assert_eq!((answer.len(), answer[0].1.segment.flags), (1, Flags::ACK));
    assert_unmoved(script);
}

/// RFC 5961 §5.2: data whose ACK is older than a window is not taken.
#[test]
fn data_with_an_ack_of_long_ago_is_challenged() {
    let mut script = victim(&plain());
    let next = genuine(&script);
    script.input(Segment { ack: back(next.ack, 500_000_000), len: 50, ..next }, Ecn::NotEct);
    assert_eq!(script.drain().len(), 1);
    assert_unmoved(script);
}

/// RFC 5961 §5.2: an ACK that another one has overtaken still brings its data.
#[test]
fn data_with_an_overtaken_ack_is_taken() {
    let mut script = victim(&plain());
    let next = genuine(&script);
    script.input(Segment { ack: next.ack.at(2 * MSS), ..next }, Ecn::NotEct);
    assert_eq!(script.view().una, 2 * MSS);
    script.input(Segment { len: 50, ..next }, Ecn::NotEct);
    assert_eq!(script.connection.received(), 150);
}

/// RFC 7323 §4.3 (2) and §5.3: a timestamp counts only on a segment that is acceptable.
#[test]
fn a_forged_timestamp_outside_the_window_is_not_kept() {
    for ack in [0, 9999] {
        let mut script = victim(&timestamped());
        let next = genuine(&script);
        let value = next.timestamps.unwrap().value.wrapping_add(0x7fff_ffff);
        let timestamps = Some(Timestamps { value, echo: 0 });
        let forged = Segment { seq: back(next.seq, 70_000), ack: next.ack.at(ack), timestamps, ..next };
        script.input(forged, Ecn::NotEct);
        assert_unmoved(script);
    }
}

/// RFC 9293 §3.10.7.4, first: nor do an ACK and a window count from there.
#[test]
fn an_ack_outside_the_window_moves_nothing() {
    for distance in [1_500_000_000, 70_000] {
        let mut script = victim(&plain());
        let (next, window) = (genuine(&script), script.view().peer_window);
        let forged = Segment { seq: next.seq.at(distance), ack: next.ack.at(MSS), window: 1, ..next };
        script.input(forged, Ecn::NotEct);
        assert_eq!(script.view().peer_window, window);
        assert_unmoved(script);
    }
}

/// RFC 5961 §7: one answer in 500 ms, whatever the segments are; but text that was sent again is acknowledged each time
/// (RFC 5681 §4.2).
#[test]
fn challenges_are_limited() {
    let mut script = victim(&plain());
    let next = genuine(&script);
    let outside = Segment { seq: next.seq.at(1 << 30), len: 10, ..next };
    let forged = [
        outside,
        Segment { len: 0, ..outside },
        Segment { flags: Flags::SYN, ..outside },
        Segment { seq: next.seq.at(1), flags: Flags::RST, ..next },
        Segment { ack: next.ack.at(1 << 30), ..next },
    ];
    for _ in 0..20_000 {
        forged.iter().for_each(|segment| script.input(*segment, Ecn::NotEct));
    }
    assert_eq!(script.drain().len(), 1);
    for _ in 0..10 {
        script.data(0, 100, Ecn::NotEct, Flags::default());
    }
    assert_eq!(script.drain().len(), 10);
    script.at(600).drain();
    script.input(outside, Ecn::NotEct);
    assert_eq!(script.drain().len(), 1);
    assert_unmoved(script);
}

/// RFC 9293 §3.10.7.4: what is held beyond a FIN shows that it is none; what comes beyond a true one is not for us.
#[test]
fn a_stream_has_one_end() {
    let mut script = victim(&plain());
    script.data(300, 100, Ecn::NotEct, Flags::default());
    script.data(200, 50, Ecn::NotEct, Flags::FIN);
    script.data(100, 200, Ecn::NotEct, Flags::default());
    assert_eq!((script.connection.received(), script.connection.state()), (400, State::Established));
    script.data(450, 50, Ecn::NotEct, Flags::FIN);
    script.data(500, 80, Ecn::NotEct, Flags::default());
    script.data(400, 50, Ecn::NotEct, Flags::default());
    assert_eq!((script.connection.received(), script.connection.state()), (500, State::CloseWait));
}

/// RFC 7323 §5.5: TS.Recent that is 24 days old says nothing.
#[test]
fn an_old_timestamp_is_believed_after_24_days() {
    for (days, received) in [(23, 100), (25, 150)] {
        let mut script = victim(&timestamped());
        let next = genuine(&script);
        script.input(Segment { ack: next.ack.at(3 * MSS), ..next }, Ecn::NotEct);
        script.at(days * 24 * 3600 * 1000);
        let timestamps = Some(Timestamps { value: next.timestamps.unwrap().value - 50, echo: 0 });
        script.input(Segment { timestamps, ack: next.ack.at(3 * MSS), len: 50, ..next }, Ecn::NotEct);
        assert_eq!(script.connection.received(), received, "after {days} days");
    }
}

fn listening(config: &TcpConfig) -> Connection {
    Connection::listen(config, Seq(700), 1).unwrap()
}

fn syn() -> Segment {
    let syn =
        SynOptions { mss: Some(1460), window_scale: None, sack_permitted: false, ..SynOptions::default() };
    Segment { seq: Seq(90), flags: Flags::SYN, window: 60_000, syn, ..Segment::default() }
}

fn tell(connection: &mut Connection, segment: Segment) -> Option<Segment> {
    connection.handle_segment(Time::ZERO, &segment, Ecn::NotEct);
    connection.poll_transmit(Time::ZERO).map(|transmit| transmit.segment)
}

/// RFC 9293 §3.10.7.2, second.
#[test]
fn a_listener_resets_a_bare_ack() {
    let mut listener = listening(&plain());
    let reset = tell(&mut listener, Segment { ack: Seq(55), flags: Flags::ACK, ..syn() }).unwrap();
    assert_eq!((reset.flags, reset.seq), (Flags::RST, Seq(55)));
    assert_eq!(listener.state(), State::Listen);
}

/// RFC 7323 §2.2: a SYN-ACK has a window scale only if the SYN had one.
#[test]
fn a_window_scale_is_answered_only() {
    for offered in [None, Some(3)] {
        let mut listener = listening(&TcpConfig { window_scaling: true, ..plain() });
        let options = SynOptions { window_scale: offered, ..syn().syn };
        let answer = tell(&mut listener, Segment { syn: options, ..syn() }).unwrap();
        assert_eq!(answer.syn.window_scale.is_some(), offered.is_some());
    }
}

/// Linux's `tcp_min_snd_mss`: a peer cannot ask for a packet for every few bytes; 0 is no MSS at all.
#[test]
fn a_tiny_mss_is_not_believed() {
    for (told, length) in [(0, 536), (1, 48), (13, 48), (88, 88)] {
        let mut listener = listening(&plain());
        listener.write(1000);
        let options = SynOptions { mss: Some(told), ..syn().syn };
        let answer = tell(&mut listener, Segment { syn: options, ..syn() }).unwrap();
        let ack = Segment { seq: Seq(91), ack: answer.seq.at(1), flags: Flags::ACK, ..syn() };
        assert_eq!(tell(&mut listener, ack).unwrap().len, length, "MSS {told}");
    }
}

/// RFC 9293 §3.10.7.4, second: a reset sends a passive open back to LISTEN; RFC 6528: the next peer learns another number.
#[test]
fn a_listener_survives_a_reset() {
    let mut listener = listening(&plain());
    listener.write(10);
    let first = tell(&mut listener, syn()).unwrap();
    let reset = Segment { seq: Seq(91), flags: Flags::RST, ..Segment::default() };
    assert_eq!(tell(&mut listener, reset), None);
    assert_eq!((listener.state(), listener.poll_event()), (State::Listen, None));
    let second = tell(&mut listener, Segment { seq: Seq(5), ..syn() }).unwrap();
    assert_ne!(first.seq, second.seq);
    let ack = Segment { seq: Seq(6), ack: second.seq.at(1), flags: Flags::ACK, ..syn() };
    assert_eq!(tell(&mut listener, ack).unwrap().len, 10, "what was written before is sent");
    assert_eq!(listener.state(), State::Established);
}

/// Nor does a SYN whose sender is never heard of again end it.
#[test]
fn a_listener_survives_silence() {
    let mut listener = listening(&plain());
    tell(&mut listener, syn()).unwrap();
    while listener.state() == State::SynReceived {
        let now = listener.poll_timeout();
        listener.handle_timeout(now);
        while listener.poll_transmit(now).is_some() {}
    }
    assert_eq!((listener.state(), listener.poll_timeout()), (State::Listen, Time::NEVER));
}

/// RFC 7323 §3.2: resets have timestamps where they are in use.
#[test]
fn a_reset_has_timestamps() {
    let mut script = victim(&timestamped());
    script.connection.abort();
    let reset = script.connection.poll_transmit(Time::ZERO + Dur::from_millis(100)).unwrap().segment;
    assert_eq!(reset.flags, Flags::RST | Flags::ACK);
    assert_eq!(reset.timestamps.unwrap().echo, 100);
}

fn closed_by_us(end: fn(&mut Connection)) -> Script {
    let mut script = Script::connected(&plain(), 100);
    end(&mut script.connection);
    let ack = script.header(0, 0);
    script.write(0).input(Segment { ack: ack.ack.at(1), ..ack }, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::FinWait2);
    script.drain();
    script
}

/// Linux's `tcp_fin_timeout`; RFC 9293 §3.6: who still reads waits as long as it takes.
#[test]
fn fin_wait_2_ends_if_nobody_reads() {
    let mut script = closed_by_us(Connection::close);
    script.at(60_000);
    assert_eq!(script.connection.state(), State::FinWait2);
    script.at(60_200);
    assert_eq!(script.connection.state(), State::Closed);
    let mut script = closed_by_us(Connection::shutdown);
    script.at(1_000_000);
    assert_eq!(script.connection.state(), State::FinWait2);
}

/// RFC 9293 §3.6.1: data that nobody will read is reset.
#[test]
fn data_after_a_close_is_reset() {
    for (end, state) in
        [(Connection::close as fn(&mut Connection), State::Closed), (Connection::shutdown, State::FinWait2)]
    {
        let mut script = closed_by_us(end);
        let header = script.header(0, 0);
        script.input(Segment { ack: header.ack.at(1), len: 10, ..header }, Ecn::NotEct);
        assert_eq!(script.connection.state(), state);
        let answer = script.drain();
        assert_eq!(answer[0].1.segment.flags.contains(Flags::RST), state == State::Closed);
    }
    let mut script = victim(&plain());
    script.connection.close();
    let reset = script.connection.poll_transmit(Time::ZERO + Dur::from_millis(100)).unwrap().segment;
    assert!(reset.flags.contains(Flags::RST), "100 bytes are unread");
}

/// RFC 9293 §3.10.7.1: nothing is taken from a segment that finds the connection closed.
#[test]
fn nothing_is_accepted_after_the_end() {
    let mut script = victim(&plain());
    let data = Segment { len: 50, ..genuine(&script) };
    assert_eq!(script.take(data, Ecn::NotEct), Some(100..150));
    script.connection.abort();
    assert_eq!(script.take(data, Ecn::NotEct), None);
}

/// A FIN below what has come ends nothing, and its place in the sequence is no text.
#[test]
fn a_fin_amid_the_stream_is_not_believed() {
    let mut script = victim(&plain());
    script.data(200, 50, Ecn::NotEct, Flags::default());
    let fin = Segment { len: 20, flags: FIN_ACK, ..genuine(&script) };
    assert_eq!(script.take(fin, Ecn::NotEct), Some(100..120));
    assert_eq!((script.connection.received(), script.connection.state()), (120, State::Established));
}

/// What came below the FIN before is not taken again from a segment that also claims what lies beyond.
#[test]
fn text_beyond_the_fin_brings_nothing() {
    let mut script = victim(&plain());
    script.data(200, 50, Ecn::NotEct, FIN_ACK);
    let beyond = Segment { seq: genuine(&script).seq.at(120), len: 60, ..genuine(&script) };
    assert_eq!(script.take(beyond, Ecn::NotEct), None);
    let before = Segment { len: 130, ..genuine(&script) };
    assert_eq!(script.take(before, Ecn::NotEct), Some(100..230));
}

/// RFC 9293 §3.4: the SYN's place in the sequence is no text, and what begins there is none either.
#[test]
fn text_at_the_place_of_the_syn_is_refused() {
    let mut script = victim(&plain());
    let next = genuine(&script);
    assert_eq!(script.take(Segment { seq: back(next.seq, 101), len: 150, ..next }, Ecn::NotEct), None);
    assert_unmoved(script);
}
