//! Per-flow state of a machine: for a bounded number of flows, with a timer each, and dropped when the flow ends.

use crate::middlebox::{Direction, FlowId, SeenPacket};
use airtcp_wire::{Flags, Segment, Seq, Time};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};

/// The states of up to `limit` flows. A further flow replaces the one that has been silent for longest.
#[derive(Debug)]
pub struct Flows<T> {
    entries: Slab<Entry<T>>,
    places: BTreeMap<FlowId, usize>,
    /// A cache of `places`, indexed by the last bits of the flow's name.
    found: [usize; FOUND],
    deadlines: BTreeSet<(Time, FlowId)>,
    limit: usize,
}

const FOUND: usize = 64;

#[derive(Debug)]
struct Entry<T> {
    flow: FlowId,
    state: T,
    last_seen: Time,
    deadline: Time,
}

impl<T> Flows<T> {
    pub fn new(limit: u32) -> Flows<T> {
        let (places, deadlines) = (BTreeMap::new(), BTreeSet::new());
        Flows { entries: Slab::new(), places, found: [0; FOUND], deadlines, limit: limit as usize }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The states, in no particular order.
    pub fn states(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, entry)| &entry.state)
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.limit
    }

    /// The state of the packet's flow, if the flow is known or `begins` with this packet: then its state is `new`. A SYN or RST makes
    /// the flow unknown.
    #[inline(always)]
    pub fn of_packet(
        &mut self,
        now: Time,
        packet: &SeenPacket,
        begins: bool,
        new: impl FnOnce() -> T,
    ) -> Option<&mut T> {
        let flags = packet.segment.flags;
        if flags.contains(Flags::SYN) || flags.contains(Flags::RST) {
            self.remove(packet.flow);
            return None;
        }
        match begins {
            true => Some(self.get_or_insert_with(now, packet.flow, new)),
            false => self.get(now, packet.flow),
        }
    }

    /// The state of a flow of which a packet has come, if the flow is known.
    #[inline]
    pub fn get(&mut self, now: Time, flow: FlowId) -> Option<&mut T> {
        let Some(place) = self.cached(flow) else {
            let place = self.find(flow)?;
            return Some(self.touch(now, place));
        };
        Some(self.touch(now, place))
    }

    /// The state of a flow of which a packet has come. An unknown flow begins with `state`.
    #[inline]
    pub fn get_or_insert_with(&mut self, now: Time, flow: FlowId, state: impl FnOnce() -> T) -> &mut T {
        let Some(place) = self.cached(flow) else {
            let place = self.find(flow).unwrap_or_else(|| self.insert(flow, state()));
            return self.touch(now, place);
        };
        self.touch(now, place)
    }

    #[inline]
    fn touch(&mut self, now: Time, place: usize) -> &mut T {
        let entry = &mut self.entries[place];
        entry.last_seen = now;
        &mut entry.state
    }

    /// The flow's place, if the cache knows it.
    #[inline]
    fn cached(&self, flow: FlowId) -> Option<usize> {
        let place = self.found[flow.0 as usize % FOUND];
        self.entries.get(place).is_some_and(|entry| entry.flow == flow).then_some(place)
    }

    /// The flow's place, which the cache knows from now on.
    #[cold]
    fn find(&mut self, flow: FlowId) -> Option<usize> {
        let place = *self.places.get(&flow)?;
        self.found[flow.0 as usize % FOUND] = place;
        Some(place)
    }

    #[cold]
    fn insert(&mut self, flow: FlowId, state: T) -> usize {
        if self.is_full() {
            self.forget_silent();
        }
        let entry = Entry { flow, state, last_seen: Time::ZERO, deadline: Time::NEVER };
        let place = self.entries.insert(entry);
        self.places.insert(flow, place);
        place
    }

    fn forget_silent(&mut self) {
        let seen = self.entries.iter().map(|(_, entry)| (entry.last_seen, entry.flow));
        if let Some((_, silent)) = seen.min() {
            self.remove(silent);
        }
    }

    #[cold]
    pub fn remove(&mut self, flow: FlowId) {
        if let Some(place) = self.places.remove(&flow) {
            let entry = self.entries.remove(place);
            self.deadlines.remove(&(entry.deadline, flow));
        }
    }

    /// Sets the time at which the flow wants to be called, instead of an earlier setting.
    pub fn set_deadline(&mut self, flow: FlowId, deadline: Time) {
        let Some(place) = self.cached(flow).or_else(|| self.find(flow)) else { return };
        let entry = &mut self.entries[place];
        if entry.deadline == deadline {
            return;
        }
        self.deadlines.remove(&(entry.deadline, flow));
        entry.deadline = deadline;
        if !deadline.is_never() {
            self.deadlines.insert((deadline, flow));
        }
    }

    pub fn next_deadline(&self) -> Time {
        self.deadlines.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next flow whose deadline has come. Its deadline is cleared.
    pub fn pop_due(&mut self, now: Time) -> Option<(FlowId, &mut T)> {
        let (at, flow) = *self.deadlines.first()?;
        if at > now {
            return None;
        }
        self.deadlines.pop_first();
        let entry = &mut self.entries[*self.places.get(&flow)?];
        entry.deadline = Time::NEVER;
        Some((flow, &mut entry.state))
    }
}

/// The sequence number after a segment.
#[inline]
pub fn end_of(segment: &Segment) -> Seq {
    segment.seq.at(segment.seq_len().into())
}

/// Watches from between the hosts whether a flow ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    /// For the FIN of each direction, the sequence number after it, and whether it has been acknowledged.
    fins: [Option<(Seq, bool)>; 2],
}

impl Ending {
    pub fn watch(&mut self, direction: Direction, segment: &Segment) {
        if segment.flags.contains(Flags::FIN) {
            self.fins[direction as usize].get_or_insert((end_of(segment), false));
        }
        if let Some((end, is_acked)) = &mut self.fins[direction.opposite() as usize] {
            *is_acked |= segment.flags.contains(Flags::ACK) && segment.ack.distance(*end) >= 0;
        }
    }

    /// Have both sides sent a FIN and had it acknowledged?
    pub fn is_over(&self) -> bool {
        self.fins.iter().all(|fin| fin.is_some_and(|(_, is_acked)| is_acked))
    }
}

/// The last acknowledgment in a direction.
#[derive(Clone, Copy, Debug)]
pub struct LastAck {
    pub ack: Seq,
    pub window: u16,
}

impl LastAck {
    /// Is `segment` a duplicate of this acknowledgment, while data is outstanding (RFC 5681 §2)? With SACK blocks, it is one whatever
    /// its window (RFC 6675 §2).
    pub fn is_repeated_by(&self, segment: &Segment, sent_end: Seq) -> bool {
        segment.ack == self.ack
            && segment.seq_len() == 0
            && sent_end.distance(self.ack) > 0
            && (segment.window == self.window || !segment.sack.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flow_more_replaces_the_one_that_was_silent_for_longest() {
        let mut flows = Flows::new(2);
        flows.get_or_insert_with(Time(1), FlowId(1), || 'a');
        flows.get_or_insert_with(Time(2), FlowId(2), || 'b');
        flows.set_deadline(FlowId(2), Time(9));
        assert_eq!(flows.get(Time(3), FlowId(1)), Some(&mut 'a'));
        flows.get_or_insert_with(Time(4), FlowId(3), || 'c');
        assert_eq!((flows.len(), flows.get(Time(5), FlowId(2))), (2, None));
        assert!(flows.next_deadline().is_never());
    }

    #[test]
    fn a_flow_is_due_once_for_each_deadline_and_a_new_one_replaces_the_old() {
        let mut flows = Flows::new(9);
        flows.get_or_insert_with(Time(0), FlowId(1), || ());
        flows.get_or_insert_with(Time(0), FlowId(2), || ());
        flows.set_deadline(FlowId(1), Time(5));
        flows.set_deadline(FlowId(2), Time(3));
        flows.set_deadline(FlowId(1), Time(4));
        assert_eq!(flows.next_deadline(), Time(3));
        let due: Vec<u64> = std::iter::from_fn(|| flows.pop_due(Time(9)).map(|(id, ())| id.0)).collect();
        assert_eq!(due, [2, 1]);
        assert!(flows.next_deadline().is_never());
    }
}
