//! Sending: the one loop that takes from a connection what it may send, and where that goes.

use super::{Connection, Reason, Transmit};
use airtcp_wire::{Flags, Header, Time};

/// A connection, and where its segments go. It takes as many as it says that it has room for.
pub trait Outlet {
    /// The connection that sends.
    fn connection(&mut self) -> &mut Connection;

    /// How many more segments may leave.
    fn room(&self) -> u32 {
        u32::MAX
    }

    /// New data follows in one burst: until the next call, headers differ in nothing but sequence number and PSH.
    fn begin_burst(&mut self) {}

    /// Takes a full segment of new data. Its payload starts at the stream position `offset`.
    fn take_new_data(&mut self, header: &Header, offset: u64);

    /// Takes any other segment.
    fn take(&mut self, transmit: &Transmit);

    /// The pacer releases the next segment at that time, and no timer of the connection expires before. Returns whether time
    /// has moved on to then.
    fn moves_on(&mut self, _at: Time) -> bool {
        false
    }
}

/// What has left a connection, and what has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// New data alone, if anything. Nothing else may leave now.
    NewData {
        /// When the pacer releases the next segment, if no timer of the connection expires before.
        next: Option<Time>,
    },
    /// All that may leave now.
    All,
    /// As much as there was room for.
    Part,
}

/// Sends what the outlet's connection may send now: the segments that [`Connection::poll_transmit`] would return, in the same
/// order.
#[inline(always)]
pub fn transmit(now: Time, outlet: &mut impl Outlet) -> Outcome {
    let mut now = now;
    match transmit_new_data(&mut now, outlet) {
        Some(sent) => sent,
        None => transmit_anything(now, outlet),
    }
}

/// Sends full segments of new data. `None`: something else may have to leave.
#[inline(always)]
fn transmit_new_data(now: &mut Time, outlet: &mut impl Outlet) -> Option<Outcome> {
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

#[inline(never)]
fn transmit_anything(now: Time, outlet: &mut impl Outlet) -> Outcome {
    let mut transmit = Transmit::default();
    while outlet.room() > 0 {
        if !outlet.connection().poll_transmit_into(now, &mut transmit) {
            return Outcome::All;
        }
        outlet.take(&transmit);
        // Nothing follows an ACK without data, but a reset may be followed by more.
        if transmit.reason == Reason::Ack && !transmit.segment.flags.contains(Flags::RST) {
            return Outcome::All;
        }
    }
    Outcome::Part
}
