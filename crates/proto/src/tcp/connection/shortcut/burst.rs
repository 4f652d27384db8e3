//! What is expected to leave: full segments of new data, in bursts, or an ACK.

use super::prediction::Prediction;
use crate::marks::{self, Mark};
use crate::tcp::connection::outlet::{Outcome, Outlet};
use crate::tcp::connection::{Connection, Reason, Transmit};
use crate::tcp::sender::Burst;
use airtcp_wire::{Flags, Header, Segment, Time};

/// Sends full segments of new data. `None`: something else may have to leave.
#[inline(always)]
pub fn transmit_new_data(now: &mut Time, outlet: &mut impl Outlet) -> Option<Outcome> {
    while outlet.room() > 0 {
        let connection = outlet.connection();
        let is_paced = connection.is_paced();
        let is_over = (is_paced && connection.is_held_back(*now)) || transmit_burst(*now, outlet)?;
        if is_over {
            let next = if is_paced { outlet.connection().resumes_at() } else { None };
            match next {
                Some(at) if outlet.moves_on(at) => *now = at,
                next => return Some(Outcome::NewData { next }),
            }
        }
    }
    Some(Outcome::Part)
}

/// Returns whether nothing more may leave now. `None`: something else may have to leave.
#[inline(always)]
fn transmit_burst(now: Time, outlet: &mut impl Outlet) -> Option<bool> {
    let room = outlet.room();
    let mut burst = outlet.connection().begin_burst(now)?;
    burst.limit_to(room);
    if burst.continues() {
        outlet.begin_burst();
        let mut header = outlet.connection().open_burst(now, &burst);
        while burst.continues() {
            let offset = outlet.connection().next_in_burst(now, &mut burst, &mut header);
            outlet.take_new_data(&header, offset);
        }
    }
    Some(outlet.connection().end_burst(now, &burst))
}

impl Connection {
    /// [`poll_transmit_into`](Connection::poll_transmit_into) if only an ACK or a full segment of new data can leave next.
    /// `None`: something else may have to leave.
    #[inline(always)]
    pub fn poll_expected(&mut self, now: Time, out: &mut Transmit) -> Option<bool> {
        if self.only_receives() {
            let is_due = self.receiver.is_ack_due();
            if is_due {
                self.clock = now;
                self.pure_ack(now, out);
            }
            return Some(is_due);
        }
        let mut burst = self.begin_burst(now)?;
        burst.limit_to(1);
        let is_sent = burst.continues();
        if is_sent {
            let mut header = self.open_burst(now, &burst);
            out.offset = self.next_in_burst(now, &mut burst, &mut header);
            out.segment = Segment::from(&header);
            (out.ecn, out.reason) = (self.new_data_ecn(), Reason::New);
        }
        self.end_burst(now, &burst);
        Some(is_sent)
    }

    /// Returns whether the connection only sends and its pacer holds everything back, so that there is no need to poll.
    #[inline(always)]
    pub(super) fn is_held_back(&mut self, now: Time) -> bool {
        if !self.only_sends() || self.receiver.is_ack_due() {
            return false;
        }
        let sender = self.sender_mut();
        let is_held_back = sender.is_held_back(now) && sender.waits_its_turn();
        if is_held_back {
            self.clock = now;
        }
        is_held_back
    }

    /// Begins a burst of full segments of new data on a connection that only sends.
    /// [`next_in_burst`](Connection::next_in_burst) returns them, and [`end_burst`](Connection::end_burst) ends the burst.
    /// `None`: something else may have to leave.
    #[inline(always)]
    pub(crate) fn begin_burst(&mut self, now: Time) -> Option<Burst> {
        if !self.is_predicted(Prediction::sends_new) || self.receiver.is_ack_due() {
            return None;
        }
        let burst = self.sender_mut().begin_burst(now)?;
        marks::hit(Mark::Burst);
        self.clock = now;
        Some(burst)
    }

    /// The header that all segments of a burst share. Only for a burst that [continues](Burst::continues).
    // As `data_segment` for new data without CWR.
    #[inline(always)]
    pub(crate) fn open_burst(&mut self, now: Time, burst: &Burst) -> Header {
        let mut header = self.header(now, 0, Flags::ACK);
        header.len = burst.mss() as u32;
        self.receiver.note_data_sent(now);
        header
    }

    /// Turns `header`, which [`open_burst`](Connection::open_burst) has returned, into the next segment of a burst that
    /// [continues](Burst::continues). Returns the stream offset of its payload.
    #[inline(always)]
    pub(crate) fn next_in_burst(&mut self, now: Time, burst: &mut Burst, header: &mut Header) -> u64 {
        let (start, is_pushed) = self.sender_mut().next_in_burst(now, burst);
        header.seq = self.iss.at(start);
        header.put(Flags::PSH, is_pushed);
        start - 1
    }

    /// Ends the burst. Returns whether the window or the pacer keeps more full segments from leaving.
    #[inline(always)]
    pub(crate) fn end_burst(&mut self, now: Time, burst: &Burst) -> bool {
        self.sender_mut().end_burst(now, burst)
    }

    /// When the pacer lets the next segment leave, if no timer expires before: nothing else leaves until then.
    #[inline(always)]
    pub(super) fn resumes_at(&self) -> Option<Time> {
        let sender = self.sender.get()?;
        let departure = sender.next_departure(self.clock);
        let is_next = !departure.is_never() && !self.expires(sender, departure);
        is_next.then_some(departure)
    }
}
