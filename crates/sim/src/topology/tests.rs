#[cfg(feature = "shortcuts")]
mod foreseen;

use super::passage::side_into;
use super::*;
use crate::scenario::model;
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::FixedRate;
use airtcp_proto::queue::{DropTail, Limit};
use airtcp_wire::{Dur, Rate};
use proptest::prelude::*;

/// A chain whose ends send to each other.
fn chain(links: impl IntoIterator<Item = (Link, Link)>) -> Topology {
    let links: Vec<_> = links.into_iter().enumerate().map(|(at, both)| ([at, at + 1], both)).collect();
    let mut routes = Routes::default();
    let named: Vec<_> = links.iter().map(|(ends, _)| named(*ends)).collect();
    let whole = model::Route::of_chain(model::Direction::Forward, 0, links.len() - 1);
    routes.ways(&whole, &named).unwrap();
    Topology::new(links, routes)
}

fn named(ends: [usize; 2]) -> model::Link {
    let side = model::Side::plain(Rate(1), Dur::ZERO, 1);
    model::Link { ends, ..model::Link::symmetric("l", side) }
}

#[test]
fn sides_lead_where_they_should() {
    let topology = chain([1; 4].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
    let there = side_into(4, Direction::Forward);
    assert_eq!((topology.near_node(there), topology.far_node(there), there.link()), (3, 4, 3));
    assert_eq!(there.direction(), Direction::Forward);
    let back = side_into(3, Direction::Reverse);
    assert_eq!((topology.near_node(back), topology.far_node(back), back.link()), (4, 3, 3));
    assert_eq!((back.direction(), back.opposite()), (Direction::Reverse, there));
}

fn link(delay_ms: u64) -> Link {
    let queue = Box::new(DropTail::new(Limit::packets(3)));
    Link::new(queue, Box::new(FixedRate::new(Rate(8_000_000))), Dur::from_millis(delay_ms))
}

fn plain(delay_ms: u64) -> Link {
    let transmitter = Box::new(FixedRate::new(Rate(8_000_000)));
    Link::drop_tail(Limit::packets(3), transmitter, Dur::from_millis(delay_ms))
}

fn send(topology: &mut Topology, now: Time, side: Side, id: u32) -> Option<Time> {
    topology.send(now, side, Item { id, bytes: 500, ..Item::default() })
}

#[test]
fn nothing_is_foreseen_where_a_queue_decides_later() {
    let mut topology = chain([(link(10), link(1)), (link(3), link(30))]);
    assert!(!topology.foresee_round_trips(Direction::Forward));
}

proptest! {
    /// The side named is always the one with the earliest wake-up, whatever is sent and polled.
    #[test]
    fn the_next_side_is_the_earliest(steps in prop::collection::vec((0u16..4, any::<bool>()), 1..100)) {
        let mut topology = chain([(link(10), link(1)), (link(3), link(30))]);
        let mut now = Time::ZERO;
        for (side, sends) in steps {
            if sends {
                send(&mut topology, now, Side(side), 0);
            } else if topology.next().0 != Time::NEVER {
                now = topology.next().0;
                while topology.poll(now, topology.next().1).is_some() && topology.next().0 <= now {}
            }
            let earliest = topology.hops.iter().map(|hop| hop.link.poll_timeout()).min().unwrap();
            prop_assert_eq!(topology.next().0, earliest);
        }
    }
}
