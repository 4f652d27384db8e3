//! Data packets that are repaired: which repairs leave, when, and what they cost.

use crate::circuit::world::{Left, Link, World, ms, reno};
use airtcp_proto::circuit::{Config, Fec};
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_wire::{Dur, Rate, Time};

fn world(tcp: &TcpConfig) -> World {
    let mut world = World::new(&Config { fec: Fec::Auto, ..Config::default() }, tcp);
    world.loses_data_every = Some(7);
    world
}

fn repairs(world: &World) -> impl Iterator<Item = (Time, u32)> {
    world.left.iter().filter_map(|(at, left)| match left {
        Left::Repair { bytes } => Some((*at, *bytes)),
        _ => None,
    })
}

#[test]
fn the_end_of_a_burst_is_repaired_at_once() {
    let mut world = world(&TcpConfig { initial_window: 40, ..profile::linux() });
    world.run(ms(500));
    (0..8).for_each(|_| assert!(world.offer(1000)));
    world.run(ms(600));
    let repairs: Vec<_> = repairs(&world).collect();
    assert_eq!(repairs, [(ms(500), 1046 + 8 * 4)], "one in a hundred is lost, as far as is known");
    assert!(matches!(world.left[world.left.len() - 2].1, Left::Repair { .. }), "data goes first");
}

/// A window of two segments holds what one packet more than fills. The repair waits for an ACK.
#[test]
fn repairs_take_credit() {
    let tcp = TcpConfig { initial_window: 2, ..reno() };
    let mut world = world(&tcp);
    world.run(ms(500));
    (0..3).for_each(|_| assert!(world.offer(1400)));
    world.run(ms(519));
    assert_eq!((world.data().count(), repairs(&world).count()), (3, 0));
    world.run(ms(600));
    assert_eq!((world.data().count(), repairs(&world).count()), (3, 1));
}

/// Data that comes while repairs wait leaves before them, and they are planned anew.
#[test]
fn bulk_has_no_repairs() {
    let mut world = world(&profile::rfc());
    world.backlog = Some(Box::new(|| 1400));
    world.link = Some(Link { counts_bytes: true, ..Link::new(Rate(4_000_000), Dur::from_millis(60)) });
    world.run(ms(20_000));
    let repairs = repairs(&world).count();
    assert!(repairs * 200 < world.data().count(), "{repairs} of {}", world.data().count());
}
