//! The interface to a stack under test.

use crate::log::Emitted;
use airtcp_wire::{Dur, Ecn, Segment, Time};

/// A TCP with one socket. Its clock starts at 0 when the stack is created.
pub trait Stack {
    /// Returns how late a segment or a measured time may be after the stack was idle for `idle`.
    fn lateness_after(&self, idle: Dur) -> Dur;

    /// Returns the next segment sent up to `until`; `None` once that time has come and nothing is pending.
    fn wait(&mut self, until: Time) -> Option<Emitted>;

    /// Delivers a segment from the peer now.
    fn inject(&mut self, segment: &Segment, ecn: Ecn);

    /// Makes an application call.
    ///
    /// # Errors
    /// Says why the call failed.
    fn call(&mut self, call: Call) -> Result<(), String>;

    /// Returns the current value of a quantity, in the form that [`Quantity::agrees`] takes.
    ///
    /// # Errors
    /// Says why the value is unavailable.
    fn observe(&mut self, quantity: Quantity) -> Result<String, String>;
}

/// How early a segment may be sent: scripts round to whole milliseconds.
pub const EARLY: Dur = Dur::from_millis(1);

/// An application's call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Connect,
    Listen,
    Accept,
    Write(u64),
    Read(u64),
    /// Ends writing; reading continues.
    Shutdown,
    /// Ends writing and reading.
    Close,
    /// Closes with a RST.
    Abort,
}

/// An observable quantity of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// In segments.
    Cwnd,
    /// In segments; `none` while it is unlimited.
    Ssthresh,
    /// In ms.
    Srtt,
    /// In ms.
    Rto,
    /// State of the connection, as the RFC names it: `fin-wait-2`.
    State,
    /// In bytes.
    Readable,
}

impl Quantity {
    pub const ALL: [(&'static str, Quantity); 6] = [
        ("cwnd", Quantity::Cwnd),
        ("ssthresh", Quantity::Ssthresh),
        ("srtt", Quantity::Srtt),
        ("rto", Quantity::Rto),
        ("state", Quantity::State),
        ("readable", Quantity::Readable),
    ];

    pub fn name(self) -> &'static str {
        Quantity::ALL.iter().find(|(_, quantity)| *quantity == self).map_or("", |(name, _)| name)
    }

    /// Returns whether `found` matches `wanted`. Times may deviate as much as those of segments.
    pub fn agrees(self, wanted: &str, found: &str, late: Dur) -> bool {
        let ms = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        match self {
            Quantity::Srtt | Quantity::Rto => {
                let late_ms = ms(found) - ms(wanted);
                (-EARLY.as_secs_f64()..=late.as_secs_f64()).contains(&(late_ms / 1e3))
            }
            _ => wanted == found,
        }
    }
}
