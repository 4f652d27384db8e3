//! The end of the path that is ahead of the run.
//!
//! Suppose that all flows go to one end of the path, that this end only answers what it receives, and that nothing
//! overtakes on the links. Then the arrival time of a packet is known when it is sent, and nothing that is sent later
//! can change what happens there before. So each packet is delivered when it is sent, at its time of arrival and after
//! the timers that expire there earlier, without an event. The answers wait as [`Arrival`]s until the run reaches their
//! times. The results are those of a run in order. Where somebody watches, nothing is ahead.
//!
//! Stations that act at once may stand on the way, all at one node. They are ahead, too. What is sent passes them at
//! the time at which it gets there, after the answers that get there earlier. The other answers pass them when the run
//! reaches their times.

mod arrival;
mod connected;
mod station;

pub use arrival::{Arrival, What};
pub use connected::{Connected, Text, plain_bytes};
pub use station::pass_station;

use airtcp_proto::middlebox::Direction;
use airtcp_proto::ring::Ring;
use airtcp_wire::{Header, SackBlocks, Time};

/// What is on its way to the end that is ahead, and back. Each queue is in order of time.
pub struct Ahead {
    /// The direction that leads to the end; `None` where nothing is ahead.
    pub direction: Option<Direction>,
    /// The node whose stations are ahead, too.
    pub station: Option<u16>,
    /// What passes these stations after the current event.
    entering: Ring<Entry>,
    /// What comes back to these stations, and when the first does.
    returning: Ring<Entry>,
    first_returning: Time,
    /// What is delivered at the end after the current event.
    pub sent: Ring<Entry>,
    /// What comes back to the other end.
    pub arrivals: Ring<Arrival>,
    /// The SACK blocks of the arrivals that are [`What::Sacked`].
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

/// What reaches the end that is ahead, or a station, and when.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    pub at: Time,
    pub what: What,
    /// The header of [`What::Plain`].
    pub header: Header,
    /// Stream position of its data.
    pub offset: u64,
}

impl Ahead {
    /// Takes a packet that leaves `node` and reaches an end of the path, or a station before it, at that time.
    #[inline]
    pub fn take(&mut self, id: u32, direction: Direction, node: u16, at: Time) {
        if at.is_never() {
            return;
        }
        let what = What::Packet(id);
        let entry = Entry { at, what, ..Entry::default() };
        match (self.direction == Some(direction), self.passes_station(node, direction)) {
            (true, false) => self.sent.push_back(entry),
            (true, true) => self.entering.push_back(entry),
            (false, true) => self.push_returning(entry),
            (false, false) => self.arrivals.push_back(Arrival::new(at, what, Header::default())),
        }
    }

    /// Takes a packet that reaches the end that is ahead at that time.
    pub fn take_sent(&mut self, id: u32, at: Time) {
        if !at.is_never() {
            self.sent.push_back(Entry { at, what: What::Packet(id), ..Entry::default() });
        }
    }

    /// Takes new data of a connection that reaches the stations at that time.
    #[inline]
    fn enter_station(&mut self, at: Time, endpoint: u32, header: Header, offset: u64) {
        self.entering.push_back(Entry { at, what: What::Plain(endpoint), header, offset });
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

    /// Takes an answer from the end that is ahead, which reaches the stations or else the other end at that time. `ack`
    /// is ignored for a [`What::Packet`].
    #[inline(always)]
    pub fn answer(&mut self, at: Time, what: What, ack: Header) {
        match self.station {
            _ if at.is_never() => {}
            Some(_) => self.push_returning(Entry { at, what, header: ack, offset: 0 }),
            None => self.arrivals.push_back(Arrival::new(at, what, ack)),
        }
    }

    #[inline]
    fn push_returning(&mut self, entry: Entry) {
        self.first_returning = self.first_returning.min(entry.at);
        self.returning.push_back(entry);
    }

    /// Takes an ACK with these SACK blocks, which passes no station.
    #[inline(always)]
    fn answer_sacked(&mut self, at: Time, endpoint: u32, ack: Header, blocks: &SackBlocks) {
        if !at.is_never() {
            self.blocks.push_back(*blocks);
            self.arrivals.push_back(Arrival::new(at, What::Sacked(endpoint), ack));
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
        self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.at).min(self.first_returning)
    }

    /// Takes the next answer that reaches a station before what is sent and reaches it at that time.
    #[inline]
    pub fn pop_returning_before(&mut self, at: Time) -> Option<Entry> {
        let first = self.first_returning;
        // At the same time, the link with the lower number goes first.
        let is_next = first < at || (first == at && self.direction == Some(Direction::Reverse));
        if is_next { self.pop_returning() } else { None }
    }

    /// Takes the next answer that reaches a station.
    #[inline]
    pub fn pop_returning(&mut self) -> Option<Entry> {
        let entry = pop(&mut self.returning)?;
        self.first_returning = self.returning.front().map_or(Time::NEVER, |entry| entry.at);
        Some(entry)
    }

    /// Takes the next answer if it is one that reaches the other end.
    #[inline(always)]
    pub fn pop_arrival(&mut self) -> Option<Arrival> {
        let first = *self.arrivals.front().filter(|first| first.at <= self.first_returning)?;
        self.arrivals.drop_front();
        Some(first)
    }

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
fn pop<T: Copy + Default>(ring: &mut Ring<T>) -> Option<T> {
    let first = *ring.front()?;
    ring.drop_front();
    Some(first)
}
