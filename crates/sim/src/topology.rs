//! The path: links in a row, with a node at either end of each. Node 0 stands before the first link.

use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Link, Output};
use airtcp_proto::queue::Item;
use airtcp_wire::Time;

/// One direction of one link: twice the link's index, plus one for the way back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Side(pub u16);

impl Side {
    /// The way out of `node` in `direction`.
    #[inline]
    pub fn out_of(node: u16, direction: Direction) -> Side {
        match direction {
            Direction::Forward => Side(2 * node),
            Direction::Reverse => Side(2 * node - 1),
        }
    }

    /// The way in to `node` in `direction`.
    fn into(node: u16, direction: Direction) -> Side {
        match direction {
            Direction::Forward => Side(2 * node - 2),
            Direction::Reverse => Side(2 * node + 1),
        }
    }

    #[inline]
    pub fn direction(self) -> Direction {
        if self.0 & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    #[inline]
    pub fn link(self) -> usize {
        usize::from(self.0 / 2)
    }

    /// The node that it leads away from.
    #[inline]
    pub fn near_node(self) -> u16 {
        self.0 / 2 + (self.0 & 1)
    }

    /// The node that it leads to.
    #[inline]
    pub fn far_node(self) -> u16 {
        self.0 / 2 + u16::from(self.0 & 1 == 0)
    }
}

/// One direction of one link.
struct Hop {
    link: Link,
    /// What comes out goes into the next one at once, whoever's it is, and nobody looks at it between.
    leads_on: bool,
}

pub struct Topology {
    hops: Vec<Hop>,
    /// When each side wants to be polled.
    wakes: Vec<Time>,
    /// The earliest of those; of several, the first.
    next: (Time, Side),
    /// Which nodes have a station.
    pub has_station: Vec<bool>,
    /// Until then nobody asks what the links have done.
    horizon: Time,
    /// How often a packet has gone on so.
    passes: u64,
}

impl Topology {
    /// Links in path order, each with its way there and its way back.
    pub fn new(links: impl IntoIterator<Item = (Link, Link)>) -> Topology {
        let sides = links.into_iter().flat_map(|(forward, reverse)| [forward, reverse]);
        let hops: Vec<Hop> = sides.map(|link| Hop { link, leads_on: false }).collect();
        let mut topology = Topology {
            wakes: hops.iter().map(|hop| hop.link.poll_timeout()).collect(),
            has_station: vec![false; hops.len() / 2 + 1],
            horizon: Time::ZERO,
            passes: 0,
            next: (Time::NEVER, Side(0)),
            hops,
        };
        topology.find_next();
        topology
    }

    pub fn sides(&self) -> impl Iterator<Item = Side> + use<> {
        (0..self.hops.len() as u16).map(Side)
    }

    #[inline]
    pub fn side_mut(&mut self, side: Side) -> &mut Link {
        &mut self.hops[usize::from(side.0)].link
    }

    /// The side that wants to be polled next, and when.
    #[inline]
    pub fn next(&self) -> (Time, Side) {
        self.next
    }

    /// At the nodes for which `is_passage` holds no packet enters or leaves the path, and nothing handles it: there it goes
    /// on when it comes, without an event, as long as nobody asks the links what they have done until `horizon`.
    pub fn lead_on(&mut self, is_passage: impl Fn(u16) -> bool) {
        let last = self.hops.len() as u16 / 2;
        for node in (1..last).filter(|&node| is_passage(node) && !self.has_station[usize::from(node)]) {
            for direction in [Direction::Forward, Direction::Reverse] {
                let (side, next) = (Side::into(node, direction), Side::out_of(node, direction));
                let can_pass = [side, next].map(|side| self.hops[usize::from(side.0)].link.can_pass());
                self.hops[usize::from(side.0)].leads_on = can_pass == [true, true];
            }
        }
    }

    /// Passages of nodes that would have been events.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    pub fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    #[inline(always)]
    pub fn send(&mut self, now: Time, side: Side, item: Item) {
        let hop = &mut self.hops[usize::from(side.0)];
        if hop.leads_on {
            return self.send_on(now, side, item);
        }
        hop.link.handle_packet(now, item);
        let at = hop.link.poll_timeout();
        self.settle(side, at);
    }

    /// The same through all sides that lead on, as far as it gets.
    #[inline(never)]
    fn send_on(&mut self, now: Time, side: Side, item: Item) {
        let (mut now, mut side) = (now, side);
        loop {
            let Hop { link, leads_on } = &mut self.hops[usize::from(side.0)];
            if !*leads_on {
                link.handle_packet(now, item);
            } else if let Some(at) = link.pass(now, item, self.horizon) {
                (now, side) = (at, Side::out_of(side.far_node(), side.direction()));
                self.passes += 1;
                continue;
            }
            let at = link.poll_timeout();
            return self.settle(side, at);
        }
    }

    #[inline]
    pub fn poll(&mut self, now: Time, side: Side) -> Option<Output> {
        let link = self.side_mut(side);
        let (output, at) = (link.poll_delivery(now), link.poll_timeout());
        self.settle(side, at);
        output
    }

    /// See [`Link::poll_intact`].
    #[inline]
    pub fn poll_intact(&mut self, now: Time, side: Side) -> Option<u32> {
        let link = self.side_mut(side);
        let id = link.poll_intact(now)?;
        let at = link.poll_timeout();
        self.wakes[usize::from(side.0)] = at;
        self.find_next();
        Some(id)
    }

    /// See [`Link::peek`].
    #[inline]
    pub fn peek(&self, side: Side, skipped: usize) -> Option<u32> {
        self.hops[usize::from(side.0)].link.peek(skipped)
    }

    /// A side was called, and wants to be polled then.
    #[inline]
    fn settle(&mut self, side: Side, at: Time) {
        let wake = &mut self.wakes[usize::from(side.0)];
        if *wake == at {
            return;
        }
        *wake = at;
        if (at, side) < self.next {
            self.next = (at, side);
        } else if side == self.next.1 {
            self.find_next();
        }
    }

    /// Paths have few links: looking at all of them beats keeping them in order. Most have one.
    #[inline]
    fn find_next(&mut self) {
        match self.wakes[..] {
            [there, back] if back < there => self.next = (back, Side(1)),
            [there, _] => self.next = (there, Side(0)),
            _ => self.find_next_of_many(),
        }
    }

    fn find_next_of_many(&mut self) {
        let mut next = (Time::NEVER, Side(0));
        for (index, &at) in self.wakes.iter().enumerate() {
            if at < next.0 {
                next = (at, Side(index as u16));
            }
        }
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_proto::path::FixedRate;
    use airtcp_proto::queue::{DropTail, Limit};
    use airtcp_wire::{Dur, Rate};
    use proptest::prelude::*;

    #[test]
    fn sides_lead_where_they_should() {
        let there = Side::out_of(3, Direction::Forward);
        assert_eq!((there.near_node(), there.far_node(), there.link()), (3, 4, 3));
        assert_eq!(there.direction(), Direction::Forward);
        assert_eq!(Side::into(4, Direction::Forward), there);
        let back = Side::out_of(4, Direction::Reverse);
        assert_eq!((back.near_node(), back.far_node(), back.link()), (4, 3, 3));
        assert_eq!(back.direction(), Direction::Reverse);
        assert_eq!(Side::into(3, Direction::Reverse), back);
    }

    fn link(delay_ms: u64) -> Link {
        let queue = Box::new(DropTail::new(Limit::packets(3)));
        Link::new(queue, Box::new(FixedRate::new(Rate(8_000_000))), Dur::from_millis(delay_ms))
    }

    #[test]
    fn what_leads_on_comes_out_at_the_end_of_the_row() {
        let plain = |delay_ms| {
            Link::drop_tail(
                Limit::packets(3),
                Box::new(FixedRate::new(Rate(8_000_000))),
                Dur::from_millis(delay_ms),
            )
        };
        let mut topology = Topology::new([1, 2, 3].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
        topology.lead_on(|node| node != 2);
        topology.set_horizon(Time(1_600_000));
        let send = |topology: &mut Topology| {
            topology.send(Time::ZERO, Side(0), Item { bytes: 500, ..Item::default() })
        };
        // 0.5 ms on each link and its delay; the second packet is at node 1 after the horizon.
        send(&mut topology);
        assert_eq!((topology.next(), topology.passes()), ((Time(4_000_000), Side(2)), 1));
        send(&mut topology);
        assert_eq!((topology.next(), topology.passes()), ((Time(2_000_000), Side(0)), 1));
    }

    proptest! {
        /// The side named is always the one with the earliest wake-up, whatever is sent and polled.
        #[test]
        fn the_next_side_is_the_earliest(steps in prop::collection::vec((0u16..4, any::<bool>()), 1..100)) {
            let mut topology = Topology::new([(link(10), link(1)), (link(3), link(30))]);
            let mut now = Time::ZERO;
            for (side, send) in steps {
                if send {
                    topology.send(now, Side(side), Item { bytes: 500, ..Item::default() });
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
