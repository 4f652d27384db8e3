//! The network: links, with a node at either end of each. Those of a chain are in a row, and node 0 is in front of the
//! first link.

mod passage;
#[cfg(test)]
mod tests;

pub use crate::routes::Side;
use crate::routes::{RouteId, Routes};
use crate::turns::Turns;
use airtcp_proto::marks::{self, Mark};
use airtcp_proto::path::{Link, Output};
use airtcp_proto::queue::Item;
use airtcp_wire::Time;

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
    /// The same, and what happens to the link may change when others on its medium want to be polled.
    Medium,
    /// The packet enters the next link at once. Nothing happens to it at the node between them.
    NextLink,
    /// The packet has reached an end of the path or a station. Its sender keeps it until then.
    Foreseen,
}

impl Onward {
    fn is_event(self) -> bool {
        matches!(self, Onward::Event | Onward::Medium)
    }
}

const NOWHERE: u16 = u16::MAX;

pub struct Topology {
    hops: Vec<Hop>,
    routes: Routes,
    /// Are the links in a row?
    is_chain: bool,
    turns: Turns,
    /// The sides on each medium, as it numbers them.
    media: Vec<Vec<Side>>,
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
            let onward = if link.number_on_medium().is_some() { Onward::Medium } else { Onward::Event };
            Hop { link, onward, next: Side(0), ends, plain_end: ends[1] }
        };
        let hops: Vec<Hop> = both.map(hop).collect();
        let turns = Turns::new(hops.iter().map(|hop| hop.link.poll_timeout()));
        let last = hops.iter().flat_map(|hop| hop.ends).max().unwrap_or_default();
        let is_chain = hops.iter().step_by(2).zip(0..).all(|(hop, node)| hop.ends == [node, node + 1]);
        let (has_station, media) = (vec![false; usize::from(last) + 1], media(&hops));
        Topology { turns, media, has_station, is_chain, routes, passes: 0, hops }
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
            if onward.is_event() {
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
            self.settle_all(side);
            return None;
        }
    }

    #[inline]
    pub fn poll(&mut self, now: Time, side: Side) -> Option<Output> {
        let output = self.side_mut(side).poll_delivery(now);
        self.settle_all(side);
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

    /// The same, also for the other sides on its medium.
    #[inline]
    fn settle_all(&mut self, side: Side) {
        self.settle(side);
        if self.hops[usize::from(side.0)].onward == Onward::Medium {
            self.settle_medium(side);
        }
    }

    #[inline(never)]
    fn settle_medium(&mut self, side: Side) {
        let Topology { hops, turns, media, .. } = self;
        let link = |side: Side| &hops[usize::from(side.0)].link;
        let medium = media.iter().find(|sides| link(sides[0]).shares_medium_with(link(side)));
        while let Some((number, sides)) = link(side).poll_moved().zip(medium) {
            turns.set(sides[number], link(sides[number]).poll_timeout());
        }
    }
}

/// The sides on each medium, as it numbers them.
fn media(hops: &[Hop]) -> Vec<Vec<Side>> {
    let mut media: Vec<Vec<(usize, Side)>> = Vec::new();
    for (hop, side) in hops.iter().zip(0..) {
        let Some(number) = hop.link.number_on_medium() else { continue };
        let is_its = |sides: &&mut Vec<(usize, Side)>| {
            hops[usize::from(sides[0].1.0)].link.shares_medium_with(&hop.link)
        };
        match media.iter_mut().find(is_its) {
            Some(sides) => sides.push((number, Side(side))),
            None => media.push(vec![(number, Side(side))]),
        }
    }
    media.iter_mut().for_each(|sides| sides.sort_unstable());
    media.into_iter().map(|sides| sides.into_iter().map(|(_, side)| side).collect()).collect()
}
