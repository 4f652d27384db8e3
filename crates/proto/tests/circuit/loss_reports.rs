//! What is missing of the data is reported to the control TCPs.

use crate::circuit::world::{Link, World, ms};
use airtcp_proto::circuit::{Config, Fec};
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_wire::{Dur, Rate};

/// A circuit of Reno for 20 s on 4 Mbit/s with a queue of 60 ms that counts bytes.
fn world(loss_reports: bool, loses_data_every: Option<usize>) -> World {
    let mut world = World::new(&Config { loss_reports, ..Config::default() }, &profile::rfc());
    world.backlog = Some(Box::new(|| 1500));
    world.loses_data_every = loses_data_every;
    world.link = Some(Link { counts_bytes: true, ..Link::new(Rate(4_000_000), Dur::from_millis(60)) });
    world.run(ms(20_000));
    world
}

fn utilisation(world: &World) -> f64 {
    world.link.as_ref().unwrap().crossed as f64 / 10e6
}

/// Data packets that found no room, of those that left.
fn refused(world: &World) -> f64 {
    world.refused as f64 / world.data().count() as f64
}

#[test]
fn control_tcps_answer_to_data_that_finds_no_room() {
    let (with, without) = (world(true, None), world(false, None));
    assert!(refused(&without) > 5.0 * refused(&with), "{} {}", refused(&with), refused(&without));
    assert!(utilisation(&with) > 0.95, "{}", utilisation(&with));
}

/// FEC: one header packet in seven is lost, and the next one repeats it. Congestion is found all the same.
#[test]
fn header_packets_that_are_repeated_are_not_missed() {
    let world = |fec| {
        let mut world = World::new(&Config { fec: Fec::Repeat(fec), ..Config::default() }, &profile::rfc());
        world.backlog = Some(Box::new(|| 1500));
        world.loses = Box::new(|n, _| n % 7 == 6);
        world.link = Some(Link { counts_bytes: true, ..Link::new(Rate(4_000_000), Dur::from_millis(60)) });
        world.run(ms(20_000));
        world
    };
    let (with, without) = (world(1), world(0));
    assert!(utilisation(&without) < 0.5 && utilisation(&with) > 0.95, "{}", utilisation(&with));
    assert!(with.receiver.restored() > 500 && without.receiver.restored() == 0);
    let timeouts = with.sender.controls().map(|control| control.stats().timeouts).sum::<u64>();
    assert_eq!(timeouts, 0);
    assert!(refused(&with) < 0.02, "{}", refused(&with));
}

#[test]
fn corruption_is_not_taken_for_congestion() {
    for every in [7, 50] {
        let (with, without) = (world(true, Some(every)), world(true, None));
        assert!(refused(&with) < 0.05, "{}", refused(&with));
        assert!(utilisation(&with) > 0.97 * utilisation(&without), "{every}: {}", utilisation(&with));
    }
}

/// The last ACK of a batch reports that the last packet is missing, when nothing is in flight any more: what comes later leaves all the
/// same.
#[test]
fn a_report_with_nothing_in_flight_stops_nothing() {
    let tcp = TcpConfig { initial_window: 20, ..profile::linux() };
    let mut world = World::new(&Config::default(), &tcp);
    world.link = Some(Link { counts_bytes: true, ..Link::new(Rate(4_000_000), Dur::from_millis(60)) });
    world.offer(1500);
    world.run(ms(500));
    world.loses_data_every = Some(12);
    for batch in 1..10 {
        world.run(ms(batch * 1_000));
        (0..12).for_each(|_| assert!(world.offer(1500), "batch {batch}"));
    }
    world.run(ms(10_000));
    assert_eq!(world.data().count(), world.offered.len());
    assert!(
        world.sender.controls().all(|control| control.stats().cwnd_reductions > 0),
        "nothing was taken for congestion"
    );
}
