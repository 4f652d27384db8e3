//! TCP Fast Open (RFC 7413).

use crate::common::{Pair, Weather, ms};
use crate::tcp_timelines::script::{MSS, plain};
use airtcp_proto::tcp::{Event, Reason, State, TcpConfig};
use airtcp_wire::{FastOpen, Flags, Time};

const COOKIE: FastOpen = FastOpen::cookie(8).unwrap();

/// A client with a cookie and `written` bytes to say, before the SYN has left; 10 ms each way.
fn pair(written: u64) -> Pair {
    let config = TcpConfig { initial_window: 10, ..plain() };
    let mut pair = Pair::new(&config, &config, [1, 100], Weather::clear(ms(10)), 1);
    pair.ends[0].use_cookie(COOKIE, 1460);
    pair.ends[0].write(written);
    pair
}

fn at(milliseconds: u64) -> Time {
    Time::ZERO + ms(milliseconds)
}

/// §2: the answer is there after one round trip, all of an initial window of it.
#[test]
fn a_request_and_its_answer_take_one_round_trip() {
    let mut pair = pair(200);
    pair.trusts = true;
    pair.run(at(10));
    assert_eq!((pair.ends[1].state(), pair.ends[1].received()), (State::SynReceived, 200));
    assert_eq!(pair.events[1], [Event::Connected]);
    pair.ends[1].write(20 * MSS);
    pair.run(at(20));
    assert_eq!(pair.ends[0].received(), 10 * MSS);
    let syn_ack = pair.log.iter().find(|sent| sent.by == 1).unwrap().transmit.segment;
    assert_eq!((syn_ack.flags, syn_ack.ack.0), (Flags::SYN | Flags::ACK, 202));
    pair.run(at(1_000));
    assert_eq!(pair.ends[0].received(), 20 * MSS);
    let retransmissions = [0, 1].map(|end| pair.ends[end].stats().retransmissions);
    assert_eq!((retransmissions, pair.events[1].len()), ([0, 0], 1));
}

/// §4.1.3.1: no more text goes with the SYN than fits into one segment of the peer's, beside the longer options.
#[test]
fn one_segment_of_text_goes_with_the_syn() {
    for (mss, expected) in [(1460, 1040 - 20 - 20 - 4 - 12), (536, 536)] {
        let mut pair = pair(5 * MSS);
        pair.ends[0].use_cookie(COOKIE, mss);
        pair.flush();
        let syn = pair.log[0].transmit.segment;
        assert_eq!((syn.flags, syn.len, syn.syn.fast_open), (Flags::SYN, expected, COOKIE));
        assert_eq!(pair.log.len(), 1, "the rest waits for the SYN-ACK");
    }
}

/// §4.2.2: a server that does not know the cookie takes no text and grants one. §4.2.1: the client resends the text at once, and takes it
/// for no congestion.
#[test]
fn text_that_was_not_taken_is_resent_at_once() {
    let mut pair = pair(3 * MSS);
    pair.ends[1].grant_cookie(COOKIE);
    pair.run(at(20));
    assert_eq!((pair.ends[1].state(), pair.ends[1].received()), (State::SynReceived, 0));
    let [syn, syn_ack] =
        [0, 1].map(|by| pair.log.iter().find(|sent| sent.by == by).unwrap().transmit.segment);
    assert_eq!((syn_ack.syn.fast_open, syn_ack.ack.0), (COOKIE, 2));
    let first = u64::from(syn.len);
    let sent = pair.data_sent(0, 1);
    assert_eq!(sent[..2], [(0, 0, Reason::New), (20, 0, Reason::Retransmit)]);
    assert_eq!(sent[2].1, first, "new data follows");
    pair.run(at(1_000));
    assert_eq!(pair.ends[1].received(), 3 * MSS);
    assert_eq!((pair.ends[0].stats().retransmissions, pair.ends[0].stats().cwnd_reductions), (1, 0));
}

/// §4.1.3: a SYN that is resent has neither the option nor text, lest it was a middlebox that dropped it.
#[test]
fn a_syn_that_is_lost_is_resent_without_text() {
    let mut pair = pair(MSS / 2);
    pair.trusts = true;
    pair.lose = Box::new(|_, transmit| transmit.segment.syn.fast_open.has_cookie());
    pair.run(at(5_000));
    assert_eq!(pair.ends[1].received(), MSS / 2);
    let syns: Vec<_> = pair.log.iter().filter(|sent| sent.transmit.segment.flags == Flags::SYN).collect();
    let options = syns.iter().map(|sent| (sent.transmit.segment.len, sent.transmit.segment.syn.fast_open));
    assert_eq!(options.collect::<Vec<_>>(), [((MSS / 2) as u32, COOKIE), (0, FastOpen::ABSENT)]);
}

/// A SYN-ACK that is lost is resent, and so is the FIN behind it.
#[test]
fn a_server_that_has_answered_resends_its_syn_ack() {
    let mut pair = pair(MSS / 2);
    pair.trusts = true;
    pair.closes = [false, true];
    let mut left = 1;
    pair.lose = Box::new(move |by, transmit| {
        let is_first = by == 1 && transmit.segment.flags.contains(Flags::SYN) && left > 0;
        left -= i32::from(is_first);
        is_first
    });
    pair.run(at(10));
    pair.run(at(5_000));
    assert_eq!((pair.ends[0].received(), pair.ends[1].received()), (0, MSS / 2));
    assert_eq!((pair.ends[0].state(), pair.ends[1].state()), (State::CloseWait, State::FinWait2));
}

/// A client that goes away resets a connection that its server has answered: the application learns of it.
#[test]
fn a_reset_ends_what_was_answered() {
    let mut pair = pair(MSS / 2);
    pair.trusts = true;
    pair.run(at(10));
    let syn = pair.log[0].transmit.segment;
    let reset = airtcp_wire::Segment {
        seq: syn.seq.at(1 + u64::from(syn.len)),
        flags: Flags::RST,
        ..Default::default()
    };
    pair.arrive(1, &reset, Default::default(), |_| 0);
    pair.flush();
    assert_eq!(pair.ends[1].state(), State::Closed);
    assert!(pair.events[1].contains(&Event::Reset));
}

/// RFC 9293 §3.10.4: the FIN goes with the answer, and does not wait for the handshake.
#[test]
fn an_answer_that_ends_at_once_takes_one_round_trip() {
    let mut pair = pair(200);
    pair.trusts = true;
    pair.run(at(10));
    pair.ends[1].write(3 * MSS);
    pair.ends[1].shutdown();
    pair.run(at(20));
    assert_eq!((pair.ends[0].received(), pair.ends[0].state()), (3 * MSS, State::CloseWait));
    pair.run(at(30));
    assert_eq!(pair.ends[1].state(), State::FinWait2);
}
