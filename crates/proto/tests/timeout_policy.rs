//! Go-back-N and selective repeat (paper 003 §III) differ in nothing but what a timeout resends.

use crate::common::{Pair, Sent, Weather, ms};
use airtcp_proto::tcp::profile::PROFILES;
use airtcp_proto::tcp::{Reason, Recovery, RtoTimers, TcpConfig, TimeoutPolicy};
use airtcp_wire::{Bytes, Dur, Time};
use proptest::prelude::*;

fn config() -> impl Strategy<Value = TcpConfig> {
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::RenoNs2),
        Just(Recovery::Newreno),
        Just(Recovery::Sack),
        Just(Recovery::RackTlp)
    ];
    (0..PROFILES.len(), recovery, any::<[bool; 4]>(), 3_000u64..100_000).prop_map(
        |(profile, recovery, [sack, timestamps, eifel, each], window)| {
            let base = (PROFILES[profile].config)();
            let timers = if each { RtoTimers::Segment } else { RtoTimers::Connection };
            let rto = airtcp_proto::tcp::RtoConfig { timers, ..base.rto.clone() };
            let receive_window = Bytes(window);
            TcpConfig { recovery, sack, timestamps, eifel, receive_window, rto, max_retries: 1000, ..base }
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    (0..20u32, 1..200u64, 0..400u64).prop_map(|(loss, delay, jitter)| Weather {
        loss: f64::from(loss) / 100.0,
        duplication: 0.0,
        delay: ms(delay),
        jitter: ms(jitter),
    })
}

/// All that was sent, and whether all of it arrived.
fn transfer(config: &TcpConfig, policy: TimeoutPolicy, weather: &Weather, seed: u64) -> (Vec<Sent>, bool) {
    let config = TcpConfig { timeout_policy: policy, ..config.clone() };
    let mut pair = Pair::new(&config, &config, [7, 9], weather.clone(), seed);
    pair.ends[0].write(60_000);
    pair.run(Time::ZERO + Dur::from_secs(100_000));
    let arrived = pair.ends[1].received() == 60_000;
    (pair.log, arrived)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// The packet traces are identical up to the first timeout after the handshake, and with it.
    #[test]
    fn the_policies_differ_only_after_a_timeout(
        config in config(),
        other in prop_oneof![Just(TimeoutPolicy::GoBackN), Just(TimeoutPolicy::GoBackNAtOnce)],
        weather in weather(),
        seed: u64,
    ) {
        let (one, all_arrived) = transfer(&config, TimeoutPolicy::SelectiveRepeat, &weather, seed);
        let (other, others_arrived) = transfer(&config, other, &weather, seed);
        prop_assert!(all_arrived && others_arrived);
        let is_timeout = |sent: &Sent| sent.transmit.reason == Reason::Timeout && sent.transmit.segment.len > 0;
        let first = one.iter().position(is_timeout);
        prop_assert_eq!(first, other.iter().position(is_timeout));
        let shared = first.map_or(one.len().max(other.len()), |at| at + 1);
        for (a, b) in one.iter().zip(&other).take(shared) {
            prop_assert_eq!((a.at, a.by, a.transmit, a.was_lost), (b.at, b.by, b.transmit, b.was_lost));
        }
        prop_assert!(first.is_some() || one.len() == other.len());
    }
}
