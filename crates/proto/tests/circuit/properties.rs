//! The design properties of §4.4, and the credit of §4.5.1.

use crate::circuit::world::{Left, World, ms, reno};
use airtcp_proto::circuit::Config;
use airtcp_proto::tcp::{Reason, TcpConfig};
use airtcp_wire::{Bytes, Dur};
use proptest::prelude::*;

fn one_control() -> Config {
    Config::default()
}

fn greedy(config: &Config, bytes: u32) -> World {
    let mut world = World::new(config, &reno());
    world.backlog = Some(Box::new(move || bytes));
    world
}

/// Property 1: data triggers header packets; there is none without.
#[test]
fn no_data_no_header_packets() {
    let mut world = World::new(&one_control(), &reno());
    world.run(ms(5_000));
    assert_eq!(world.left.len(), 2, "SYN and ACK: {:?}", world.left);
    assert!(world.offer(1500));
    world.run(ms(10_000));
    assert_eq!(world.order(ms(0)), "DH");
    world.offer(700);
    world.run(ms(15_000));
    assert_eq!(world.order(ms(0)), "DHD", "a part of a VMSS triggers nothing");
    world.offer(800);
    world.run(ms(20_000));
    assert_eq!(world.order(ms(0)), "DHDDH", "the rest of it does");
}

/// §4.5.1: at the start VMSS bytes of credit; data before its header packet.
#[test]
fn starts_with_one_vmss() {
    let mut world = greedy(&one_control(), 500);
    world.run(ms(39));
    assert_eq!(world.order(ms(0)), "DDDH");
    // Slow start: each ACK of one header packet lets two go.
    world.run(ms(59));
    assert_eq!(world.order(ms(40)), "DDDHDDDH");
}

/// Property 2 and §4.5.1: a lost header packet is sent again, with new data before it.
#[test]
fn a_retransmission_takes_new_data_along() {
    let mut world = greedy(&one_control(), 1500);
    world.loses = Box::new(|n, _| n == 20);
    world.run(ms(2_000));
    let resent: Vec<_> = world.header_packets().filter(|(_, _, reason)| *reason != Reason::New).collect();
    assert_eq!(resent.len(), 1, "{resent:?}");
    let at = world
        .left
        .iter()
        .position(|(_, left)| matches!(left, Left::Header { reason: Reason::FastRetransmit, .. }))
        .unwrap();
    assert!(matches!(world.left[at - 1].1, Left::Data(_)));
    assert_eq!(world.data().count(), world.header_packets().count());
}

/// A timeout: one VMSS of credit again.
#[test]
fn restarts_with_one_vmss_after_a_timeout() {
    let mut world = greedy(&one_control(), 1500);
    world.loses = Box::new(|n, _| (20..400).contains(&n));
    world.run(ms(200));
    let stopped = world.now;
    while !world.header_packets().any(|(_, _, reason)| reason == Reason::Timeout) {
        let next = world.now + Dur::from_millis(1);
        world.run(next);
    }
    assert!(world.now > stopped);
    assert_eq!(world.order(world.now - Dur::from_millis(1)), "DH");
}

/// §4.5.1: a packet longer than VMSS waits for enough credit, which header packets gain it.
#[test]
fn a_packet_longer_than_vmss_waits_for_credit() {
    let mut world = greedy(&Config { vmss: Bytes(500), ..one_control() }, 1500);
    world.run(ms(2_000));
    // One VMSS of credit is saved, then cwnd gives two at once: a packet, and two header packets for its other two VMSS.
    let order = world.order(ms(0));
    assert!(order.starts_with("HDHHDHH"), "{}", &order[..20]);
    let (data, headers) = (world.data().count(), world.header_packets().count());
    assert!(headers.abs_diff(3 * data) <= 3, "{data} data packets, {headers} header packets");
}

/// Several packets in one VMSS, however long; §4.8.3: VMSS may be larger than the MTU.
#[test]
fn a_large_vmss_takes_several_packets() {
    let mut world = greedy(&Config { vmss: Bytes(3000), ..one_control() }, 1500);
    world.run(ms(59));
    assert_eq!(world.order(ms(0)), "DDHDDHDDH");
}

/// §4.5.1: M control TCPs take from one queue, in order, and each a share.
#[test]
fn control_tcps_share_the_tunnel_queue() {
    let mut world = greedy(&Config { controls: 3, ..one_control() }, 1500);
    world.run(ms(2_000));
    let mut headers = [0; 3];
    world.header_packets().for_each(|(control, ..)| headers[usize::from(control)] += 1);
    let most = *headers.iter().max().unwrap();
    assert!(headers.iter().all(|&count| count * 10 >= most * 9), "{headers:?}");
    assert!(world.data().eq(world.offered.iter().copied().take(world.data().count())));
}

/// What waits would leave within `tunnel_delay`, but for the least that may wait.
#[test]
fn the_tunnel_queue_is_bounded_by_time() {
    let waiting = |tunnel_delay, ssthresh| {
        let tcp = TcpConfig { initial_ssthresh: Some(ssthresh), ..reno() };
        let mut world = World::new(&Config { tunnel_delay, ..one_control() }, &tcp);
        world.backlog = Some(Box::new(|| 1500));
        world.run(ms(1_000));
        (world.offered.len() - world.data().count(), world.sender.control_window())
    };
    let (waits, window) = waiting(Dur::from_millis(5), 60);
    // The round trip takes 20 ms.
    assert!(window > 80 && waits.abs_diff(window as usize / 4) <= 1, "{waits} of {window}");
    assert_eq!(waiting(Dur::from_millis(1), 8).0, 4);
    assert_eq!(waiting(Dur::ZERO, 8).0, 1000);
}

/// §4.8.3: the overhead is HP_Sz/VMSS forward and half of it back.
#[test]
fn overhead_is_what_the_paper_says() {
    let mut world = greedy(&one_control(), 1500);
    world.run(ms(4_000));
    let data: u64 = world.data().map(|item| u64::from(item.bytes)).sum();
    let sizes = world.left.iter().filter_map(|(_, left)| match left {
        Left::Header { bytes, .. } => Some(*bytes),
        _ => None,
    });
    let headers: Vec<u32> = sizes.collect();
    assert!(headers.iter().all(|&bytes| bytes == 52), "40 bytes and the timestamps");
    let forward = headers.iter().sum::<u32>() as f64 / data as f64;
    let back = world.replies.iter().sum::<u32>() as f64 / data as f64;
    assert!((forward - 52.0 / 1500.0).abs() < 0.0001, "{forward}");
    assert!((back - forward / 2.0).abs() < 0.004, "{back}");
}

/// §4.5.1: with M control TCPs one halving of one of them moves the whole window by 1/(2M).
#[test]
fn one_halving_moves_the_stream_by_one_in_two_m() {
    for controls in [1, 2, 4, 8] {
        let tcp = TcpConfig { initial_ssthresh: Some(100), ..reno() };
        let mut world = World::new(&Config { controls, ..one_control() }, &tcp);
        world.backlog = Some(Box::new(|| 1500));
        world.run(ms(1_000));
        let before = f64::from(world.sender.control_window());
        let mut is_lost = false;
        world.loses = Box::new(move |_, left| {
            matches!(left, Left::Header { control: 0, .. }) && !std::mem::replace(&mut is_lost, true)
        });
        world.run(ms(1_045));
        let after = f64::from(world.sender.control_window());
        let expected = 1.0 - 0.5 / f64::from(controls);
        // Growth in two round trips is worth a few segments of more than a hundred.
        assert!((after / before - expected).abs() < 0.03, "{controls}: {before} to {after}");
    }
}

#[derive(Clone, Debug)]
struct Life {
    config: Config,
    sizes: Vec<u32>,
    lost: Vec<bool>,
}

fn life() -> impl Strategy<Value = Life> {
    let config = (200u64..5000, 1u16..4).prop_map(|(vmss, controls)| Config {
        vmss: Bytes(vmss),
        controls,
        // However small packets are, several VMSS of them wait.
        tunnel_delay: Dur::ZERO,
        ..Config::default()
    });
    let lost = prop::collection::vec(prop::bool::weighted(0.1), 1..60);
    (config, prop::collection::vec(40u32..1500, 1..40), lost).prop_map(|(config, sizes, lost)| Life {
        config,
        sizes,
        lost,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the packets' sizes, VMSS and losses: data leaves unchanged, once and in order (properties 2, 3, 5, 6), and
    /// as much of it as header packets stand for, but for what is carried over (property 7).
    #[test]
    fn credit_is_conserved(life in life()) {
        let Life { config, sizes, lost } = life;
        let mut world = World::new(&config, &reno());
        let (mut n, most) = (0, u64::from(*sizes.iter().max().unwrap()));
        world.backlog = Some(Box::new(move || { n += 1; sizes[n % sizes.len()] }));
        world.loses = Box::new(move |n, _| lost[n % lost.len()] && n % (2 * lost.len()) < lost.len());
        world.run(ms(3_000));

        prop_assert!(world.data().eq(world.offered.iter().copied().take(world.data().count())));
        let forwarded: u64 = world.data().map(|item| u64::from(item.bytes)).sum();
        let granted = config.vmss.0 * world.header_packets().count() as u64;
        let controls = u64::from(config.controls);
        prop_assert!(forwarded <= granted + controls * config.vmss.0, "{forwarded} {granted}");
        prop_assert!(granted <= forwarded + controls * (most + config.vmss.0), "{forwarded} {granted}");
    }

    /// Property 4: when the driver has drained the circuit, either nothing waits or no control TCP has a VMSS to give.
    #[test]
    fn nothing_waits_for_anything_but_congestion_control(life in life()) {
        let Life { config, sizes, lost } = life;
        let mut world = World::new(&config, &reno());
        world.loses = Box::new(move |n, _| lost[n % lost.len()] && n % (2 * lost.len()) < lost.len());
        for (n, size) in sizes.iter().cycle().take(400).enumerate() {
            world.offer(*size);
            if n % 7 == 0 {
                let next = world.now + Dur::from_millis(1 + n as u64 % 13);
                world.run(next);
            }
            let waits = world.offered.len() > world.data().count();
            let allows = world.sender.controls().any(|control| control.allowance(world.now) >= config.vmss.0);
            prop_assert!(!(waits && allows), "{} waiting", world.offered.len() - world.data().count());
        }
    }
}

/// Property 9: what a circuit needs to be told is its VMSS and its number of control TCPs, if that.
#[test]
fn two_keys_suffice() {
    let read = |text: &str| serde_json::from_str::<Config>(text);
    assert_eq!(read("{}").unwrap(), Config::default());
    let config = read(r#"{"vmss": "3000B", "controls": 2}"#).unwrap();
    assert_eq!(config, Config { vmss: Bytes(3000), controls: 2, ..Config::default() });
    assert_eq!(config.check(), Ok(()));
    assert!(read(r#"{"vms": "3000B"}"#).is_err());
    assert!(Config { vmss: Bytes(65_500), ..config }.check().unwrap_err().contains("64 to 65000"));
    assert!(Config { f2: false, ..Config::default() }.check().unwrap_err().contains("error_control = paper"));
}
