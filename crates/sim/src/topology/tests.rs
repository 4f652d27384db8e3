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
fn what_leads_on_comes_out_at_the_end_of_the_row() {
    let mut topology = chain([1, 2, 3].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
    topology.lead_on(|node| node != 2);
    topology.set_horizon(Time(1_600_000));
    // 0.5 ms on each link and its delay; the second packet is at node 1 after the horizon.
    send(&mut topology, Time::ZERO, Side(0), 0);
    assert_eq!((topology.next(), topology.passes()), ((Time(4_000_000), Side(2)), 1));
    send(&mut topology, Time::ZERO, Side(0), 1);
    assert_eq!((topology.next(), topology.passes()), ((Time(2_000_000), Side(0)), 1));
}

#[test]
fn what_is_foreseen_leaves_the_links_when_it_is_sent() {
    let mut topology = chain([1, 2].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
    topology.lead_on(|_| true);
    assert!(topology.foresee_round_trips(Direction::Forward));
    topology.set_horizon(Time(5_000_000));
    // 0.5 ms on each link and its delay; the third packet comes out after the horizon.
    let sent = [0, 1, 2].map(|id| send(&mut topology, Time::ZERO, Side(0), id));
    assert_eq!(sent, [Some(Time(4_000_000)), Some(Time(4_500_000)), Some(Time(5_000_000))]);
    assert_eq!(send(&mut topology, Time(1_000_000), Side(0), 3), None);
    assert_eq!(send(&mut topology, Time(4_000_000), Side(3), 4), None);
    assert_eq!(topology.next().0, Time(5_500_000));
    topology.set_horizon(Time(6_000_000));
    assert_eq!(topology.release(Side(2)), Some((Time(5_500_000), 3)));
    assert_eq!(topology.next(), (Time(6_500_000), Side(3)));
    assert_eq!(topology.release(Side(3)), None);
}

#[test]
fn nothing_is_foreseen_where_a_queue_decides_later() {
    let mut topology = chain([(link(10), link(1)), (link(3), link(30))]);
    assert!(!topology.foresee_round_trips(Direction::Forward));
}

#[test]
fn what_comes_to_a_station_is_foreseen_if_all_beyond_it_is() {
    let links = |is_event: usize| {
        [0, 1, 2, 3].map(|at| if at == is_event { (link(1), plain(1)) } else { (plain(1), plain(1)) })
    };
    let is_foreseen = |is_event, node, direction| {
        let mut topology = chain(links(is_event));
        topology.put_station(node);
        topology.lead_on(|_| true);
        topology.foresee_round_trips(direction) && topology.foresee_station(node, direction)
    };
    let (forward, reverse) = (Direction::Forward, Direction::Reverse);
    assert_eq!([0, 1, 2].map(|event| is_foreseen(event, 2, forward)), [true, false, false]);
    assert_eq!([1, 2].map(|event| is_foreseen(event, 2, reverse)), [false, true]);
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
