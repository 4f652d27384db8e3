//! Random lives of a circuit: it never stops for good.

use crate::circuit::world::{Link, Weather, World};
use airtcp_proto::cc::controllers;
use airtcp_proto::circuit::{Compression, Config, Fec};
use airtcp_proto::tcp::TcpConfig;
use airtcp_proto::tcp::profile::PROFILES;
use airtcp_wire::{Bytes, Dur, Rate};
use proptest::prelude::*;

/// Packets that come together, their length, and the pause after them in milliseconds.
type Fit = (u8, u32, u64);

fn config() -> impl Strategy<Value = Config> {
    let compression = prop::sample::select(vec![Compression::None, Compression::Rfc1144, Compression::Twice]);
    let gmb = prop_oneof![3 => Just(None), 1 => (10_000u64..2_000_000).prop_map(|rate| Some(Rate(rate)))];
    let vmss = prop_oneof![3 => Just(1500), 1 => 64u64..9000];
    let fec = prop_oneof![2 => (0u8..3).prop_map(Fec::Repeat), 1 => Just(Fec::Auto)];
    let tunnel_delay = prop_oneof![Just(Dur::ZERO), Just(Dur::from_millis(10))];
    (vmss, 1u16..4, gmb, compression, prop::bool::weighted(0.9), fec, tunnel_delay).prop_map(
        |(vmss, controls, gmb, compression, loss_reports, fec, tunnel_delay)| Config {
            vmss: Bytes(vmss),
            controls,
            gmb,
            compression,
            loss_reports,
            fec: if loss_reports { fec } else { Fec::Repeat(0) },
            tunnel_delay,
            ..Config::default()
        },
    )
}

fn tcp() -> impl Strategy<Value = TcpConfig> {
    let names: Vec<_> = controllers().iter().map(|spec| spec.name).collect();
    (prop::sample::select(names), 0..PROFILES.len(), any::<[bool; 2]>()).prop_map(
        |(controller, profile, [ecn, prr])| {
            let congestion_control = controller.to_owned();
            TcpConfig { congestion_control, ecn, prr, ..(PROFILES[profile].config)() }
        },
    )
}

fn weather() -> impl Strategy<Value = Weather> {
    (0.0..0.3, 0.0..0.3, 0.0..0.3, 0.0..0.3).prop_map(|(data, headers, acks, marks)| Weather {
        data,
        headers,
        acks,
        marks,
    })
}

/// A rate, and room in bytes beyond what leaves at once: a header packet behind data that alone fills the queue never passes.
fn link() -> impl Strategy<Value = Option<(Rate, u64)>> {
    prop_oneof![1 => Just(None), 3 => (100_000u64..20_000_000, 0u64..60_000).prop_map(|(rate, room)| Some((Rate(rate), room)))]
}

/// Bulk, and the few bytes of ACKs; with pauses that outlast the flight, and without.
fn fit() -> impl Strategy<Value = Fit> {
    let bytes = prop_oneof![Just(52u32), Just(1500), 40u32..1500];
    let pause_ms = prop_oneof![4 => 0u64..50, 1 => 0u64..3_000];
    (1u8..60, bytes, pause_ms)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// When losses have ended, all that waits leaves. The machines check after each step that a timer runs while anything waits.
    #[test]
    fn a_circuit_never_stops_for_good(
        config in config(),
        tcp in tcp(),
        weather in weather(),
        link in link(),
        fits in prop::collection::vec(fit(), 1..60),
        seed: u64,
    ) {
        let mut world = World::with_seed(&config, &tcp, seed);
        let least = u64::from(config.controls) * (config.vmss.0 + 3_000);
        world.link = link.map(|(rate, room)| Link { counts_bytes: true, ..Link::new(rate, rate.time_for(least + room)) });
        world.weather = weather;
        for (packets, bytes, pause_ms) in fits {
            (0..packets).for_each(|_| {
                world.offer(bytes);
            });
            let next = world.now + Dur::from_millis(pause_ms);
            world.run(next);
        }
        world.weather = Weather::default();
        let end = world.now + Dur::from_secs(1_000);
        world.run(end);
        let waiting = world.offered.len() - world.data().count();
        prop_assert_eq!(waiting, 0, "{:?}", world.sender.controls().next().map(|control| control.sender_view()));
    }
}
