//! One direction of a connection: data one way, acknowledgments the other.
//!
//! The tap may stand anywhere. What of a packet's loss happens before the tap shows as a hole in the stream that a
//! later packet fills; what happens behind it, as a second copy of what was seen. Either is judged by the evidence
//! that there is: timestamps, SACK blocks, DSACKs, and how soon an answer can come at all. Each state is bounded,
//! whatever the file says; see the constants.

mod acks;
mod data;

use crate::fates::Fates;
use crate::packet::TappedPacket;
use crate::piece::{Piece, Settled, Stamp};
use crate::ranges::Ranges;
use crate::rate::Meter;
use crate::rtt::{Echoes, RoundTrips};
use crate::weighted_bins::WeightedBins;
use airtcp_wire::{Dur, Ecn, Seq, Time};
use std::collections::{BTreeMap, VecDeque};

/// Pieces under way that are remembered: more than a window of 256 MB.
const MOST_PIECES: usize = 1 << 18;
/// Acknowledged pieces of which a DSACK may still tell.
const MOST_SETTLED: usize = 1 << 12;
/// A longer hole is a gap in the capture, in packets.
const LONGEST_HOLE: u64 = 1 << 14;
/// Pieces that one packet or DSACK can concern.
const MOST_TOUCHED: usize = 64;
/// Late packets whose lateness is kept.
const MOST_LATE: usize = 1 << 16;
/// Where delivery reached, and when.
const MOST_REACHES: usize = 1 << 16;

/// What is known of the connection before its packets are looked at one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Payload of a full packet in bytes: longer segments are cut into such, as the network card does.
    pub payload_max: u32,
    /// From the tap to the sender of the data and back, and to their receiver, if the handshake told it.
    pub to_sender: Option<Dur>,
    pub to_receiver: Option<Dur>,
}

/// Counts of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// With data, retransmissions included, as they crossed the wire.
    pub data_packets: u64,
    /// Their IP packets' bytes.
    pub data_bytes: u64,
    pub payload_bytes: u64,
    pub retransmissions: u64,
    /// Retransmissions of what had arrived.
    pub spurious: u64,
    /// Retransmissions that a timer has caused, by the silence before them.
    pub timeouts: u64,
    /// Packets that arrived after one that was sent later.
    pub late: u64,
    /// Acknowledged, but never seen: the capture has missed them.
    pub missed: u64,
    /// Captured twice.
    pub duplicates: u64,
    /// Segments that were longer than a packet can be.
    pub merged: u64,
    pub ce_marks: u64,
    pub acks: u64,
    pub ack_bytes: u64,
    pub dsacks: u64,
    /// Carried SACK blocks.
    pub sacks: u64,
}

/// The state of one direction.
#[derive(Clone, Debug)]
pub struct Transfer {
    terms: Terms,
    pub counts: Counts,
    /// The sequence number of stream position 0.
    base: Option<Seq>,
    una: u64,
    snd_max: u64,
    fin: Option<u64>,
    pieces: BTreeMap<u64, Piece>,
    sacked: Ranges,
    /// The end of what is known to be delivered, each time it grew.
    reached: VecDeque<(u64, Time)>,
    settled: BTreeMap<u64, (u64, Settled, Option<Late>)>,
    duplicate_acks: u32,
    first_duplicate: Time,
    last_ack: Option<(u64, u16)>,
    last_advance: Time,
    last_retransmission: Option<Time>,
    last_data: Option<Stamp>,
    echoes: Echoes,
    pub fates: Fates,
    /// Data there, acknowledgment back.
    pub to_receiver: RoundTrips,
    /// Acknowledgment there, data back.
    pub to_sender: RoundTrips,
    /// Data as the tap saw it.
    pub seen: Meter,
    /// Data as it was acknowledged.
    pub acknowledged: Meter,
    /// Nanoseconds from one data packet to the next.
    pub gaps: WeightedBins,
    pub late_by: Vec<Dur>,
}

/// A hole that a retransmission filled; its original may still come.
#[derive(Clone, Copy, Debug)]
struct Late {
    hole: crate::piece::Hole,
    filled_by: Stamp,
}

impl Transfer {
    pub fn new(terms: Terms) -> Transfer {
        Transfer {
            terms,
            counts: Counts::default(),
            base: None,
            una: 0,
            snd_max: 0,
            fin: None,
            pieces: BTreeMap::new(),
            sacked: Ranges::default(),
            reached: VecDeque::new(),
            settled: BTreeMap::new(),
            duplicate_acks: 0,
            first_duplicate: Time::ZERO,
            last_ack: None,
            last_advance: Time::ZERO,
            last_retransmission: None,
            last_data: None,
            echoes: Echoes::default(),
            fates: Fates::default(),
            to_receiver: RoundTrips::new(terms.to_receiver),
            to_sender: RoundTrips::new(terms.to_sender),
            seen: Meter::default(),
            acknowledged: Meter::default(),
            gaps: WeightedBins::default(),
            late_by: Vec::new(),
        }
    }

    /// A packet of the data's sender.
    pub fn on_data(&mut self, packet: &TappedPacket) {
        if let Some(stamps) = packet.segment.timestamps
            && packet.segment.len > 0
            && let Some(sent) = self.echoes.on_echo(stamps.echo)
        {
            self.to_sender.push(sent, packet.time.since(sent));
        }
        self.handle_data(packet);
        while self.pieces.len() > MOST_PIECES {
            let Some((_, piece)) = self.pieces.pop_first() else { return };
            self.una = self.una.max(piece.end);
        }
    }

    /// A packet of the data's receiver.
    pub fn on_ack(&mut self, packet: &TappedPacket) {
        if let Some(stamps) = packet.segment.timestamps {
            self.echoes.on_value(packet.time, stamps.value);
        }
        self.handle_ack(packet);
    }

    /// Was anything acknowledged?
    pub fn is_acknowledged(&self) -> bool {
        self.last_ack.is_some()
    }

    /// The stream position of a sequence number.
    fn position(&self, seq: Seq) -> Option<u64> {
        seq.offset(self.base?, self.snd_max)
    }

    /// Packets in this many bytes.
    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.terms.payload_max))
    }

    fn on_late(&mut self, by: Dur) {
        self.counts.late += 1;
        if self.late_by.len() < MOST_LATE {
            self.late_by.push(by);
        }
    }

    fn count_marks(&mut self, ecn: Ecn) {
        self.counts.ce_marks += u64::from(ecn == Ecn::Ce);
    }

    /// Remembers an acknowledged piece as long as a DSACK or a late original may tell more of it.
    fn remember(&mut self, start: u64, piece: &Piece, settled: Settled) {
        let late =
            piece.hole.zip(piece.copies.first()).map(|(hole, copy)| Late { hole, filled_by: copy.stamp });
        self.settled.insert(start, (piece.end, settled, late));
        if self.settled.len() > MOST_SETTLED {
            self.settled.pop_first();
        }
    }
}
