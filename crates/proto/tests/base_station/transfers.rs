//! Through every machine every byte arrives, whatever the wireless link and the end hosts are like.

use crate::base_station::world::{Wireless, World};
use airtcp_proto::base_station::all;
use airtcp_proto::cc::controllers;
use airtcp_proto::tcp::profile::PROFILES;
use airtcp_proto::tcp::{Event, TcpConfig};
use airtcp_wire::{Bytes, Dur, Time};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

#[derive(Clone, Debug)]
struct Life {
    profile: usize,
    /// timestamps, sack, window_scaling, ecn
    options: [bool; 4],
    window: u64,
    iss: [u32; 2],
    bytes: Vec<[u64; 2]>,
    wireless: Wireless,
    seed: u64,
}

fn life() -> impl Strategy<Value = Life> {
    let wireless =
        (0.0..0.15, 1..300u64, prop_oneof![Just(0), 0..500u64]).prop_map(|(loss, delay, jitter)| Wireless {
            loss,
            delay: Dur::from_millis(delay),
            jitter: Dur::from_millis(jitter),
        });
    // Around the wrap, and anywhere.
    let iss = || prop_oneof![any::<u32>(), (u32::MAX - 40_000)..=u32::MAX];
    let bytes = || prop_oneof![Just(0), 0..60_000u64];
    let bytes = prop::collection::vec([bytes(), bytes()], 1..4);
    (0..PROFILES.len(), any::<[bool; 4]>(), 4000..100_000u64, [iss(), iss()], bytes, wireless, any::<u64>())
        .prop_map(|(profile, options, window, iss, bytes, wireless, seed)| Life {
            profile,
            options,
            window,
            iss,
            bytes,
            wireless,
            seed,
        })
}

fn config(life: &Life) -> TcpConfig {
    let [timestamps, sack, window_scaling, ecn] = life.options;
    TcpConfig {
        timestamps,
        sack,
        window_scaling,
        ecn,
        receive_window: Bytes(life.window),
        max_retries: 1000,
        time_wait: Dur::from_secs(1),
        ..(PROFILES[life.profile].config)()
    }
}

/// With pauses, marks, and every controller: whatever has stopped goes on when somebody writes.
#[test]
fn every_byte_arrives_in_fits_and_starts_through_every_machine() {
    let names: Vec<_> = controllers().iter().map(|spec| spec.name).collect();
    let fits = prop::collection::vec((0..2usize, 1..20_000u64, 0..2_000u64), 1..30);
    let lives = (life(), prop::sample::select(names), 0.0..0.5, fits);
    for machine in all() {
        let settings = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let outcome =
            TestRunner::new_with_rng(settings, rng).run(&lives, |(life, controller, marks, fits)| {
                let config = TcpConfig { congestion_control: controller.to_owned(), ..config(&life) };
                let mut world = World::new(&machine, &config, life.wireless, life.seed);
                (world.marks, world.closes) = (marks, false);
                world.connect([&config, &config], life.iss, [0, 0]);
                let mut written = [0, 0];
                for (end, bytes, pause_ms) in fits {
                    world.write(0, end, bytes);
                    written[end] += bytes;
                    let next = world.now + Dur::from_millis(pause_ms);
                    world.run(next);
                    world.now = next;
                }
                world.run(Time::ZERO + Dur::from_secs(40_000));
                let [fixed, mobile] = &world.flows[0].ends;
                prop_assert_eq!([mobile.received(), fixed.received()], written);
                Ok(())
            });
        if let Err(failure) = outcome {
            panic!("{}: {failure}", machine.spec().name);
        }
    }
}

/// Both directions carry data, ACKs ride on it, with and without timestamps, SACK and window scaling, with sequence
/// numbers that wrap, over a link that loses and reorders.
#[test]
fn every_byte_arrives_through_every_machine() {
    for machine in all() {
        let settings = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let outcome = TestRunner::new_with_rng(settings, rng).run(&life(), |life| {
            let config = config(&life);
            let mut world = World::new(&machine, &config, life.wireless, life.seed);
            for bytes in &life.bytes {
                world.connect([&config, &config], life.iss, *bytes);
            }
            world.run(Time::ZERO + Dur::from_secs(40_000));
            for (flow, bytes) in world.flows.iter().zip(&life.bytes) {
                let received = [flow.ends[1].received(), flow.ends[0].received()];
                prop_assert_eq!(received, *bytes, "{:?}", flow.events);
                prop_assert!(flow.events.iter().all(|events| !events.contains(&Event::Reset)));
            }
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{}: {failure}", machine.spec().name);
        }
    }
}
