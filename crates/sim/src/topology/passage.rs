//! Where packets pass from link to link without an event, and where their arrival is foreseen.

use super::{Hop, Onward, Topology};
use crate::routes::Side;
use airtcp_proto::middlebox::Direction;
use airtcp_proto::queue::Item;
use airtcp_wire::Time;
use std::collections::BTreeSet;

impl Topology {
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
        let can_be = beyond.all(|side| !self.hops[usize::from(side.0)].onward.is_event())
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

    /// The sides of a direction that keep only packets that come out after the horizon, the last side first.
    pub fn foreseen_sides(&self, direction: Direction) -> Vec<Side> {
        let sides = self.sides().filter(|side| side.direction() == direction);
        let mut sides: Vec<Side> =
            sides.filter(|side| !self.hops[usize::from(side.0)].onward.is_event()).collect();
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
}

/// The side of a chain that enters `node` in `direction`.
pub(super) fn side_into(node: u16, direction: Direction) -> Side {
    match direction {
        Direction::Forward => Side(2 * node - 2),
        Direction::Reverse => Side(2 * node + 1),
    }
}
