//! What a connection reports to its driver and its application.

use crate::tcp::outgoing::Reason;
use airtcp_wire::{Dur, Ecn, Header, Segment, Time};

/// Connection states (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// A segment to put on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transmit {
    pub segment: Segment,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    pub reason: Reason,
    /// Stream position of the first payload byte: 0 is the first byte that the application wrote.
    pub offset: u64,
}

/// What follows from text that was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// This ACK leaves now.
    Now(Header),
    /// An ACK leaves at that time, or none if that is [`Time::NEVER`].
    By(Time),
}

/// What the application should know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Connected,
    /// The peer's FIN has arrived: everything it will ever send is readable.
    PeerFinished,
    /// All that was written, and our FIN, has been acknowledged.
    AllAcknowledged,
    /// Reset by the peer, or given up after too many retransmissions.
    Reset,
    /// The connection is over and nothing more will be sent.
    Closed,
}

impl Event {
    pub(super) const ALL: [Event; 5] =
        [Event::Connected, Event::PeerFinished, Event::AllAcknowledged, Event::Reset, Event::Closed];
}

/// The sender's state for time series. Windows in bytes, positions as stream offsets of the application's bytes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SenderView {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// Payload bytes of a full segment.
    pub mss: u64,
    /// Zero before the first sample.
    pub srtt: Dur,
    pub rttvar: Dur,
    pub rto: Dur,
    pub in_flight: u64,
    pub una: u64,
    pub nxt: u64,
    pub peer_window: u64,
    pub in_recovery: bool,
}
