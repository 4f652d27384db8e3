//! What the first pass keeps of one direction of a connection.

use crate::packet::TappedPacket;
use airtcp_wire::{Flags, Seq};

/// Summary of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaySummary {
    pub packets: u64,
    pub payload_bytes: u64,
    /// Most bytes of options and payload in a packet.
    pub longest: u32,
    /// MSS option of the sender's SYN: the largest segment that it can receive, in bytes.
    pub mss: Option<u16>,
    pub timestamps: bool,
    /// It has options of Multipath TCP.
    pub multipath: bool,
    /// Packets whose options were not captured whole.
    pub cut: u64,
    /// By how much its acknowledgments advanced: bytes of the other direction's data.
    pub acknowledged: u64,
    last_ack: Option<Seq>,
    /// Sequence number of its SYN.
    pub syn: Option<Seq>,
    last_id: u16,
    /// Its packets have different identifications.
    pub has_ids: bool,
}

impl WaySummary {
    pub fn note(&mut self, packet: &TappedPacket) {
        let segment = &packet.segment;
        self.packets += 1;
        self.payload_bytes += u64::from(segment.len);
        self.longest = self.longest.max(segment.len + u32::from(packet.options.len));
        self.timestamps |= segment.timestamps.is_some();
        self.multipath |= packet.options.multipath;
        self.cut += u64::from(packet.options.are_cut);
        if segment.flags.contains(Flags::SYN) {
            self.syn = Some(segment.seq);
            self.note_mss(packet);
        }
        self.has_ids |= self.packets > 1 && packet.id != self.last_id;
        self.last_id = packet.id;
        if segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::RST) {
            let advance = self.last_ack.map_or(0, |last| segment.ack.distance(last));
            self.acknowledged += u64::try_from(advance).unwrap_or(0);
            if advance > 0 || self.last_ack.is_none() {
                self.last_ack = Some(segment.ack);
            }
        }
    }

    /// A router on the way may have clamped it.
    pub fn note_mss(&mut self, packet: &TappedPacket) {
        self.mss = self.mss.into_iter().chain(packet.segment.syn.mss).min();
    }
}
