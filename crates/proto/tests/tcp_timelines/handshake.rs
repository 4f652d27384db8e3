//! Opening, closing, resets.

use crate::tcp_timelines::script::{MSS, Script, plain};
use airtcp_proto::tcp::{Connection, Event, Reason, State, TcpConfig, profile};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, SynOptions, Time};

fn seconds(n: u64) -> Time {
    Time::ZERO + Dur::from_secs(n)
}

/// RFC 9293 §3.5 and RFC 7323 §2.2: the options of our SYN; none of them is used when the peer lacks them.
#[test]
fn the_syn_offers_what_is_configured() {
    let mut connection = Connection::connect(&profile::linux(), Seq(1), 1, Time::ZERO).unwrap();
    let syn = connection.poll_transmit(Time::ZERO).unwrap().segment;
    assert_eq!(syn.flags, Flags::SYN);
    assert_eq!(
        syn.syn,
        SynOptions { mss: Some(1460), window_scale: Some(9), sack_permitted: true, ..SynOptions::default() }
    );
    assert!(syn.timestamps.is_some());
    let answer = Segment {
        seq: Seq(9),
        ack: Seq(2),
        flags: Flags::SYN | Flags::ACK,
        window: 5000,
        ..Segment::default()
    };
    connection.handle_segment(Time::ZERO, &answer, Ecn::NotEct);
    connection.write(10_000);
    let first = connection.poll_transmit(Time::ZERO).unwrap().segment;
    assert_eq!((first.timestamps, first.len), (None, 536), "RFC 9293 §3.7.1: MSS 536 where none is given");
}

/// RFC 3168 §6.1.1: ECE and CWR on the SYN, ECE alone on the SYN-ACK.
#[test]
fn ecn_is_negotiated() {
    let config = TcpConfig { ecn: true, ..plain() };
    let mut client = Connection::connect(&config, Seq(1), 1, Time::ZERO).unwrap();
    let mut server = Connection::listen(&config, Seq(100), 1).unwrap();
    let syn = client.poll_transmit(Time::ZERO).unwrap().segment;
    assert_eq!(syn.flags, Flags::SYN | Flags::ECE | Flags::CWR);
    server.handle_segment(Time::ZERO, &syn, Ecn::NotEct);
    let answer = server.poll_transmit(Time::ZERO).unwrap().segment;
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK | Flags::ECE);
}

/// RFC 6298 §2.1 and RFC 5681 §3.1: a lost SYN is resent after a second, and the initial window is one segment then.
#[test]
fn a_lost_syn_is_resent_and_shrinks_the_initial_window() {
    let mut connection =
        Connection::connect(&TcpConfig { initial_window: 10, ..plain() }, Seq(1), 1, Time::ZERO).unwrap();
    connection.poll_transmit(Time::ZERO).unwrap();
    connection.write(20 * MSS);
    assert_eq!(connection.poll_timeout(), seconds(1));
    connection.handle_timeout(seconds(1));
    let again = connection.poll_transmit(seconds(1)).unwrap();
    assert_eq!((again.segment.flags, again.reason), (Flags::SYN, Reason::Timeout));
    let answer = Segment {
        seq: Seq(9),
        ack: Seq(2),
        flags: Flags::SYN | Flags::ACK,
        window: 50_000,
        ..Segment::default()
    };
    connection.handle_segment(seconds(1), &answer, Ecn::NotEct);
    let data =
        std::iter::from_fn(|| connection.poll_transmit(seconds(1))).filter(|t| t.segment.len > 0).count();
    assert_eq!(data, 1);
}

/// RFC 9293 §3.5, figure 7: both ends open at once.
#[test]
fn simultaneous_open() {
    let mut ends = [1, 100].map(|iss| Connection::connect(&plain(), Seq(iss), 1, Time::ZERO).unwrap());
    for _ in 0..4 {
        let sent: Vec<Vec<_>> = ends
            .iter_mut()
            .map(|end| std::iter::from_fn(|| end.poll_transmit(Time::ZERO)).collect())
            .collect();
        for (to, from) in [(0, 1), (1, 0)] {
            sent[from].iter().for_each(|t| ends[to].handle_segment(Time::ZERO, &t.segment, Ecn::NotEct));
        }
    }
    assert_eq!(ends.map(|end| end.state()), [State::Established; 2]);
}

/// RFC 9293 §3.6: FIN follows the data, FIN-WAIT-2 still receives, TIME-WAIT lasts 2·MSL.
#[test]
fn active_close_passes_through_time_wait() {
    let mut script = Script::connected(&plain(), 100);
    script.events();
    script.write(1).shutdown();
    assert_eq!(script.connection.state(), State::FinWait1);
    let mut ack = script.header(1, 0);
    ack.ack = ack.ack.at(1);
    script.input(ack, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::FinWait2);
    assert_eq!(script.events(), [Event::AllAcknowledged]);
    script.drain();
    let mut fin = ack;
    fin.flags.set(Flags::FIN);
    fin.len = 500;
    script.input(fin, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::TimeWait);
    assert_eq!(script.connection.received(), 500);
    assert_eq!(Script::acked_by(&script.drain()[0].1), 501);
    script.at(30_000).input(fin, Ecn::NotEct);
    assert_eq!(script.drain().len(), 1, "a FIN that comes again is acknowledged again");
    script.at(89_000);
    assert_eq!(script.connection.state(), State::TimeWait);
    script.at(91_000);
    assert_eq!(script.connection.state(), State::Closed);
}

/// RFC 9293 §3.10.4: FIN is combined with the last segment, a full one too, and needs no room in cwnd of its own.
#[test]
fn fin_goes_with_the_last_full_segment() {
    let mut script = Script::connected(&plain(), 100);
    script.connection.write(2 * MSS);
    script.shutdown();
    let sent = script.drain();
    assert_eq!(sent.len(), 2);
    assert!(sent[1].1.segment.flags.contains(Flags::FIN));
    assert_eq!(sent[1].1.segment.len as u64, MSS);
}

/// RFC 9293 §3.6: passive close, LAST-ACK.
#[test]
fn passive_close() {
    let mut script = Script::connected(&plain(), 100);
    script.data(0, 100, Ecn::NotEct, Flags::FIN);
    assert_eq!(script.connection.state(), State::CloseWait);
    script.shutdown();
    assert_eq!(script.connection.state(), State::LastAck);
    let mut ack = script.header(0, 0);
    ack.ack = ack.ack.at(1);
    ack.seq = ack.seq.at(101);
    script.input(ack, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::Closed);
}

/// RFC 5961 §3.2: only the exact sequence number resets; one in the window is challenged.
#[test]
fn a_reset_must_hit_the_next_sequence_number() {
    let mut script = Script::connected(&plain(), 100);
    let mut reset = script.header(0, 0);
    reset.flags = Flags::RST;
    script.input(Segment { seq: reset.seq.at(10), ..reset }, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::Established);
    assert_eq!(script.drain().len(), 1, "challenge ACK");
    script.input(reset, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::Closed);
}

/// RFC 9293 §3.10.7.4, second: after both FINs a reset ends the wait, and none is reported to the user.
#[test]
fn a_reset_in_time_wait_is_no_event() {
    let mut script = Script::connected(&plain(), 100);
    script.shutdown();
    let mut fin = script.header(0, 0);
    fin.ack = fin.ack.at(1);
    fin.flags.set(Flags::FIN);
    script.input(fin, Ecn::NotEct);
    assert_eq!(script.connection.state(), State::TimeWait);
    script.events();
    script.input(Segment { seq: fin.seq.at(1), flags: Flags::RST, ..fin }, Ecn::NotEct);
    assert_eq!(script.events(), [Event::Closed]);
}

/// RFC 9293 §3.10.7.4, fifth: SYN-RECEIVED answers an ACK of what was never sent with a reset.
#[test]
fn syn_received_wants_its_own_syn_acknowledged() {
    let mut connection = Connection::listen(&plain(), Seq(700), 1).unwrap();
    let syn = Segment { seq: Seq(90), flags: Flags::SYN, window: 1000, ..Segment::default() };
    connection.handle_segment(Time::ZERO, &syn, Ecn::NotEct);
    assert!(connection.poll_transmit(Time::ZERO).is_some());
    let ack = |ack| Segment { seq: Seq(91), ack: Seq(ack), flags: Flags::ACK, ..syn };
    for wrong in [700, 702] {
        connection.handle_segment(Time::ZERO, &ack(wrong), Ecn::NotEct);
        let reset = connection.poll_transmit(Time::ZERO).expect("a reset").segment;
        assert_eq!((reset.flags, reset.seq), (Flags::RST, Seq(wrong)));
        assert_eq!(connection.state(), State::SynReceived);
    }
    connection.handle_segment(Time::ZERO, &ack(701), Ecn::NotEct);
    assert_eq!(connection.state(), State::Established);
}

/// RFC 5961 §4.2: a SYN on an established connection is challenged.
#[test]
fn a_stray_syn_is_challenged() {
    let mut script = Script::connected(&plain(), 100);
    script.ack_with(0, Flags::SYN);
    assert_eq!(script.connection.state(), State::Established);
    assert_eq!(script.drain().len(), 1);
}

/// Linux: a FIN joins data that had to wait; what a write could send at once has left before it.
#[test]
fn linuxs_fin_joins_only_data_that_waited() {
    let config = TcpConfig { windows: profile::linux().windows, initial_window: 10, ..plain() };
    let last_two = |segments: u64| {
        let mut script = Script::connected(&config, 100);
        script.connection.write(segments * MSS);
        script.shutdown().at(200).ack(segments.min(10));
        let sent = script.drain();
        sent.iter().rev().take(2).map(|(_, transmit)| transmit.segment.flags).collect::<Vec<_>>()
    };
    assert_eq!(last_two(3), [Flags::FIN | Flags::ACK, Flags::ACK | Flags::PSH]);
    assert_eq!(last_two(12), [Flags::FIN | Flags::ACK | Flags::PSH, Flags::ACK]);
}
