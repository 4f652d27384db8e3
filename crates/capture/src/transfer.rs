//! One direction of a connection: data one way, acknowledgments the other.
//!
//! The tap may stand anywhere. A loss before the tap shows as a hole in the stream that a later packet fills; a loss
//! behind it shows as a second copy of data already seen. Both are judged by the evidence at hand: timestamps, SACK
//! blocks, DSACKs, and how soon an answer is possible. Whatever the file contains, all state is bounded by the
//! constants below.

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

/// Limit on the pieces in flight: more than a window of 256 MB.
const MOST_PIECES: usize = 1 << 18;
/// Limit on the acknowledged pieces that await a DSACK.
const MOST_SETTLED: usize = 1 << 12;
/// A smaller payload of full packets is implausible: the defaults of RFC 879 and RFC 8200 §5 are larger.
const LEAST_PAYLOAD: u32 = 64;
/// A longer hole, in packets, is a gap in the capture.
const LONGEST_HOLE: u64 = 1 << 14;
/// Limit on the pieces that one packet or DSACK affects.
const MOST_TOUCHED: usize = 64;
/// Limit on the late packets whose lateness is kept.
const MOST_LATE: usize = 1 << 16;
/// Limit on the records of delivery progress.
const MOST_REACHES: usize = 1 << 16;

/// What is known of the connection before its packets are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Bytes of options and payload in a full packet. Longer segments are split as the network card would.
    pub mss: u32,
    /// Both ends allow selective acknowledgments, by the handshake.
    pub sack: bool,
    /// Round trips from the tap to the data's sender and receiver, if the handshake showed them.
    pub to_sender: Option<Dur>,
    pub to_receiver: Option<Dur>,
}

/// Counts of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets with data as they crossed the wire, retransmissions included.
    pub data_packets: u64,
    /// Bytes of these IP packets.
    pub data_bytes: u64,
    pub payload_bytes: u64,
    pub retransmissions: u64,
    /// Retransmissions of data that had arrived.
    pub spurious: u64,
    /// Retransmissions by timeout, inferred from the silence before them.
    pub timeouts: u64,
    /// Packets that arrived after a packet sent later.
    pub late: u64,
    /// Packets acknowledged but not captured.
    pub missed: u64,
    /// Packets that the tap saw again.
    pub duplicates: u64,
    /// Segments longer than any packet on the wire: merged by offload.
    pub merged: u64,
    pub ce_marks: u64,
    pub acks: u64,
    pub ack_bytes: u64,
    pub dsacks: u64,
    /// Acknowledgments with SACK blocks.
    pub sacks: u64,
}

/// The state of one direction.
#[derive(Clone, Debug)]
pub struct Transfer {
    terms: Terms,
    /// Payload of a full packet with the options of the last one, in bytes.
    payload_max: u32,
    pub counts: Counts,
    /// The sequence number of stream position 0.
    base: Option<Seq>,
    una: u64,
    snd_max: u64,
    fin: Option<u64>,
    pieces: BTreeMap<u64, Piece>,
    sacked: Ranges,
    /// The end of the data known to be delivered, and when, each time it advanced.
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
    /// Tap to receiver: data out, acknowledgment back.
    pub to_receiver: RoundTrips,
    /// Tap to sender: acknowledgment out, data back.
    pub to_sender: RoundTrips,
    /// Data as the tap saw it.
    pub seen: Meter,
    /// Data as it was acknowledged.
    pub acknowledged: Meter,
    /// Nanoseconds from one data packet to the next.
    pub gaps: WeightedBins,
    pub late_by: Vec<Dur>,
}

/// A hole filled by a retransmission, whose original may still arrive.
#[derive(Clone, Copy, Debug)]
struct Late {
    hole: crate::piece::Hole,
    filled_by: Stamp,
}

impl Transfer {
    pub fn new(terms: Terms) -> Transfer {
        Transfer {
            terms,
            payload_max: terms.mss.max(LEAST_PAYLOAD),
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

    /// Handles a packet from the data's sender.
    pub fn on_data(&mut self, packet: &TappedPacket) {
        if let Some(stamps) = packet.segment.timestamps
            && packet.segment.len > 0
            && let Some(sent) = self.echoes.on_echo(stamps.echo)
        {
            let payload = packet.segment.len.min(self.payload_max);
            self.to_sender.push(sent, packet.time.since(sent), u64::from(payload));
        }
        self.handle_data(packet);
        while self.pieces.len() > MOST_PIECES {
            let Some((_, mut piece)) = self.pieces.pop_first() else { return };
            piece.settle_unacknowledged(&mut self.fates);
            self.una = self.una.max(piece.end);
        }
    }

    /// Handles a packet from the data's receiver.
    pub fn on_ack(&mut self, packet: &TappedPacket) {
        if let Some(stamps) = packet.segment.timestamps {
            self.echoes.on_value(packet.time, stamps.value);
        }
        self.handle_ack(packet);
    }

    /// Settles at the end of the file what it can settle.
    #[must_use]
    pub fn finished(mut self) -> Transfer {
        if !self.is_acknowledged() {
            self.pieces.values_mut().for_each(|piece| piece.settle_unacknowledged(&mut self.fates));
        }
        self
    }

    /// Returns whether any data was acknowledged.
    pub fn is_acknowledged(&self) -> bool {
        self.last_ack.is_some()
    }

    /// Returns the stream position of a sequence number.
    fn position(&self, seq: Seq) -> Option<u64> {
        seq.offset(self.base?, self.snd_max)
    }

    /// Returns the number of packets that carry `bytes`.
    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.payload_max))
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

    /// Keeps an acknowledged piece while a DSACK or a late original may still correct it.
    fn remember(&mut self, start: u64, piece: &Piece, settled: Settled) {
        let late =
            piece.hole.zip(piece.copies.first()).map(|(hole, copy)| Late { hole, filled_by: copy.stamp });
        self.settled.insert(start, (piece.end, settled, late));
        if self.settled.len() > MOST_SETTLED {
            self.settled.pop_first();
        }
    }
}
