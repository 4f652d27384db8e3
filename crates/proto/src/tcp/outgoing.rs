//! What leaves next, and why.

use super::scoreboard::Outstanding;

/// A range of the stream to put into a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    pub start: u64,
    pub end: u64,
    pub is_pushed: bool,
    pub reason: Reason,
}

impl Outgoing {
    /// The segment `sent`, which leaves for this reason.
    #[inline(always)]
    pub fn of(sent: &Outstanding, reason: Reason) -> Outgoing {
        Outgoing { start: sent.start, end: sent.end, is_pushed: sent.is_pushed, reason }
    }
}

/// Why a segment is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reason {
    /// Data (or SYN, FIN) for the first time.
    #[default]
    New,
    /// The retransmission that begins an episode of fast retransmit or SACK/RACK recovery.
    FastRetransmit,
    /// A further retransmission within recovery, or after a timeout.
    Retransmit,
    /// The retransmission at the timer's expiry.
    Timeout,
    /// A tail loss probe that resends (RFC 8985 §7).
    TailLossProbe,
    /// A copy that leaves before a loss could be noticed (`tail_copies`).
    Copy,
    /// A zero-window probe (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// No sequence space: an acknowledgment, a window update, a reset.
    Ack,
}
