//! The network: links, with a node at either end of each. Those of a chain are in a row, and node 0 is in front of the
//! first link.

pub use crate::routes::Side;
use crate::routes::{RouteId, Routes};
use crate::turns::Turns;
use airtcp_proto::marks::{self, Mark};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Link, Output};
use airtcp_proto::queue::Item;
use airtcp_wire::Time;
use std::collections::BTreeSet;

/// One direction of one link.
struct Hop {
    link: Link,
    onward: Onward,
    /// Which side follows, where that is the next link.
    next: Side,
    /// The nodes at which it begins and ends.
    ends: [u16; 2],
    /// The node at which it ends, or [`NOWHERE`] if a station stands there.
    plain_end: u16,
}

/// What becomes of the packets that come out of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Onward {
    /// The link keeps each packet until it comes out, which is an event.
    Event,
    /// The packet enters the next link at once. Nothing happens to it at the node between them.
    NextLink,
    /// The packet has reached an end of the path or a station. Its sender keeps it until then.
    Foreseen,
}

const NOWHERE: u16 = u16::MAX;

pub struct Topology {
    hops: Vec<Hop>,
    routes: Routes,
    /// Are the links in a row?
    is_chain: bool,
    turns: Turns,
    /// Which nodes have a station.
    has_station: Vec<bool>,
    /// How many times a packet has entered the next link without an event.
    passes: u64,
}

impl Topology {
    /// Takes the links, each with the nodes at which it begins and ends, and as its forward and its reverse direction.
    pub fn new(links: impl IntoIterator<Item = ([usize; 2], (Link, Link))>, routes: Routes) -> Topology {
        let both = links
            .into_iter()
            .flat_map(|([from, to], (forward, reverse))| [([from, to], forward), ([to, from], reverse)]);
        let hop = |(ends, link): ([usize; 2], Link)| {
            let ends = ends.map(|node| node as u16);
            Hop { link, onward: Onward::Event, next: Side(0), ends, plain_end: ends[1] }
        };
        let hops: Vec<Hop> = both.map(hop).collect();
        let turns = Turns::new(hops.iter().map(|hop| hop.link.poll_timeout()));
        let last = hops.iter().flat_map(|hop| hop.ends).max().unwrap_or_default();
        let is_chain = hops.iter().step_by(2).zip(0..).all(|(hop, node)| hop.ends == [node, node + 1]);
        Topology { turns, has_station: vec![false; usize::from(last) + 1], is_chain, routes, passes: 0, hops }
    }

    /// Puts a station at `node`.
    pub fn put_station(&mut self, node: u16) {
        self.has_station[usize::from(node)] = true;
        for hop in self.hops.iter_mut().filter(|hop| hop.plain_end == node) {
            hop.plain_end = NOWHERE;
        }
    }

    #[inline]
    pub fn has_station(&self, node: u16) -> bool {
        self.has_station[usize::from(node)]
    }

    /// The node at which a side begins.
    #[inline]
    pub fn near_node(&self, side: Side) -> u16 {
        self.hops[usize::from(side.0)].ends[0]
    }

    /// The node at which a side ends.
    #[inline]
    pub fn far_node(&self, side: Side) -> u16 {
        self.hops[usize::from(side.0)].ends[1]
    }

    /// The side on which a route leaves this node.
    #[inline]
    pub fn way_out(&self, route: RouteId, node: u16) -> Side {
        self.routes.side(route, node)
    }

    pub fn sides(&self) -> impl Iterator<Item = Side> + use<> {
        (0..self.hops.len() as u16).map(Side)
    }

    #[inline]
    pub fn side_mut(&mut self, side: Side) -> &mut Link {
        &mut self.hops[usize::from(side.0)].link
    }

    /// The sides of a route that compress header packets.
    pub fn compressing_sides(&self, route: RouteId) -> Vec<Side> {
        let compresses = |side: &Side| self.hops[usize::from(side.0)].link.compresses();
        self.routes.sides(route).iter().copied().filter(compresses).collect()
    }

    /// Returns when a side wants to be polled next, and which.
    #[inline]
    pub fn next(&self) -> (Time, Side) {
        self.turns.next()
    }

    /// Lets packets pass without an event at each node for which `is_passage` holds: no packet enters or leaves the
    /// network there, and nothing handles it. All that comes from one side must take the same next one, to which nothing
    /// comes from elsewhere. The links' statistics may not be read before the [horizon](Topology::set_horizon).
    pub fn lead_on(&mut self, is_passage: impl Fn(u16) -> bool) {
        let pairs: BTreeSet<(Side, Side)> =
            self.routes.iter().flat_map(|sides| sides.windows(2).map(|pair| (pair[0], pair[1]))).collect();
        let (mut after, mut before) = (vec![0; self.hops.len()], vec![0; self.hops.len()]);
        for (side, next) in &pairs {
            after[usize::from(side.0)] += 1;
            before[usize::from(next.0)] += 1;
        }
        for (side, next) in pairs {
            let node = self.far_node(side);
            let is_alone = after[usize::from(side.0)] == 1 && before[usize::from(next.0)] == 1;
            if is_alone
                && is_passage(node)
                && !self.has_station(node)
                && self.can_pass(side)
                && self.can_pass(next)
            {
                let hop = &mut self.hops[usize::from(side.0)];
                (hop.onward, hop.next) = (Onward::NextLink, next);
            }
        }
    }

    /// Foresees what goes to the end of a chain in `direction` and what comes back to the other end: from now on such
    /// a packet leaves the links when it is sent, together with its time of arrival, unless that is after the horizon.
    /// Returns whether the links allow it.
    pub fn foresee_round_trips(&mut self, direction: Direction) -> bool {
        let (there, back) = (self.last(direction), self.last(direction.opposite()));
        let can_be = self.is_chain
            && [there, there.opposite(), back].into_iter().all(|side| self.can_pass(side))
            && [there, back].into_iter().all(|side| !self.has_station(self.far_node(side)));
        if can_be {
            self.foresee([there, back]);
        }
        can_be
    }

    /// Foresees what comes to the stations at `node` of a chain from either side. Returns whether that is possible: nothing
    /// between them and the end of the path in `direction` may be an event.
    pub fn foresee_station(&mut self, node: u16, direction: Direction) -> bool {
        let [there, back] = [direction, direction.opposite()].map(|direction| side_into(node, direction));
        let is_beyond = |side: Side| match direction {
            Direction::Forward => side.link() >= usize::from(node),
            Direction::Reverse => side.link() < usize::from(node),
        };
        let mut beyond = self.sides().filter(|&side| is_beyond(side) && side != back);
        let can_be = beyond.all(|side| self.hops[usize::from(side.0)].onward != Onward::Event)
            && [there, back].into_iter().all(|side| self.can_pass(side));
        if can_be {
            self.foresee([there, back]);
        }
        can_be
    }

    fn foresee(&mut self, sides: [Side; 2]) {
        sides.into_iter().for_each(|side| self.hops[usize::from(side.0)].onward = Onward::Foreseen);
    }

    /// The node at the end of a chain in this direction.
    pub fn end(&self, direction: Direction) -> u16 {
        self.far_node(self.last(direction))
    }

    /// The last side of a chain in this direction.
    fn last(&self, direction: Direction) -> Side {
        match direction {
            Direction::Forward => Side(self.hops.len() as u16 - 2),
            Direction::Reverse => Side(1),
        }
    }

    fn can_pass(&self, side: Side) -> bool {
        self.hops[usize::from(side.0)].link.can_pass()
    }

    /// How many times a packet has entered the next link without an event.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Until then nobody reads the links' statistics.
    pub fn set_horizon(&mut self, horizon: Time) {
        self.hops.iter_mut().for_each(|hop| hop.link.set_horizon(horizon));
    }

    /// Sets when the run ends.
    pub fn set_end(&mut self, end: Time) {
        self.hops.iter_mut().for_each(|hop| hop.link.set_end(end));
    }

    /// Sends a packet into a link. If its arrival is foreseen, the links are done with it: returns the time of arrival,
    /// which is [`Time::NEVER`] after the run's end.
    #[inline(always)]
    pub fn send(&mut self, now: Time, side: Side, item: Item) -> Option<Time> {
        let hop = &mut self.hops[usize::from(side.0)];
        if hop.onward != Onward::Event {
            return self.send_on(now, side, item);
        }
        hop.link.handle_packet(now, item);
        self.settle(side);
        None
    }

    /// As [`send`](Topology::send), fast where this side alone leads to the end. `item` is called where more than the
    /// packet's size matters.
    #[inline(always)]
    pub fn send_to_end(
        &mut self,
        now: Time,
        side: Side,
        bytes: u32,
        mut item: impl FnMut() -> Item,
    ) -> Option<Time> {
        let hop = &mut self.hops[usize::from(side.0)];
        if hop.onward != Onward::Foreseen {
            return self.send_on(now, side, item());
        }
        let at = hop.link.pass(now, bytes, item);
        if at.is_none() {
            self.settle(side);
        }
        at
    }

    /// Sends a packet through all sides that lead on, as far as it gets.
    #[inline(never)]
    fn send_on(&mut self, now: Time, side: Side, item: Item) -> Option<Time> {
        let Topology { hops, passes, .. } = self;
        let (mut now, mut side) = (now, side);
        loop {
            let Hop { link, onward, next, .. } = &mut hops[usize::from(side.0)];
            if *onward == Onward::Event {
                link.handle_packet(now, item);
            } else if let Some(at) = link.pass(now, item.bytes, || item) {
                if *onward == Onward::Foreseen || at.is_never() {
                    return Some(at);
                }
                marks::hit(Mark::LedOn);
                *passes += 1;
                (now, side) = (at, *next);
                continue;
            }
            self.settle(side);
            return None;
        }
    }

    /// The sides of a direction that keep only packets that come out after the horizon, the last side first.
    pub fn foreseen_sides(&self, direction: Direction) -> Vec<Side> {
        let sides = self.sides().filter(|side| side.direction() == direction);
        let mut sides: Vec<Side> =
            sides.filter(|side| self.hops[usize::from(side.0)].onward != Onward::Event).collect();
        if direction == Direction::Forward {
            sides.reverse();
        }
        sides
    }

    /// Takes the first packet that a side has kept because it comes out after the horizon, and the time at which it
    /// does, if the horizon is now later.
    pub fn release(&mut self, side: Side) -> Option<(Time, u32)> {
        let released = self.side_mut(side).release();
        self.settle(side);
        released
    }

    /// Sends on a packet that a side has [released](Topology::release). Returns what [`send`](Topology::send) does.
    pub fn send_released(&mut self, at: Time, side: Side, item: Item) -> Option<Time> {
        let Hop { onward, next, .. } = self.hops[usize::from(side.0)];
        if onward == Onward::Foreseen {
            return Some(at);
        }
        self.passes += 1;
        self.send_on(at, next, item)
    }

    #[inline]
    pub fn poll(&mut self, now: Time, side: Side) -> Option<Output> {
        let output = self.side_mut(side).poll_delivery(now);
        self.settle(side);
        output
    }

    /// As [`Link::poll_intact`], for the side that is next. Also returns the node that the packet has reached, if no
    /// station stands there.
    #[inline]
    pub fn poll_intact(&mut self, now: Time, side: Side) -> Option<(u32, u16)> {
        let hop = &mut self.hops[usize::from(side.0)];
        let id = hop.link.poll_intact(now)?;
        self.turns.set(side, hop.link.poll_timeout());
        Some((id, hop.plain_end))
    }

    /// See [`Link::prefetch`].
    #[inline]
    pub fn prefetch(&self, side: Side, skipped: usize) {
        self.hops[usize::from(side.0)].link.prefetch(skipped);
    }

    /// See [`Link::peek`].
    #[inline]
    pub fn peek(&self, side: Side, skipped: usize) -> Option<u32> {
        self.hops[usize::from(side.0)].link.peek(skipped)
    }

    /// Notes when a side wants to be polled, after a call that may have changed that.
    #[inline(always)]
    fn settle(&mut self, side: Side) {
        self.turns.set(side, self.hops[usize::from(side.0)].link.poll_timeout());
    }
}

/// The side of a chain that enters `node` in `direction`.
fn side_into(node: u16, direction: Direction) -> Side {
    match direction {
        Direction::Forward => Side(2 * node - 2),
        Direction::Reverse => Side(2 * node + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model;
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
}
