//! The acknowledgment that a segment carries.

use super::Connection;
use crate::tcp::sender::AckIn;
use airtcp_wire::{Flags, Header, SackBlocks, Segment, Seq, Time};

impl Connection {
    pub(super) fn ack_position(&self, segment: &Segment) -> Option<u64> {
        segment.ack.offset(self.iss, self.sender.core.una())
    }

    #[inline]
    pub(super) fn take_ack(&mut self, now: Time, segment: &Header, sack: &SackBlocks, ack: u64) {
        let shift = if segment.flags().contains(Flags::SYN) { 0 } else { self.negotiated.peer_window_shift };
        let window = u64::from(segment.window) << shift;
        match self.sender.is_idle_at(ack) {
            true => self.sender.update_window(ack, window, segment.seq),
            false => self.take_news(now, segment, sack, ack, window),
        }
    }

    #[inline(never)]
    fn take_news(&mut self, now: Time, segment: &Header, sack: &SackBlocks, ack: u64, window: u64) {
        let timestamps = segment.timestamps().filter(|_| self.negotiated.timestamps);
        let mut blocks = [(0, 0); 4];
        let (mut count, mut dsack) = (0, None);
        if !sack.is_empty() && self.sender.core.has_sack() {
            (count, dsack) = self.sack_blocks(segment.ack, sack.as_slice(), ack, &mut blocks);
        }
        self.sender.handle_ack(
            now,
            &AckIn {
                ack,
                blocks: &blocks[..count],
                dsack,
                window,
                seq: segment.seq,
                has_payload: segment.seq_len() > 0,
                ece: self.negotiated.ecn
                    && segment.flags().contains(Flags::ECE)
                    && !segment.flags().contains(Flags::SYN),
                eln: segment.flags().contains(Flags::ELN) && self.rules.config.eln,
                echo: timestamps.map(|ts| ts.echo),
                peer_timestamp: timestamps.map(|ts| ts.value),
            },
        );
    }

    /// The blocks above the ACK, which stands at `ack` and has the number `seq`, as positions; and the first one, if it reports a duplicate.
    #[inline]
    fn sack_blocks(
        &self,
        seq: Seq,
        ranges: &[(Seq, Seq)],
        ack: u64,
        blocks: &mut [(u64, u64); 4],
    ) -> (usize, Option<(u64, u64)>) {
        let dsack = self.duplicate(seq, ranges);
        let outstanding = self.sender.core.nxt().saturating_sub(ack);
        let mut count = 0;
        for &(left, right) in &ranges[usize::from(dsack.is_some())..] {
            let (left, right) = (left.distance(seq), right.distance(seq));
            if 0 <= left && left < right && right as u64 <= outstanding {
                blocks[count] = (ack + left as u64, ack + right as u64);
                count += 1;
            }
        }
        (count, dsack)
    }

    /// RFC 2883 §4: the first block reports a duplicate if it lies below the ACK or inside the second block.
    #[inline]
    fn duplicate(&self, ack: Seq, ranges: &[(Seq, Seq)]) -> Option<(u64, u64)> {
        let &(left, right) = ranges.first()?;
        let is_inside = |&(l, r): &(Seq, Seq)| l.distance(left) <= 0 && right.distance(r) <= 0;
        if right.distance(ack) > 0 && !ranges.get(1).is_some_and(is_inside) {
            return None;
        }
        let near = self.sender.core.una();
        Some((left.offset(self.iss, near)?, right.offset(self.iss, near)?))
    }
}
