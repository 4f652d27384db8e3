//! What leaves next, and why.

/// A range of the stream to put into a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    pub start: u64,
    pub end: u64,
    pub is_pushed: bool,
    pub reason: Reason,
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
    /// A zero-window probe (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// No sequence space: an acknowledgment, a window update, a reset.
    Ack,
}
