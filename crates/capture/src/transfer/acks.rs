//! Acknowledgments: what they report of packets that the tap saw, and of those that it did not.

use super::{MOST_REACHES, MOST_TOUCHED, Transfer};
use crate::fates::Fate;
use crate::packet::TappedPacket;
use crate::piece::{Settled, Stamp};
use airtcp_wire::{Flags, Segment, Time};
use smallvec::SmallVec;
use std::ops::Range;

/// What one acknowledgment newly delivered.
#[derive(Default)]
struct News {
    /// Bytes of IP packets.
    bytes: u64,
    /// When the latest packet certain to be answered was sent, and its payload.
    youngest: Option<(Time, u64)>,
}

impl Transfer {
    pub(super) fn handle_ack(&mut self, packet: &TappedPacket) {
        let (now, segment) = (packet.time, &packet.segment);
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) {
            return;
        }
        let Some(ack) = self.position(segment.ack) else { return };
        if segment.len == 0 {
            self.counts.acks += 1;
            self.counts.ack_bytes += u64::from(packet.bytes);
        }
        // A FIN occupies a sequence number but no byte of the stream.
        let ack = if self.fin.is_some_and(|fin| ack == fin + 1) { ack - 1 } else { ack };
        if ack > self.snd_max {
            self.open_hole(ack, Stamp::of(packet));
        }
        let was_held_up = self.is_held_up();
        let mut news = News::default();
        let is_duplicate = self.note_duplicate(ack, packet);
        self.advance(ack, now, segment, &mut news);
        let dsack = self.take_sacks(ack, now, segment, &mut news);
        if let Some(range) = dsack {
            self.on_dsack(range);
        }
        if !is_duplicate && ack > 0 {
            self.last_ack = Some((ack, segment.window));
        }
        self.take_samples(now, &news, was_held_up);
    }

    fn take_samples(&mut self, now: Time, news: &News, was_held_up: bool) {
        if was_held_up {
            self.acknowledged.interrupt();
        }
        if news.bytes > 0 {
            self.acknowledged.on_bytes(now, news.bytes);
        }
        // Without SACK, data behind a hole arrived long before its acknowledgment.
        if let Some((sent, payload)) = news.youngest.filter(|_| !was_held_up) {
            self.to_receiver.push(sent, now.since(sent), payload);
        }
    }

    /// Returns whether cumulative acknowledgments wait for a hole while no SACK block shows what arrives behind it.
    fn is_held_up(&self) -> bool {
        self.duplicate_acks > 0 && self.counts.sacks == 0
    }

    /// Counts a duplicate acknowledgment (RFC 5681 §2).
    fn note_duplicate(&mut self, ack: u64, packet: &TappedPacket) -> bool {
        let is_duplicate = packet.segment.len == 0
            && !self.pieces.is_empty()
            && packet.segment.flags.0 & (Flags::SYN | Flags::FIN).0 == 0
            && self.last_ack == Some((ack, packet.segment.window));
        if is_duplicate && self.may_tell_of_a_hole(packet) {
            if self.duplicate_acks == 0 {
                self.first_duplicate = packet.time;
            }
            self.duplicate_acks = self.duplicate_acks.saturating_add(1);
        }
        is_duplicate
    }

    /// Returns whether a duplicate acknowledgment without SACK blocks may be due to data out of order. With SACK, such
    /// data would be in a block (RFC 2018 §4), and options of Multipath TCP are reason enough for an acknowledgment.
    fn may_tell_of_a_hole(&self, packet: &TappedPacket) -> bool {
        !packet.options.multipath && (!self.terms.sack || packet.options.are_cut)
    }

    /// Handles the cumulative acknowledgment.
    fn advance(&mut self, ack: u64, now: Time, segment: &Segment, news: &mut News) {
        if ack <= self.una {
            return;
        }
        self.note_late_without_sack(now);
        let edge = self.una;
        while let Some((&start, piece)) = self.pieces.first_key_value() {
            if piece.end > ack {
                break;
            }
            // RFC 7323 §4.3: the echo is of the segment that moved the left edge.
            let echo = segment.timestamps.filter(|_| start == edge).map(|stamps| stamps.echo);
            self.deliver(start, now, echo, news);
            let Some(piece) = self.pieces.remove(&start) else { break };
            if piece.is_eventful() {
                let settled = piece.settled.clone().unwrap_or_default();
                self.remember(start, &piece, settled);
            }
        }
        self.una = ack;
        self.last_advance = now;
        self.duplicate_acks = 0;
        self.sacked.forget_below(ack);
        self.reach(ack, now);
    }

    /// Without SACK, a late packet shows as duplicate acknowledgments until the hole closes without a retransmission.
    fn note_late_without_sack(&mut self, now: Time) {
        let is_calm = self
            .last_retransmission
            .is_none_or(|last| now.since(last) > self.to_receiver.srtt().unwrap_or_default() * 2);
        let is_original = self
            .pieces
            .first_key_value()
            .is_some_and(|(_, piece)| piece.copies.len() == 1 && piece.hole.is_none());
        if self.is_held_up() && is_calm && is_original {
            self.on_late(now.since(self.first_duplicate));
        }
    }

    /// Handles the SACK blocks (RFC 2018 §3) and returns the range of a DSACK (RFC 2883 §4).
    fn take_sacks(&mut self, ack: u64, now: Time, segment: &Segment, news: &mut News) -> Option<Range<u64>> {
        let blocks: SmallVec<[Range<u64>; 4]> = segment
            .sack
            .as_slice()
            .iter()
            .filter_map(|&(left, right)| Some(self.position(left)?..self.position(right)?))
            .filter(|block| block.start < block.end && block.end <= self.snd_max)
            .collect();
        let (first, others) = blocks.split_first()?;
        self.counts.sacks += 1;
        let within = |outer: &Range<u64>| outer.start <= first.start && first.end <= outer.end;
        let is_dsack = first.end <= ack || others.first().is_some_and(within);
        for block in blocks.iter().filter(|block| block.end > ack) {
            for new in self.sacked.insert(block.start.max(ack)..block.end) {
                self.deliver_sacked(&new, now, news);
            }
        }
        // Not before: pieces reported by one acknowledgment have not overtaken each other.
        if let Some(end) = blocks.iter().map(|block| block.end).max() {
            self.reach(end, now);
        }
        is_dsack.then(|| first.clone())
    }

    fn deliver_sacked(&mut self, range: &Range<u64>, now: Time, news: &mut News) {
        let mut at = range.start;
        // The last piece may extend beyond what is acknowledged.
        while at < range.end
            && let Some((&start, piece)) = self.pieces.range(at..range.end).next()
        {
            at = piece.end;
            if piece.end <= range.end {
                self.deliver(start, now, None, news);
            }
        }
    }

    /// Records the arrival of the piece that starts at `start`, if it is news.
    fn deliver(&mut self, start: u64, now: Time, echo: Option<u32>, news: &mut News) {
        let min_rtt = self.to_receiver.min;
        let Some(piece) = self.pieces.get_mut(&start).filter(|piece| piece.settled.is_none()) else { return };
        if piece.copies.is_empty() {
            piece.settled = Some(Settled::default());
            let (packets, hole) = (piece.end - start, piece.hole);
            let packets = self.packets(packets);
            self.counts.missed += packets;
            if let Some(hole) = hole {
                self.fates.set_all(hole.slot, packets, Fate::Arrived);
            }
            return;
        }
        let (arrived, is_certain) = piece.arrived(now, echo, min_rtt);
        let in_vain = piece.settle(arrived, &mut self.fates);
        self.counts.spurious += u64::from(in_vain);
        news.bytes += piece.end - start + u64::from(piece.headers);
        let sent = piece.copies[arrived].stamp.time;
        if is_certain {
            news.youngest = news.youngest.max(Some((sent, piece.end - start)));
        }
        let is_original = arrived == 0 && piece.hole.is_none();
        if is_original && let Some(since) = self.overtaken(start) {
            self.on_late(now.since(since));
        }
    }

    /// Returns when data beyond `position` was first known to be delivered.
    fn overtaken(&self, position: u64) -> Option<Time> {
        let index = self.reached.partition_point(|&(reached, _)| reached <= position);
        self.reached.get(index).map(|&(_, time)| time)
    }

    /// Records that delivery is known to have reached `position`.
    fn reach(&mut self, position: u64, now: Time) {
        if self.reached.back().is_none_or(|&(reached, _)| reached < position) {
            self.reached.push_back((position, now));
        }
        while self.reached.len() > MOST_REACHES
            || self.reached.front().is_some_and(|front| front.0 <= self.una)
        {
            self.reached.pop_front();
        }
    }

    /// Handles a DSACK: `range` arrived once more than needed. Unless that was expected, a copy assumed lost did
    /// arrive, and the copy that followed it was needless.
    fn on_dsack(&mut self, range: Range<u64>) {
        self.counts.dsacks += 1;
        let Transfer { settled, pieces, .. } = self;
        let old = settled.range_mut(range.clone()).take(MOST_TOUCHED).map(|(_, (_, settled, _))| settled);
        let new = pieces.range_mut(range).take(MOST_TOUCHED).filter_map(|(_, piece)| piece.settled.as_mut());
        let mut spurious = false;
        let mut is_original = false;
        for settled in old.chain(new) {
            if settled.in_vain > 0 {
                settled.in_vain -= 1;
            } else if let Some(slot) = settled.lost.pop() {
                self.fates.set(slot, Fate::Arrived);
                spurious = true;
                is_original |= settled.lost.is_empty();
            }
        }
        self.counts.spurious += u64::from(spurious);
        // Nothing shows how late it was.
        self.counts.late += u64::from(is_original);
    }
}
