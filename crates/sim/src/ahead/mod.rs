//! What is on its way to and from the end of the path that is ahead of the run: see [`crate::shortcut`].

mod arrival;

pub use arrival::Arrival;

use airtcp_proto::middlebox::Direction;
use airtcp_proto::ring::Ring;
use airtcp_wire::{Header, SackBlocks, Time};

/// What arrives, and when.
pub type Due = (Time, Arrival);

/// What is on its way to the end that is ahead, and back. Each queue is in order of time.
pub struct Ahead {
    /// The direction that leads to the end; `None` where nothing is ahead.
    pub direction: Option<Direction>,
    /// The node whose stations are ahead, too.
    pub station: Option<u16>,
    /// What passes these stations after the current event.
    pub entering: Ring<Due>,
    /// What comes back to these stations, and when the first does.
    returning: Ring<Due>,
    first_returning: Time,
    /// What is delivered at the end after the current event.
    pub sent: Ring<Due>,
    /// What comes back to the other end.
    pub arrivals: Ring<Due>,
    /// The SACK blocks of the arrivals that are [`Arrival::SackedAck`].
    blocks: Ring<SackBlocks>,
    /// How many events the end has saved.
    pub events: u64,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead {
            direction: None,
            station: None,
            entering: Ring::default(),
            returning: Ring::default(),
            first_returning: Time::NEVER,
            sent: Ring::default(),
            arrivals: Ring::default(),
            blocks: Ring::default(),
            events: 0,
        }
    }
}

impl Ahead {
    /// Takes a packet in the slab that leaves `node` and reaches an end of the path, or a station before it, at that
    /// time.
    #[inline]
    pub fn take(&mut self, id: u32, direction: Direction, node: u16, at: Time) {
        if at.is_never() {
            return;
        }
        let due = (at, Arrival::Kept(id));
        match (self.direction == Some(direction), self.passes_station(node, direction)) {
            (true, false) => self.sent.push_back(due),
            (true, true) => self.entering.push_back(due),
            (false, true) => self.push_returning(due),
            (false, false) => self.arrivals.push_back(due),
        }
    }

    /// Takes a packet in the slab that reaches the end that is ahead at that time.
    pub fn take_sent(&mut self, id: u32, at: Time) {
        if !at.is_never() {
            self.sent.push_back((at, Arrival::Kept(id)));
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

    /// Is anything to be done after the current event?
    #[inline]
    pub fn is_waiting(&self) -> bool {
        !self.sent.is_empty() | !self.entering.is_empty()
    }

    /// Takes an answer from the end that is ahead, which reaches the stations or else the other end at that time.
    #[inline(always)]
    pub fn answer(&mut self, at: Time, arrival: Arrival) {
        match self.station {
            _ if at.is_never() => {}
            Some(_) => self.push_returning((at, arrival)),
            None => self.arrivals.push_back((at, arrival)),
        }
    }

    #[inline]
    fn push_returning(&mut self, due: Due) {
        self.first_returning = self.first_returning.min(due.0);
        self.returning.push_back(due);
    }

    /// Takes an ACK with these SACK blocks, which passes no station.
    #[inline(always)]
    pub fn answer_sacked(&mut self, at: Time, endpoint: u32, header: Header, blocks: &SackBlocks) {
        if !at.is_never() {
            self.blocks.push_back(*blocks);
            self.arrivals.push_back((at, Arrival::SackedAck { endpoint, header }));
        }
    }

    /// The SACK blocks of the arrival that was taken last.
    #[inline]
    pub fn pop_blocks(&mut self) -> SackBlocks {
        pop(&mut self.blocks).unwrap_or_default()
    }

    /// When the next answer reaches the other end or a station.
    #[inline(always)]
    pub fn next(&self) -> Time {
        self.arrivals.front().map_or(Time::NEVER, |first| first.0).min(self.first_returning)
    }

    /// Takes the next answer that reaches a station before what is sent and reaches it at that time.
    #[inline]
    pub fn pop_returning_before(&mut self, at: Time) -> Option<Due> {
        let first = self.first_returning;
        // At the same time, the link with the lower number goes first.
        let is_next = first < at || (first == at && self.direction == Some(Direction::Reverse));
        if is_next { self.pop_returning() } else { None }
    }

    /// Takes the next answer that reaches a station.
    #[inline]
    pub fn pop_returning(&mut self) -> Option<Due> {
        let first = pop(&mut self.returning)?;
        self.first_returning = self.returning.front().map_or(Time::NEVER, |next| next.0);
        Some(first)
    }

    /// Takes the next answer if it is one that reaches the other end.
    #[inline(always)]
    pub fn pop_arrival(&mut self) -> Option<Arrival> {
        let (_, first) = *self.arrivals.front().filter(|first| first.0 <= self.first_returning)?;
        self.arrivals.drop_front();
        Some(first)
    }

    #[inline]
    pub fn pop_sent(&mut self) -> Option<Due> {
        pop(&mut self.sent)
    }

    #[inline]
    pub fn pop_entering(&mut self) -> Option<Due> {
        pop(&mut self.entering)
    }
}

#[inline(always)]
fn pop<T: Copy + Default>(ring: &mut Ring<T>) -> Option<T> {
    let first = *ring.front()?;
    ring.drop_front();
    Some(first)
}
