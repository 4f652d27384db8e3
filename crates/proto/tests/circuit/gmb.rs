//! The GMB sender (§4.5.2).

use crate::circuit::world::{Left, World, ms, papers, reno};
use airtcp_proto::circuit::Config;
use airtcp_wire::{Dur, Rate, Time};
use proptest::prelude::*;

fn circuit(rate: Rate) -> World {
    World::new(&Config { gmb: Some(rate), ..papers() }, &reno())
}

/// Data packets that left from `from` up to and with `until`, in bytes.
fn bytes_between(world: &World, from: Time, until: Time) -> u64 {
    let sent = world.left.iter().filter(|(at, _)| from < *at && *at <= until);
    sent.map(|(_, left)| if let Left::Data(item) = left { u64::from(item.bytes) } else { 0 }).sum()
}

/// 125 bytes a millisecond: a packet of 1500 bytes every twelfth tick, and none before the first.
#[test]
fn sends_on_its_timer_without_header_packets() {
    let mut world = circuit(Rate(1_000_000));
    world.is_cut = true;
    world.backlog = Some(Box::new(|| 1500));
    world.run(ms(40));
    let times: Vec<u64> = world
        .left
        .iter()
        .filter(|(_, left)| matches!(left, Left::Data(_)))
        .map(|(at, _)| at.since(Time::ZERO).as_millis())
        .collect();
    assert_eq!(times, [1, 13, 25, 37]);
    assert_eq!(world.header_packets().count(), 0);
}

#[test]
fn what_nobody_used_is_not_saved_up() {
    let mut world = circuit(Rate(1_000_000));
    world.is_cut = true;
    world.run(ms(500));
    (0..5).for_each(|_| assert!(world.offer(1500)));
    world.run(ms(512));
    assert_eq!(world.data().count(), 1);
    assert_eq!(world.sender.poll_timeout(), ms(513), "the timer runs while something waits");
}

/// What the GMB leaves is sent under congestion control, with header packets for that alone.
#[test]
fn control_tcps_send_the_rest() {
    let mut world = circuit(Rate(2_000_000));
    world.backlog = Some(Box::new(|| 1000));
    world.loses = Box::new(|n, _| n % 60 == 59);
    world.run(ms(4_000));
    let total = bytes_between(&world, ms(0), ms(4_000));
    let guaranteed = Rate(2_000_000).bytes_in(Dur::from_secs(4));
    let controlled = 1500 * world.header_packets().count() as u64;
    assert!(total.abs_diff(guaranteed + controlled) <= 4_000, "{total} {guaranteed} {controlled}");
    assert!(world.data().eq(world.offered.iter().copied().take(world.data().count())), "in order");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// "For any time interval of Y ms, if there is a sufficient number of bytes to be sent, the total number of bytes
    /// actually sent will approach the target of X·Y": within the largest packet and one tick's worth.
    #[test]
    fn any_interval_gets_its_bytes(
        kbit_s in 50u64..20_000,
        sizes in prop::collection::vec(40u32..=1500, 1..20),
        start in 0u64..200,
        length in 1u64..500,
    ) {
        let rate = Rate(kbit_s * 1000);
        let mut world = circuit(rate);
        world.is_cut = true;
        let mut n = 0;
        world.backlog = Some(Box::new(move || { n += 1; sizes[n % sizes.len()] }));
        world.run(ms(start + length));
        let sent = bytes_between(&world, ms(start), ms(start + length));
        let target = rate.bytes_in(Dur::from_millis(length));
        let tick = rate.bytes_in(Dur::from_millis(1)) + 1;
        prop_assert!(sent.abs_diff(target) <= 1500 + tick, "{sent} of {target}");
    }
}
