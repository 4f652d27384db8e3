//! RFC 6298.

use crate::tcp_timelines::script::{Script, plain};
use airtcp_proto::tcp::{Event, Reason, Recovery, RtoTimers, RttTiming, TcpConfig, TimeoutPolicy};
use airtcp_wire::{Bytes, Dur, Flags};

fn times(script: &mut Script) -> Vec<u64> {
    script
        .sent_why()
        .iter()
        .filter(|(_, _, reason)| *reason == Reason::Timeout)
        .map(|(at, _, _)| *at)
        .collect()
}

/// RFC 6298 §5.4 to §5.6: each expiry resends the first segment and doubles the RTO.
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

/// A fast retransmit brings no new data, and RFC 6298 §5 leaves the timer alone; ns-2's `dupack_action` sets it anew.
#[test]
fn a_fast_retransmit_restarts_ns2s_timer() {
    for (restarts, expiry) in [(false, 1100), (true, 1200)] {
        let mut config = plain();
        config.rto.restart_at_fast_retransmit = restarts;
        let mut script = Script::opened(&config, 10);
        script.write(10).at(200).acks(0, 3);
        script.at(1_500);
        assert_eq!(times(&mut script), [expiry]);
    }
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

/// Paper 003 §III: selective repeat resends the segment that timed out and no other, whatever else is outstanding and
/// however losses are found otherwise; go-back-N goes on with all the others, from that one on: in slow start (RFC 5681 §3.1), or at
/// once, as the paper has it.
#[test]
fn a_timeout_resends_one_segment_or_all_that_is_outstanding() {
    for (recovery, sack) in [(Recovery::Newreno, false), (Recovery::Sack, true), (Recovery::RackTlp, true)] {
        let resent = |timeout_policy| {
            let config = TcpConfig { recovery, sack, timeout_policy, receive_window: Bytes(4000), ..plain() };
            let mut script = Script::opened(&config, 4);
            script.write(4);
            script.at(1_000);
            script.drain();
            let mut at_timeout = Vec::new();
            script.at(1_400);
            at_timeout.extend(script.sent_why().into_iter().map(|(_, segment, reason)| (segment, reason)));
            script.at(1_500).ack(1);
            (at_timeout, script.sent())
        };
        assert_eq!(
            resent(TimeoutPolicy::SelectiveRepeat),
            (vec![(0, Reason::Timeout)], vec![]),
            "{recovery:?}"
        );
        assert_eq!(resent(TimeoutPolicy::GoBackN), (vec![(0, Reason::Timeout)], vec![1, 2]), "{recovery:?}");
        let all = (0..4).map(|segment| (segment, Reason::Timeout)).collect();
        assert_eq!(resent(TimeoutPolicy::GoBackNAtOnce), (all, vec![]), "{recovery:?}");
    }
}

/// What SACK has reported is not resent by go-back-N either (RFC 6675 §5.1).
#[test]
fn go_back_n_spares_what_is_sacked() {
    let config = TcpConfig { recovery: Recovery::Sack, sack: true, dupack_threshold: 9, ..plain() };
    let mut script = Script::opened(&config, 5);
    script.write(5);
    script.at(150).sack(0, &[(2, 4)]);
    script.drain();
    script.at(1_400).ack(1);
    assert_eq!(script.sent(), [0, 1, 4]);
}

/// Paper 003 §II and §III: a timer for each segment. Selective repeat lets each expire for itself, go-back-N restarts
/// them as it resends.
#[test]
fn each_segment_may_have_a_timer_of_its_own() {
    let times = |timeout_policy| {
        let mut config = TcpConfig { timeout_policy, ..plain() };
        config.rto.timers = RtoTimers::Segment;
        let mut script = Script::opened(&config, 3);
        script.write(1).at(200).write(1);
        script.at(300).write(1);
        script.drain();
        script.at(1_350);
        times(&mut script)
    };
    assert_eq!(times(TimeoutPolicy::SelectiveRepeat), [1100, 1200, 1300]);
    assert_eq!(times(TimeoutPolicy::GoBackN), [1100]);
    assert_eq!(times(TimeoutPolicy::GoBackNAtOnce), [1100, 1100, 1100]);
}

/// With a timer for each segment an ACK of others does not put its expiry off, and its period doubles by itself.
#[test]
fn a_segments_own_timer_backs_off_alone() {
    let mut config = plain();
    config.rto.timers = RtoTimers::Segment;
    config.max_retries = 3;
    config.timeout_policy = TimeoutPolicy::SelectiveRepeat;
    let mut script = Script::opened(&config, 3);
    script.write(3).at(500).ack(1);
    script.drain();
    script.at(5_000);
    // Segments 1 and 2 were sent at 100 ms with an RTO of 1 s.
    assert_eq!(times(&mut script), [1100, 1100, 3100, 3100]);
    assert!(script.events().iter().all(|event| *event != Event::Reset), "4 expiries, but 2 of a segment");
}
