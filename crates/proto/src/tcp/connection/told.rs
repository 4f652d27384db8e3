//! What a connection reports to its driver and its application.

use airtcp_wire::{Dur, Ecn, Segment};

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

/// Counters over the connection's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    pub segments_received: u64,
    pub acks_sent: u64,
    /// Segments with text or a FIN of which nothing was new.
    pub duplicate_segments_received: u64,
    pub data_segments_sent: u64,
    pub data_bytes_sent: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    pub tail_loss_probes: u64,
    /// How often the controller has reduced cwnd.
    pub cwnd_reductions: u64,
    /// Timeouts and recoveries that Eifel detection, F-RTO or DSACKs have proved spurious.
    pub spurious_detected: u64,
    pub duplicate_acks_received: u64,
    pub ecn_echoes_received: u64,
}

/// What the sender counts of [`Stats`]. Of the numbers that round trips limit, 32 bits suffice; what was sent follows from the
/// scoreboard. The counters of plain segments come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Counters {
    pub segments_received: u64,
    pub acks_sent: u64,
    pub duplicate_segments_received: u64,
    pub retransmissions: u64,
    pub retransmitted_bytes: u64,
    pub duplicate_acks_received: u64,
    pub ecn_echoes_received: u64,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub tail_loss_probes: u32,
    pub cwnd_reductions: u32,
    pub spurious_detected: u32,
    /// Of the segments on the scoreboard, those without data: a SYN, and perhaps a FIN.
    pub without_data: u32,
    /// Octets of the sequence space that were no data when they left: a SYN, a FIN, and what window probes carried.
    pub no_data: u32,
}

impl Counters {
    /// The counters after `segments` segments of new data, SYN or FIN have left, in which `octets` octets were sent.
    pub fn told(&self, segments: u64, octets: u64) -> Stats {
        Stats {
            segments_received: self.segments_received,
            acks_sent: self.acks_sent,
            duplicate_segments_received: self.duplicate_segments_received,
            data_segments_sent: segments - u64::from(self.without_data),
            data_bytes_sent: octets - u64::from(self.no_data),
            retransmissions: self.retransmissions,
            retransmitted_bytes: self.retransmitted_bytes,
            timeouts: self.timeouts.into(),
            fast_retransmits: self.fast_retransmits.into(),
            tail_loss_probes: self.tail_loss_probes.into(),
            cwnd_reductions: self.cwnd_reductions.into(),
            spurious_detected: self.spurious_detected.into(),
            duplicate_acks_received: self.duplicate_acks_received,
            ecn_echoes_received: self.ecn_echoes_received,
        }
    }
}
