//! The end of the path that is ahead of the run.
//!
//! If all flows go to one end of the path, that end answers what it gets and does nothing else. If, besides, nothing
//! overtakes on the links, it is known as a packet is sent when it will get there, and nothing that is sent later can
//! matter there before. So it is delivered as it is sent, at the time at which it gets there, after the timers that expire
//! there earlier; no event is needed. The answers wait as [`Arrival`]s until the run has come to their times. Nobody can
//! tell this from a run in order, and where somebody watches, nothing is ahead.
//!
//! Stations that act at once may stand on the way, all at one node. They are ahead, too: what is sent goes through them at the
//! time at which it gets there, after the answers that get there earlier. An answer before which nothing is sent goes
//! through them when the run has come to its time.

mod arrival;
mod connected;
mod station;

pub use arrival::{Arrival, What};
pub use connected::{Connected, Text, plain_bytes};
pub use station::StationNode;

use airtcp_proto::middlebox::Direction;
use airtcp_proto::ring::Ring;
use airtcp_wire::{Header, SackBlocks, Time};

/// What is on its way to that end, and back from there.
#[derive(Default)]
pub struct Ahead {
    /// The direction of what goes there; none where nothing is ahead.
    pub direction: Option<Direction>,
    /// The node whose stations are ahead, too.
    pub station: Option<u16>,
    /// What is to go through these when the present event is done, in the order of its times.
    entering: Ring<Entry>,
    /// What comes back to them, in the order of its times.
    returning: Ring<Arrival>,
    /// What is to be delivered there when the present event is done, in the order of its times.
    pub sent: Ring<Entry>,
    /// What comes back to the other end, in the order of its times.
    pub arrivals: Ring<Arrival>,
    /// The blocks of those that are [`What::Sacked`], in the same order.
    blocks: Ring<SackBlocks>,
    /// What has happened there, and would have been events.
    pub events: u64,
}

/// What gets to the end that is ahead, or to a station on its way.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    pub at: Time,
    pub what: What,
    pub header: Header,
    /// Stream position of the data.
    pub offset: u64,
}

impl Ahead {
    /// A packet that leaves `node` gets to the end of the path at that time, or to a station before that.
    #[inline]
    pub fn take(&mut self, id: u32, direction: Direction, node: u16, at: Time) {
        if at.is_never() {
            return;
        }
        let what = What::Packet(id);
        let arrival = Arrival::packet(at, id);
        match (self.direction == Some(direction), self.passes_station(node, direction)) {
            (true, false) => self.sent.push_back(Entry { at, what, ..Entry::default() }),
            (true, true) => self.entering.push_back(Entry { at, what, ..Entry::default() }),
            (false, true) => self.returning.push_back(arrival),
            (false, false) => self.arrivals.push_back(arrival),
        }
    }

    /// A packet gets to the end that is ahead at that time, and cannot be delivered there yet.
    pub fn take_sent(&mut self, id: u32, at: Time) {
        if !at.is_never() {
            self.sent.push_back(Entry { at, what: What::Packet(id), ..Entry::default() });
        }
    }

    /// Does what leaves `node` come to the node with stations?
    #[inline]
    fn passes_station(&self, node: u16, direction: Direction) -> bool {
        self.station.is_some_and(|station| match direction {
            Direction::Forward => node < station,
            Direction::Reverse => node > station,
        })
    }

    /// Is anything to be done there when the present event is done?
    #[inline]
    pub fn is_waiting(&self) -> bool {
        !self.sent.is_empty() | !self.entering.is_empty()
    }

    /// An answer leaves the end that is ahead.
    #[inline(always)]
    pub fn answer(&mut self, arrival: Arrival) {
        match self.station {
            _ if arrival.at.is_never() => {}
            Some(_) => self.returning.push_back(arrival),
            None => self.arrivals.push_back(arrival),
        }
    }

    /// The same of an ACK with these blocks that no station sees.
    #[inline(always)]
    fn answer_sacked(&mut self, arrival: Arrival, blocks: &SackBlocks) {
        if !arrival.at.is_never() {
            self.blocks.push_back(*blocks);
            self.arrivals.push_back(arrival);
        }
    }

    /// The blocks of the ACK that has just been taken off.
    #[inline]
    pub fn pop_blocks(&mut self) -> SackBlocks {
        pop(&mut self.blocks).unwrap_or_default()
    }

    /// When the first of what comes back gets to the other end, or to a station.
    #[inline(always)]
    pub fn next(&self) -> Time {
        next(&self.arrivals).min(next(&self.returning))
    }

    /// What comes back, as to [`next`](Ahead::next), gets to a station.
    #[inline(always)]
    pub fn pop_returning(&mut self) -> Option<Arrival> {
        let is_next = !self.returning.is_empty() && next(&self.returning) < next(&self.arrivals);
        if is_next { pop(&mut self.returning) } else { None }
    }

    /// The same before what gets to the station at that time.
    #[inline]
    pub fn pop_returning_before(&mut self, at: Time) -> Option<Arrival> {
        let first = next(&self.returning);
        // As two links that have something at one time: the one that is named first.
        let is_next = first < at || (first == at && self.direction == Some(Direction::Reverse));
        if is_next { pop(&mut self.returning) } else { None }
    }

    #[inline(always)]
    pub fn pop_arrival(&mut self) -> Option<Arrival> {
        pop(&mut self.arrivals)
    }

    /// What is to be delivered there next.
    #[inline]
    pub fn pop_sent(&mut self) -> Option<Entry> {
        pop(&mut self.sent)
    }

    #[inline]
    pub fn pop_entering(&mut self) -> Option<Entry> {
        pop(&mut self.entering)
    }
}

#[inline(always)]
fn next(arrivals: &Ring<Arrival>) -> Time {
    arrivals.front().map_or(Time::NEVER, |arrival| arrival.at)
}

#[inline(always)]
fn pop<T: Copy + Default>(ring: &mut Ring<T>) -> Option<T> {
    let first = *ring.front()?;
    ring.drop_front();
    Some(first)
}
