//! RFC 6298.

use crate::script::{Script, plain};
use airtcp_proto::tcp::{Event, Reason, RttTiming, TcpConfig};
use airtcp_wire::{Dur, Flags};

fn times(script: &mut Script) -> Vec<u64> {
    script
        .sent_why()
        .iter()
        .filter(|(_, _, reason)| *reason == Reason::Timeout)
        .map(|(at, _, _)| *at)
        .collect()
}

/// RFC 6298 §5.4 to 5.6: each expiry resends the first segment and doubles the RTO.
#[test]
fn the_timer_backs_off() {
    let mut script = Script::connected(&plain(), 100);
    script.write(1);
    script.drain();
    script.at(16_000);
    assert_eq!(times(&mut script), [1100, 3100, 7100, 15_100]);
    assert_eq!(script.windows(), (1, 2));
}

/// Paper 000 §6 (F3): the back-off can be switched off.
#[test]
fn without_backoff_the_interval_stays() {
    let mut config = plain();
    config.rto.backoff = false;
    let mut script = Script::connected(&config, 100);
    script.write(1);
    script.drain();
    script.at(4_500);
    assert_eq!(times(&mut script), [1100, 2100, 3100, 4100]);
}

/// RFC 6298 §5.3: an ACK of new data restarts the timer.
#[test]
fn new_data_acknowledged_restarts_the_timer() {
    let mut script = Script::connected(&plain(), 100);
    script.write(2);
    script.drain();
    script.at(900).ack(1);
    script.at(1_500);
    assert_eq!(times(&mut script), [] as [u64; 0]);
}

/// RFC 6298 §5.2: all acknowledged, the timer is off.
#[test]
fn all_acknowledged_turns_the_timer_off() {
    let mut script = Script::connected(&plain(), 100);
    script.write(2);
    script.at(200).ack(2);
    script.drain();
    script.at(100_000);
    assert_eq!(script.drain(), []);
}

/// RFC 6298 §3 (Karn): a resent segment gives no sample, so the backed-off RTO stays for the next one.
#[test]
fn karn_takes_no_sample_from_a_resent_segment() {
    for timing in [RttTiming::EveryAck, RttTiming::OneAtATime] {
        let mut config = plain();
        config.rto.timing = timing;
        let mut script = Script::connected(&config, 100);
        script.write(1);
        script.at(1200).ack(1);
        assert_eq!(script.connection.last_rtt(), None);
        assert_eq!(script.view().srtt, Dur::from_millis(100));
        assert_eq!(script.view().rto, Dur::from_secs(2));
        script.write(1).at(1300).ack(2);
        assert_eq!(script.connection.last_rtt(), Some(Dur::from_millis(100)));
        assert_eq!(script.view().rto, Dur::from_secs(1));
    }
}

/// RFC 6298 §3 (Karn): what arrived long before the hole in front of it was filled gives no sample either.
#[test]
fn karn_takes_no_sample_from_what_waited_behind_a_hole() {
    let mut script = Script::connected(&plain(), 100);
    script.write(2);
    script.at(200).ack(0);
    script.at(1200).ack(2);
    assert_eq!(script.connection.last_rtt(), None);
    assert_eq!(script.view().srtt, Dur::from_millis(100));
}

/// RFC 7323 §4: with timestamps the ACK of a resent segment does give a sample.
#[test]
fn timestamps_give_a_sample_after_a_retransmission() {
    let mut script = Script::connected(&TcpConfig { timestamps: true, packet_size: 1052, ..plain() }, 100);
    script.write(1);
    script.at(1250).ack_echoing(1, 1100);
    assert_eq!(script.connection.last_rtt(), Some(Dur::from_millis(150)));
}

/// Paper 003: RTO = SRTT + m·RTTVAR; m = 4 is RFC 6298 to the nanosecond.
#[test]
fn the_factor_m_is_what_multiplies_rttvar() {
    for (factor, rto_ms) in [(4.0, 300), (10.0, 600), (20.0, 1100)] {
        let mut config = plain();
        config.rto.factor = factor;
        config.rto.min = Dur::ZERO;
        let script = Script::connected(&config, 100);
        assert_eq!(script.view().rto, Dur::from_millis(rto_ms));
    }
}

/// RFC 5681 §3.1: a second expiry on the same segment leaves ssthresh alone.
#[test]
fn a_repeated_timeout_does_not_halve_again() {
    let mut script = Script::opened(&plain(), 10);
    script.write(10);
    script.at(1200);
    assert_eq!(script.windows(), (1, 5));
    script.at(3200);
    assert_eq!(script.windows(), (1, 5));
}

/// RFC 9293 §3.8.3: after too many retransmissions the connection is given up.
#[test]
fn a_dead_peer_is_given_up() {
    let mut script = Script::connected(&TcpConfig { max_retries: 3, ..plain() }, 100);
    script.write(1);
    script.events();
    script.at(60_000);
    assert_eq!(script.events(), [Event::Reset, Event::Closed]);
}

/// FreeBSD 2.2's 500 ms clock: expiries fall on ticks.
#[test]
fn a_coarse_clock_expires_on_its_ticks() {
    let mut config = plain();
    config.rto.expire_tick = Dur::from_millis(500);
    let mut script = Script::connected(&config, 100);
    script.at(130).ack_with(0, Flags(0)).write(1);
    script.drain();
    script.at(4000);
    assert_eq!(times(&mut script), [1000, 3000]);
}
