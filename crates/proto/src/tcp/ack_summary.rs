//! What an ACK means to recovery and to the controller.

use airtcp_wire::Time;

/// What an ACK changed on the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct AckSummary {
    pub now: Time,
    pub prior_una: u64,
    /// By how many bytes SND.UNA has moved.
    pub acked: u64,
    /// Bytes newly delivered.
    pub delivered: u64,
    /// Of those, by SACK.
    pub sacked: u64,
    pub is_duplicate: bool,
    /// The ACK repeats the one before, SACK blocks aside: a duplicate, even with nothing outstanding.
    pub is_repeated: bool,
    /// The ACK reports a segment that arrived twice (RFC 2883).
    pub has_dsack: bool,
    /// Bytes that had ever been marked lost before this ACK.
    pub prior_lost: u64,
    /// The echoed timestamp.
    pub echo: Option<u32>,
    pub ece: bool,
    /// Data that was outstanding when the timer last expired, and never resent, has arrived.
    pub original_delivered: bool,
}
