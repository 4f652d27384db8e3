//! The path: links in a row, with a node at either end of each. Node 0 is in front of the first link.

use airtcp_proto::marks::{self, Mark};
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Link, Output};
use airtcp_proto::queue::Item;
use airtcp_wire::Time;

/// One direction of one link: twice the link's index, plus one for the way back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Side(pub u16);

impl Side {
    /// The side that leaves `node` in `direction`.
    #[inline]
    pub fn out_of(node: u16, direction: Direction) -> Side {
        match direction {
            Direction::Forward => Side(2 * node),
            Direction::Reverse => Side(2 * node - 1),
        }
    }

    /// The side that enters `node` in `direction`.
    fn into(node: u16, direction: Direction) -> Side {
        match direction {
            Direction::Forward => Side(2 * node - 2),
            Direction::Reverse => Side(2 * node + 1),
        }
    }

    /// The side that follows this one.
    #[inline]
    fn next(self) -> Side {
        if self.0 & 1 == 0 { Side(self.0 + 2) } else { Side(self.0 - 2) }
    }

    #[inline]
    pub fn direction(self) -> Direction {
        if self.0 & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    #[inline]
    pub fn link(self) -> usize {
        usize::from(self.0 / 2)
    }

    /// The node at which it begins.
    #[inline]
    pub fn near_node(self) -> u16 {
        self.0 / 2 + (self.0 & 1)
    }

    /// The node at which it ends.
    #[inline]
    pub fn far_node(self) -> u16 {
        self.0 / 2 + u16::from(self.0 & 1 == 0)
    }
}

/// One direction of one link.
struct Hop {
    link: Link,
    onward: Onward,
    /// When the link wants to be polled.
    wake: Time,
    /// The node at which the link ends, or [`NOWHERE`] if a station stands there.
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
    /// When each side wants to be polled, sorted by time and then by side.
    turns: Vec<(Time, Side)>,
    /// Which nodes have a station.
    has_station: Vec<bool>,
    /// How many times a packet has entered the next link without an event.
    passes: u64,
}

impl Topology {
    /// Takes the links in path order, each as its forward and its reverse direction.
    pub fn new(links: impl IntoIterator<Item = (Link, Link)>) -> Topology {
        let sides = links.into_iter().flat_map(|(forward, reverse)| [forward, reverse]);
        let hop = |(link, side): (Link, u16)| {
            let (wake, plain_end) = (link.poll_timeout(), Side(side).far_node());
            Hop { link, onward: Onward::Event, wake, plain_end }
        };
        let hops: Vec<Hop> = sides.zip(0..).map(hop).collect();
        let mut turns: Vec<_> = hops.iter().zip(0..).map(|(hop, side)| (hop.wake, Side(side))).collect();
        turns.sort_unstable();
        Topology { turns, has_station: vec![false; hops.len() / 2 + 1], passes: 0, hops }
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

    pub fn sides(&self) -> impl Iterator<Item = Side> + use<> {
        (0..self.hops.len() as u16).map(Side)
    }

    #[inline]
    pub fn side_mut(&mut self, side: Side) -> &mut Link {
        &mut self.hops[usize::from(side.0)].link
    }

    /// The sides that compress header packets on the way from the first to the second of these nodes.
    pub fn compressing_sides(&self, [from, to]: [u16; 2], direction: Direction) -> Vec<Side> {
        let between = from.min(to)..from.max(to);
        let is_on_way =
            |side: &Side| side.direction() == direction && between.contains(&(side.link() as u16));
        let compresses = |side: &Side| self.hops[usize::from(side.0)].link.compresses();
        self.sides().filter(is_on_way).filter(compresses).collect()
    }

    /// Returns when a side wants to be polled next, and which.
    #[inline]
    pub fn next(&self) -> (Time, Side) {
        self.turns.first().copied().unwrap_or((Time::NEVER, Side(0)))
    }

    /// Lets packets pass without an event at each node for which `is_passage` holds: no packet enters or leaves the
    /// path there, and nothing handles it. The links' statistics may not be read before the
    /// [horizon](Topology::set_horizon).
    pub fn lead_on(&mut self, is_passage: impl Fn(u16) -> bool) {
        let last = self.hops.len() as u16 / 2;
        for node in (1..last).filter(|&node| is_passage(node) && !self.has_station[usize::from(node)]) {
            for direction in [Direction::Forward, Direction::Reverse] {
                let side = Side::into(node, direction);
                if self.can_pass(side) && self.can_pass(side.next()) {
                    self.hops[usize::from(side.0)].onward = Onward::NextLink;
                }
            }
        }
    }

    /// Foresees what goes to the end of the path in `direction` and what comes back to the other end: from now on such
    /// a packet leaves the links when it is sent, together with its time of arrival, unless that is after the horizon.
    /// Returns whether the links allow it.
    pub fn foresee_round_trips(&mut self, direction: Direction) -> bool {
        let (there, back) = (self.last(direction), self.last(direction.opposite()));
        let answer = Side::out_of(there.far_node(), direction.opposite());
        let can_be = [there, answer, back].into_iter().all(|side| self.can_pass(side))
            && [there, back].into_iter().all(|side| !self.has_station(side.far_node()));
        if can_be {
            self.foresee([there, back]);
        }
        can_be
    }

    /// Foresees what comes to the stations at `node` from either side. Returns whether that is possible: nothing
    /// between them and the end of the path in `direction` may be an event.
    pub fn foresee_station(&mut self, node: u16, direction: Direction) -> bool {
        let [there, back] = [direction, direction.opposite()].map(|direction| Side::into(node, direction));
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

    /// The node at the end of the path in this direction.
    pub fn end(&self, direction: Direction) -> u16 {
        self.last(direction).far_node()
    }

    /// The last side in this direction.
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
            let Hop { link, onward, .. } = &mut hops[usize::from(side.0)];
            if *onward == Onward::Event {
                link.handle_packet(now, item);
            } else if let Some(at) = link.pass(now, item.bytes, || item) {
                if *onward == Onward::Foreseen || at.is_never() {
                    return Some(at);
                }
                marks::hit(Mark::LedOn);
                *passes += 1;
                (now, side) = (at, side.next());
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
        if self.hops[usize::from(side.0)].onward == Onward::Foreseen {
            return Some(at);
        }
        self.passes += 1;
        self.send_on(at, side.next(), item)
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
        hop.wake = hop.link.poll_timeout();
        sink(&mut self.turns, (hop.wake, side));
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
        let hop = &mut self.hops[usize::from(side.0)];
        let at = hop.link.poll_timeout();
        if hop.wake == at {
            return;
        }
        hop.wake = at;
        self.reorder((at, side));
    }

    /// Moves a side's turn to where it belongs now.
    #[inline(never)]
    fn reorder(&mut self, turn: (Time, Side)) {
        let Some(place) = self.turns.iter().position(|(_, side)| *side == turn.1) else { return };
        let (before, rest) = self.turns.split_at_mut(place);
        sink(rest, turn);
        let mut at = &mut rest[0];
        for other in before.iter_mut().rev().take_while(|other| **other > turn) {
            (*at, *other) = (*other, turn);
            at = other;
        }
    }
}

/// Replaces the first turn by `turn`, and moves it behind those that come before it.
#[inline(always)]
fn sink(turns: &mut [(Time, Side)], turn: (Time, Side)) {
    let mut turns = turns.iter_mut();
    let Some(mut place) = turns.next() else { return };
    for other in turns.take_while(|other| **other < turn) {
        *place = *other;
        place = other;
    }
    *place = turn;
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

    fn plain(delay_ms: u64) -> Link {
        let transmitter = Box::new(FixedRate::new(Rate(8_000_000)));
        Link::drop_tail(Limit::packets(3), transmitter, Dur::from_millis(delay_ms))
    }

    fn send(topology: &mut Topology, now: Time, side: Side, id: u32) -> Option<Time> {
        topology.send(now, side, Item { id, bytes: 500, ..Item::default() })
    }

    #[test]
    fn what_leads_on_comes_out_at_the_end_of_the_row() {
        let mut topology = Topology::new([1, 2, 3].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
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
        let mut topology = Topology::new([1, 2].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
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
        let mut topology = Topology::new([(link(10), link(1)), (link(3), link(30))]);
        assert!(!topology.foresee_round_trips(Direction::Forward));
    }

    #[test]
    fn what_comes_to_a_station_is_foreseen_if_all_beyond_it_is() {
        let links = |is_event: usize| {
            [0, 1, 2, 3].map(|at| if at == is_event { (link(1), plain(1)) } else { (plain(1), plain(1)) })
        };
        let is_foreseen = |is_event, node, direction| {
            let mut topology = Topology::new(links(is_event));
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
            let mut topology = Topology::new([(link(10), link(1)), (link(3), link(30))]);
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
