//! Counters of the emulator's packets.

use airtcp_proto::queue::DropCause;
use serde::Serialize;

/// What became of packets that came in by one port, since the beginning or
/// [`Emulator::reset_stats`](super::Emulator::reset_stats). Bytes are those of IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    pub entered_packets: u64,
    pub entered_bytes: u64,
    pub delivered_packets: u64,
    pub delivered_bytes: u64,
    /// Delivered packets that a queue has marked.
    pub marked_packets: u64,
    pub lost_overflow: u64,
    pub lost_aqm: u64,
    pub lost_corruption: u64,
    pub lost_outage: u64,
    /// Refused, because the path held as much as its memory allows.
    pub refused_memory: u64,
    /// Refused, because no port reaches the destination.
    pub refused_unreachable: u64,
}

impl Counts {
    /// Packets lost on the path, for whatever cause.
    pub fn lost_packets(&self) -> u64 {
        self.lost_overflow + self.lost_aqm + self.lost_corruption + self.lost_outage
    }

    pub(super) fn add_lost(&mut self, cause: DropCause) {
        *match cause {
            DropCause::Overflow => &mut self.lost_overflow,
            DropCause::Aqm => &mut self.lost_aqm,
            DropCause::Corruption => &mut self.lost_corruption,
            DropCause::Outage => &mut self.lost_outage,
        } += 1;
    }
}
