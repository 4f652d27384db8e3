//! What a timeline is played to.

use crate::log::Emitted;
use airtcp_wire::{Dur, Ecn, Segment, Time};

/// A TCP with one socket. Its clock begins with its life.
pub trait Stack {
    /// How late something may be sent, or a time that is asked for be, where nothing happened for so long before.
    fn lateness_after(&self, idle: Dur) -> Dur;

    /// The next segment that leaves until `until`; `None` when that time has come and nothing waits.
    fn wait(&mut self, until: Time) -> Option<Emitted>;

    /// A segment of the peer's arrives now.
    fn inject(&mut self, segment: &Segment, ecn: Ecn);

    /// The application calls. The error says what went wrong.
    ///
    /// # Errors
    /// Where the call fails.
    fn call(&mut self, call: Call) -> Result<(), String>;

    /// What a quantity is now, in words that [`Quantity::agrees`] takes.
    ///
    /// # Errors
    /// Where it cannot be told.
    fn observe(&mut self, quantity: Quantity) -> Result<String, String>;
}

/// How early something may be sent: scripts tell whole milliseconds.
pub const EARLY: Dur = Dur::from_millis(1);

/// What an application does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Connect,
    Listen,
    Accept,
    Write(u64),
    Read(u64),
    /// No more will be written; what comes is still read.
    Shutdown,
    /// Neither written nor read any more.
    Close,
    /// Closed with a reset.
    Abort,
}

/// What can be asked of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// In segments.
    Cwnd,
    /// In segments; `none` while it is arbitrarily high.
    Ssthresh,
    /// In ms.
    Srtt,
    /// In ms.
    Rto,
    /// The connection's, in the RFC's words: `fin-wait-2`.
    State,
    /// Bytes.
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

    /// Is `found` what was `wanted`? Times may be off as what is sent may be.
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
