//! Sending: the one loop that takes from a connection what it may send.

use super::outlet::{Outcome, Outlet};
use super::shortcut::transmit_new_data;
use super::{Reason, Transmit};
use airtcp_wire::{Flags, Time};

/// Sends what the outlet's connection may send now: the segments that
/// [`poll_transmit`](super::Connection::poll_transmit) would return, in the same order.
#[inline(always)]
pub fn transmit(now: Time, outlet: &mut impl Outlet) -> Outcome {
    let mut now = now;
    match transmit_new_data(&mut now, outlet) {
        Some(sent) => sent,
        None => transmit_anything(now, outlet),
    }
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
