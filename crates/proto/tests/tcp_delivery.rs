//! Whatever the path does: every byte arrives once and in order, and nothing grows without bound.

use crate::common::{Pair, Weather, ms};
use airtcp_proto::cc::controllers;
use airtcp_proto::circuit;
use airtcp_proto::tcp::profile::{self, PROFILES};
use airtcp_proto::tcp::{Event, Recovery, RtoConfig, RtoTimers, State, TcpConfig, TimeoutPolicy};
use airtcp_wire::{Bytes, Dur, FastOpen, Time};
use proptest::prelude::*;

#[test]
fn a_transfer_on_a_clear_path_takes_no_retransmission() {
    for profile in PROFILES {
        let config = (profile.config)();
        let mut pair = Pair::new(&config, &config, [u32::MAX - 5000, 7], Weather::clear(ms(10)), 1);
        pair.ends[0].write(1_000_000);
        pair.closes = [true, true];
        pair.run(Time::ZERO + Dur::from_secs(200));
        assert_eq!(pair.ends[1].received(), 1_000_000, "{}", profile.name);
        assert_eq!(pair.ends[0].acknowledged(), 1_000_000, "{}", profile.name);
        assert_eq!(pair.ends[0].stats().retransmissions, 0, "{}", profile.name);
        for end in 0..2 {
            assert!(
                pair.events[end].contains(&Event::AllAcknowledged),
                "{}: {:?}",
                profile.name,
                pair.events
            );
            assert_eq!(pair.ends[end].state(), State::Closed, "{}", profile.name);
        }
    }
}

/// A driver's watchdog: whatever has stopped a connection, the retransmission timer makes a new start.
#[test]
fn a_connection_that_is_stuck_is_revived() {
    let config = profile::linux();
    let mut pair = Pair::new(&config, &config, [1, 2], Weather::clear(ms(10)), 1);
    pair.ends[0].write(10_000);
    pair.run(Time::ZERO + Dur::from_secs(10));
    assert!(!pair.ends[0].revive(pair.now), "it has nothing to do");
    // As it is while nobody polls it.
    pair.waits = Some(0);
    pair.ends[0].write(10_000);
    assert!(pair.ends[0].is_stuck() && pair.ends[0].revive(pair.now) && !pair.ends[0].is_stuck());
    pair.run(pair.now + Dur::from_secs(2));
    assert_eq!(pair.ends[0].stats().timeouts, 1);
    pair.waits = None;
    pair.run(pair.now + Dur::from_secs(10));
    assert_eq!(pair.ends[1].received(), 20_000);
}

/// A reduction that is spread over a round trip waits for ACKs. With nothing in flight there are none.
#[test]
fn congestion_with_nothing_in_flight_stops_nobody() {
    for controller in controllers() {
        let congestion_control = controller.name.to_owned();
        let config = TcpConfig { congestion_control, ..profile::linux() };
        let mut pair = Pair::new(&config, &config, [1, 2], Weather::clear(ms(10)), 1);
        for round in 1..4 {
            pair.ends[0].write(100_000);
            pair.run(pair.now + Dur::from_secs(10));
            pair.ends[0].handle_congestion(pair.now);
            assert_eq!(pair.ends[1].received(), round * 100_000, "{}", controller.name);
        }
    }
}

/// A tail loss probe is due while the end waits for room. When it may send, everything has been acknowledged: new data leaves.
#[test]
fn a_probe_that_has_become_needless_stops_nothing() {
    let config = profile::linux();
    let mut pair = Pair::new(&config, &config, [1, 2], Weather::clear(ms(100)), 1);
    pair.ends[0].write(5_000);
    pair.run(Time::ZERO + ms(1_000));
    pair.weather = Weather::clear(ms(400));
    pair.ends[0].write(5_000);
    pair.flush();
    pair.waits = Some(0);
    pair.ends[0].write(5_000);
    pair.run(Time::ZERO + ms(3_000));
    assert_eq!(pair.ends[0].acknowledged(), 10_000);
    pair.waits = None;
    pair.run(Time::ZERO + ms(9_000));
    assert_eq!(pair.ends[0].acknowledged(), 15_000);
    assert_eq!(pair.ends[0].stats().tail_loss_probes, 0, "none has left");
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::RenoNs2),
        Just(Recovery::Newreno),
        Just(Recovery::Sack),
        Just(Recovery::RackTlp)
    ];
    let send_buffer = prop::option::of((1_000u64..200_000).prop_map(Bytes));
    let policy = prop_oneof![
        Just(TimeoutPolicy::GoBackN),
        Just(TimeoutPolicy::GoBackNAtOnce),
        Just(TimeoutPolicy::SelectiveRepeat)
    ];
    let few = (1u32..3, 0u8..3);
    (0usize..PROFILES.len(), recovery, policy, any::<[bool; 9]>(), few, 3_000u64..200_000, send_buffer)
        .prop_map(|(profile, recovery, timeout_policy, bits, few, window, send_buffer)| {
            let (ack_every, tail_copies) = few;
            let [sack, timestamps, window_scaling, eifel, f_rto, prr, nagle, ecn, each] = bits;
            let profile = (PROFILES[profile].config)();
            let timers = if each { RtoTimers::Segment } else { RtoTimers::Connection };
            TcpConfig {
                sack,
                timestamps,
                window_scaling,
                eifel,
                f_rto,
                prr,
                nagle,
                ecn,
                recovery,
                timeout_policy,
                ack_every,
                tail_copies,
                dsack: sack,
                send_buffer,
                receive_window: Bytes(window),
                max_retries: 1000,
                packet_size: 1500,
                time_wait: Dur::from_secs(1),
                rto: RtoConfig { timers, ..profile.rto.clone() },
                ..profile
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_in_any_weather(
        client in config(),
        server in config(),
        iss: [u32; 2],
        (loss, duplication, jitter) in (0.0..0.3, 0.0..0.2, 0u64..200),
        (up, down) in (0u64..150_000, 0u64..150_000),
        fast in prop::option::of((200u16..2_000, any::<bool>())),
        seed: u64,
    ) {
        let weather = Weather { loss, duplication, delay: ms(20), jitter: ms(jitter) };
        let mut pair = Pair::new(&client, &server, iss, weather, seed);
        if let Some((mss, trusts)) = fast {
            pair.ends[0].use_cookie(FastOpen::cookie(8).unwrap(), mss);
            pair.trusts = trusts;
        }
        pair.ends[0].write(up);
        pair.ends[1].write(down);
        pair.closes = [true, true];
        pair.run(Time::ZERO + Dur::from_secs(100_000));
        prop_assert_eq!(pair.ends[1].received(), up);
        prop_assert_eq!(pair.ends[0].received(), down);
        prop_assert!(pair.is_intact(0) && pair.is_intact(1));
        // The last ACK of a closing handshake may be lost for good once the other end is gone (RFC 9293 §3.6.1), but
        // never data.
        prop_assert!(pair.events.iter().all(|events| events.contains(&Event::PeerFinished)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Whatever controls the window, and whenever congestion is reported, by ECN, by losses or from outside: with data in
    /// flight or none, in the middle of a write or long after it.
    #[test]
    fn every_byte_arrives_in_fits_and_starts(
        config in config(),
        controller in prop::sample::select(controllers().iter().map(|spec| spec.name).collect::<Vec<_>>()),
        (loss, marks, jitter) in (0.0..0.2, 0.0..0.5, 0u64..60),
        fits in prop::collection::vec((0usize..2, 0u64..20_000, 0u64..400, [0usize..4, 0usize..8]), 1..30),
        seed: u64,
    ) {
        let config = TcpConfig { congestion_control: controller.to_owned(), ..config };
        let weather = Weather { loss, duplication: 0.05, delay: ms(20), jitter: ms(jitter) };
        let mut pair = Pair::new(&config, &config, [1, 2], weather, seed);
        pair.marks = marks;
        let mut written = [0, 0];
        for (by, bytes, pause, [congested, waits]) in fits {
            pair.waits = Some(waits).filter(|end| *end < 2);
            pair.ends[by].write(bytes);
            written[by] += bytes;
            pair.run(pair.now + ms(pause));
            pair.now += ms(pause / 2);
            if congested < 2 {
                pair.ends[congested].handle_congestion(pair.now);
            }
        }
        pair.waits = None;
        pair.run(Time::ZERO + Dur::from_secs(100_000));
        prop_assert_eq!(written, [pair.ends[1].received(), pair.ends[0].received()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// The path's MTU changes, and what has left in longer packets is resent.
    #[test]
    fn every_byte_arrives_however_long_segments_may_be(
        client in config(),
        server in config(),
        (loss, jitter) in (0.0..0.2, 0u64..100),
        bytes in 0u64..150_000,
        changes in prop::collection::btree_map(0u64..5_000, (500u32..2_000, any::<bool>()), 0..8),
        seed: u64,
    ) {
        let weather = Weather { loss, duplication: 0.0, delay: ms(20), jitter: ms(jitter) };
        let mut pair = Pair::new(&client, &server, [1, 2], weather, seed);
        pair.ends[0].write(bytes);
        pair.closes = [true, true];
        for (at, (payload, resends)) in changes {
            pair.run(Time::ZERO + ms(at));
            pair.ends[0].limit_mss(payload);
            if resends {
                pair.ends[0].resend_longer_than(payload.into());
            }
        }
        pair.run(Time::ZERO + Dur::from_secs(100_000));
        prop_assert_eq!(pair.ends[1].received(), bytes);
        prop_assert!(pair.is_intact(1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// A circuit's data TCP with the paper's error control, over a path that loses and reorders.
    #[test]
    fn every_byte_of_a_data_tcp_arrives_in_any_weather(
        profile in 0usize..PROFILES.len(),
        features: [bool; 3],
        (loss, duplication, jitter) in (0.0..0.3, 0.0..0.2, 0u64..200),
        bytes in 0u64..150_000,
        seed: u64,
    ) {
        let [f1, f2, f3] = features;
        let error_control = circuit::ErrorControl::Paper;
        let paper = circuit::Config { error_control, f1, f2, f3, ..circuit::Config::default() };
        let data_tcp = TcpConfig { max_retries: 1000, ..paper.data_tcp(&(PROFILES[profile].config)()) };
        let weather = Weather { loss, duplication, delay: ms(20), jitter: ms(jitter) };
        let mut pair = Pair::new(&data_tcp, &data_tcp, [1, 2], weather, seed);
        pair.ends[0].write(bytes);
        pair.closes = [true, true];
        pair.run(Time::ZERO + Dur::from_secs(100_000));
        prop_assert_eq!(pair.ends[1].received(), bytes);
        prop_assert!(pair.is_intact(1));
    }
}
