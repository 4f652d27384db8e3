//! Packets with data: new, retransmitted or late.

use super::{LEAST_PAYLOAD, LONGEST_HOLE, MOST_TOUCHED, Transfer};
use crate::fates::Fate;
use crate::packet::TappedPacket;
use crate::piece::{Copy, Hole, Piece, Stamp};
use airtcp_wire::{Dur, Flags};
use smallvec::SmallVec;
use std::ops::Range;

/// State of a part of a range, by what the tap has seen.
enum Part {
    Unseen(Hole),
    Seen,
}

impl Transfer {
    pub(super) fn handle_data(&mut self, packet: &TappedPacket) {
        let segment = &packet.segment;
        let first = segment.seq.at(u64::from(segment.flags.contains(Flags::SYN)));
        if self.base.is_none() && (segment.len > 0 || segment.flags.contains(Flags::SYN)) {
            self.base = Some(first);
        }
        let Some(start) = self.position(first) else { return };
        let end = start + u64::from(segment.len);
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(end);
        }
        // RFC 9293 §3.8.4: a keep-alive repeats one byte at most.
        if segment.len == 0 || segment.len == 1 && end <= self.una {
            return;
        }
        let stamp = Stamp::of(packet);
        if let Some(last) = self.last_data.replace(stamp) {
            self.gaps.add(packet.time.since(last.time).0, 1.0);
        }
        self.count_marks(packet.ecn);
        self.seen.on_bytes(packet.time, u64::from(packet.bytes));
        let headers = packet.bytes - segment.len;
        self.payload_max = self.terms.mss.saturating_sub(u32::from(packet.options.len)).max(LEAST_PAYLOAD);
        let payload_max = u64::from(self.payload_max);
        self.counts.merged += u64::from(u64::from(segment.len) > payload_max);
        let mut at = start;
        while at < end {
            let next = end.min(at + payload_max);
            self.on_packet(at..next, stamp, headers);
            at = next;
        }
    }

    /// Handles one packet as it crossed the wire.
    fn on_packet(&mut self, range: Range<u64>, stamp: Stamp, headers: u32) {
        let payload = range.end - range.start;
        self.counts.data_packets += 1;
        self.counts.data_bytes += payload + u64::from(headers);
        self.counts.payload_bytes += payload;
        if range.start < self.snd_max {
            self.on_old(range.start..range.end.min(self.snd_max), stamp, headers);
        }
        let start = range.start.max(self.snd_max);
        if start < range.end {
            if start > self.snd_max {
                self.open_hole(start, stamp);
            }
            let slot = self.fates.open(1, stamp.time);
            self.pieces.insert(start, Piece::seen(range.end, headers, Copy { stamp, slot }, None));
            self.snd_max = range.end;
        }
    }

    /// Opens a hole from the highest data seen to `end`.
    pub(super) fn open_hole(&mut self, end: u64, revealed_by: Stamp) {
        let packets = self.packets(end - self.snd_max);
        if packets > LONGEST_HOLE {
            self.counts.missed += packets;
            self.pieces.clear();
            self.una = end;
        } else {
            let hole = Hole { slot: self.fates.open(packets, revealed_by.time), revealed_by };
            self.pieces.insert(self.snd_max, Piece::unseen(end, hole));
        }
        self.snd_max = end;
    }

    /// Handles a packet below the highest data seen.
    fn on_old(&mut self, range: Range<u64>, stamp: Stamp, headers: u32) {
        let parts = self.parts(&range);
        let hole = parts.iter().find_map(|(_, part)| match part {
            Part::Unseen(hole) => Some(*hole),
            Part::Seen => None,
        });
        match hole {
            Some(hole) if self.is_original(&hole, &stamp) => {
                self.on_late(stamp.time.since(hole.revealed_by.time));
                self.fill(&parts, Copy { stamp, slot: hole.slot }, headers, true);
            }
            _ => self.on_retransmission(&range, &parts, stamp, headers),
        }
    }

    fn on_retransmission(
        &mut self,
        range: &Range<u64>,
        parts: &[(Range<u64>, Part)],
        stamp: Stamp,
        headers: u32,
    ) {
        if self.is_late_original(range.start, &stamp) {
            return;
        }
        self.counts.retransmissions += 1;
        self.counts.timeouts += u64::from(self.is_timeout(range.start, &stamp));
        self.last_retransmission = Some(stamp.time);
        let copy = Copy { stamp, slot: self.fates.open(1, stamp.time) };
        let news = self.fill(parts, copy, headers, false);
        if !news {
            self.counts.spurious += 1;
            self.fates.set(copy.slot, Fate::Arrived);
            let entry = self.settled.entry(range.start).or_insert_with(|| (range.end, <_>::default(), None));
            entry.1.in_vain += 1;
        }
    }

    /// Assigns `copy` to the parts that it covers; returns whether it brought unacknowledged data.
    fn fill(&mut self, parts: &[(Range<u64>, Part)], copy: Copy, headers: u32, is_original: bool) -> bool {
        let mut news = false;
        for (range, part) in parts {
            match part {
                Part::Unseen(hole) => {
                    news = true;
                    self.fill_hole(range, hole, copy, headers, is_original);
                }
                Part::Seen => {
                    let Some(piece) = self.pieces.get_mut(&range.start) else { continue };
                    if piece.settled.is_none() {
                        news = true;
                        piece.add(copy);
                    }
                }
            }
        }
        news
    }

    /// Splits the hole around `range` and puts a seen piece there.
    fn fill_hole(&mut self, range: &Range<u64>, hole: &Hole, copy: Copy, headers: u32, is_original: bool) {
        let packets = self.packets(range.end - range.start);
        if !is_original {
            self.fates.set_all(hole.slot, packets, Fate::LostBefore);
        }
        let copy = if is_original { Copy { slot: hole.slot, ..copy } } else { copy };
        let Some((&start, whole)) = self.pieces.range_mut(..=range.start).next_back() else { return };
        let end = whole.end;
        if start < range.start {
            whole.end = range.start;
        }
        self.pieces.insert(range.start, Piece::seen(range.end, headers, copy, Some(*hole)));
        if range.end < end {
            let rest = Hole { slot: hole.slot.plus(packets), ..*hole };
            self.pieces.insert(range.end, Piece::unseen(end, rest));
        }
    }

    /// Returns the parts that `range` touches, above SND.UNA: seen pieces whole, holes cut to the range.
    fn parts(&self, range: &Range<u64>) -> SmallVec<[(Range<u64>, Part); 2]> {
        let before =
            self.pieces.range(..=range.start).next_back().filter(|(_, piece)| piece.end > range.start);
        let within = self.pieces.range(range.start + 1..range.end.max(range.start + 1));
        let touched = before.into_iter().chain(within).take(MOST_TOUCHED);
        touched
            .map(|(&start, piece)| match piece.hole {
                Some(hole) if piece.copies.is_empty() => {
                    let cut = range.start.max(start)..range.end.min(piece.end);
                    let slot = hole.slot.plus((cut.start - start) / u64::from(self.payload_max));
                    (cut, Part::Unseen(Hole { slot, ..hole }))
                }
                _ => (start..piece.end, Part::Seen),
            })
            .collect()
    }

    /// Returns whether this packet is the missing original, late, and not a retransmission.
    ///
    /// The sender's clock decides if it ticked in between; otherwise a retransmission cannot come before news of the
    /// hole can have reached the sender.
    fn is_original(&self, hole: &Hole, stamp: &Stamp) -> bool {
        const SOON: Dur = Dur::from_millis(3);
        let elapsed = stamp.time.since(hole.revealed_by.time);
        let could_be_sent_again = self.to_sender.min.map_or(SOON, |rtt| rtt.mul_f64(0.9));
        match (stamp.value, stamp.is_older(&hole.revealed_by)) {
            (_, Some(is_older)) => is_older,
            // No tick of the clock between the two: they left together.
            (Some(_), None) if hole.revealed_by.value.is_some() => true,
            _ => elapsed < could_be_sent_again,
        }
    }

    /// Returns whether this is the original of data that a retransmission already brought. The retransmission was
    /// then spurious.
    fn is_late_original(&mut self, start: u64, stamp: &Stamp) -> bool {
        let known = match self.pieces.get(&start) {
            Some(piece) => piece.hole.zip(piece.copies.first().map(|copy| copy.stamp)),
            None => {
                self.settled.get(&start).and_then(|(_, _, late)| late.map(|late| (late.hole, late.filled_by)))
            }
        };
        let Some((hole, filled_by)) = known else { return false };
        if stamp.is_older(&filled_by) != Some(true) {
            return false;
        }
        self.fates.set(hole.slot, Fate::Arrived);
        self.counts.spurious += 1;
        self.on_late(stamp.time.since(hole.revealed_by.time));
        if let Some((_, settled, _)) = self.settled.get_mut(&start) {
            settled.in_vain += 1;
        }
        true
    }

    /// Returns whether a timeout caused this retransmission: it repeats the oldest data, and an RTO has passed, less
    /// a margin for the difference between the sender's estimate and ours.
    fn is_timeout(&self, start: u64, stamp: &Stamp) -> bool {
        let Some((&oldest, piece)) = self.pieces.first_key_value() else { return false };
        let last_sent = piece.copies.last().map(|copy| copy.stamp.time);
        let revealed = piece.hole.map(|hole| hole.revealed_by.time);
        let since = last_sent.or(revealed).into_iter().chain([self.last_advance]).max().unwrap_or_default();
        let trips = [&self.to_receiver, &self.to_sender];
        let srtt = trips.iter().filter_map(|trip| trip.srtt()).fold(Dur::ZERO, |sum, srtt| sum + srtt);
        let margin = trips.iter().map(|trip| trip.margin()).min().unwrap_or_default();
        start <= oldest && stamp.time.since(since) >= (srtt + margin).mul_f64(0.9)
    }
}
