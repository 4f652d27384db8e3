//! Counters of a connection.

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
    /// Segments sent again before a loss could be noticed (`tail_copies`). They are no retransmissions.
    pub copies: u64,
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
    pub copies: u32,
    pub cwnd_reductions: u32,
    pub spurious_detected: u32,
    /// Of the segments on the scoreboard, those without data: a SYN, and perhaps a FIN.
    pub without_data: u32,
    /// Octets of the sequence space that were no data when they left: a SYN, a FIN, and what window probes carried.
    pub no_data: u32,
}

impl Counters {
    /// The counters after `segments` segments of new data, SYN or FIN have left, in which `octets` octets were sent.
    pub fn stats(&self, segments: u64, octets: u64) -> Stats {
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
            copies: self.copies.into(),
            cwnd_reductions: self.cwnd_reductions.into(),
            spurious_detected: self.spurious_detected.into(),
            duplicate_acks_received: self.duplicate_acks_received,
            ecn_echoes_received: self.ecn_echoes_received,
        }
    }
}
