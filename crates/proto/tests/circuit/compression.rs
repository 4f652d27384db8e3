//! Compressed header packets and the repair *twice* (§10).

use crate::circuit::world::{Left, World, ms, papers, reno};
use airtcp_proto::circuit::{Compression, Config};
use airtcp_proto::tcp::Reason;

fn compressed(compression: Compression, controls: u16) -> World {
    let mut world = World::new(&Config { compression, controls, ..papers() }, &reno());
    world.backlog = Some(Box::new(|| 1500));
    world
}

/// Lengths of the header packets that left.
fn lengths(world: &World) -> Vec<u32> {
    world
        .left
        .iter()
        .filter_map(|(_, left)| match left {
            Left::Header { bytes, .. } => Some(*bytes),
            _ => None,
        })
        .collect()
}

fn timeouts(world: &World) -> u64 {
    world.sender.controls().map(|control| control.stats().timeouts).sum()
}

/// Three bytes and twelve of timestamps; the first one sets the context.
#[test]
fn header_packets_take_15_bytes() {
    let mut world = compressed(Compression::Twice, 1);
    world.run(ms(1_000));
    let lengths = lengths(&world);
    assert_eq!(lengths[0], 52);
    assert!(lengths.len() > 500 && lengths[1..].iter().all(|&bytes| bytes == 15));
    assert_eq!(world.receiver.undecodable(), 0);
    let several = compressed_lengths_of_two();
    assert!(several[2..].iter().all(|&bytes| bytes == 16), "with the connection's number");
}

/// How much data has been sent takes two more, and no guess depends on it.
#[test]
fn loss_reports_take_two_bytes() {
    let config = Config { compression: Compression::Twice, loss_reports: true, ..papers() };
    let mut world = World::new(&config, &reno());
    let mut sizes = [1500, 700, 200].into_iter().cycle();
    world.backlog = Some(Box::new(move || sizes.next().unwrap()));
    world.loses = Box::new(|n, _| (100..102).contains(&n));
    world.run(ms(1_000));
    assert_eq!((world.receiver.undecodable(), timeouts(&world)), (0, 0));
    let lengths = lengths(&world);
    assert!(lengths.len() > 500 && lengths[1..100].iter().all(|&bytes| bytes == 17), "{lengths:?}");
}

fn compressed_lengths_of_two() -> Vec<u32> {
    let mut world = compressed(Compression::Twice, 2);
    world.run(ms(1_000));
    lengths(&world)
}

/// One or two lost header packets in a row are guessed: the loss is repaired as if nothing were compressed.
#[test]
fn twice_guesses_up_to_two_lost_header_packets() {
    for lost in [1, 2] {
        let mut world = compressed(Compression::Twice, 1);
        world.loses = Box::new(move |n, _| (100..100 + lost).contains(&n));
        world.run(ms(1_000));
        assert_eq!((world.receiver.undecodable(), timeouts(&world)), (0, 0), "{lost} lost");
    }
}

/// A third leaves the far end without a context, until TCP's timer has a header packet sent again, uncompressed.
#[test]
fn three_lost_in_a_row_cost_a_timeout() {
    let mut world = compressed(Compression::Twice, 1);
    world.loses = Box::new(|n, _| (100..103).contains(&n));
    world.run(ms(5_000));
    assert!(world.receiver.undecodable() > 0);
    assert_eq!(timeouts(&world), 1);
    assert!(world.header_packets().any(|(_, _, reason)| reason == Reason::Timeout));
    let after = world.receiver.undecodable();
    world.run(ms(6_000));
    assert_eq!(world.receiver.undecodable(), after, "all is well again");
}

/// RFC 1144 §4.2: without the repair, a single one does.
#[test]
fn without_twice_one_loss_costs_a_timeout() {
    let mut world = compressed(Compression::Rfc1144, 1);
    world.loses = Box::new(|n, _| n == 100);
    world.run(ms(5_000));
    assert!(world.receiver.undecodable() > 0 && timeouts(&world) == 1);
}

/// Retransmissions, and what follows them, leave uncompressed.
#[test]
fn retransmissions_renew_the_context() {
    let mut world = compressed(Compression::Twice, 1);
    world.loses = Box::new(|n, _| n == 100);
    world.run(ms(1_000));
    let headers = |wanted: fn(Reason) -> bool| {
        let headers = world.left.iter().filter_map(|(_, left)| match left {
            Left::Header { reason, bytes, .. } => Some((*reason, *bytes)),
            _ => None,
        });
        headers.filter(move |(reason, _)| wanted(*reason)).map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    assert_eq!(headers(|reason| reason != Reason::New), [52]);
    assert_eq!(headers(|reason| reason == Reason::New).iter().filter(|&&bytes| bytes == 52).count(), 2);
}
