//! The acknowledgment that a segment carries.

use super::Connection;
use crate::tcp::sender::AckIn;
use airtcp_wire::{Flags, Header, SackBlocks, Segment, Seq, Time};

impl Connection {
    pub(super) fn ack_position(&self, segment: &Segment) -> Option<u64> {
        segment.ack.offset(self.iss, self.sender.una())
    }

    #[inline]
    pub(super) fn take_ack(&mut self, now: Time, segment: &Header, sack: &SackBlocks, ack: u64) {
        let window = match segment.flags().contains(Flags::SYN) {
            true => self.negotiated.window_of_syn(segment.window),
            false => self.negotiated.window(segment.window),
        };
        match self.sender_mut().is_idle_at(ack) {
            true => self.sender_mut().update_window(ack, window, segment.seq),
            false => self.take_news(now, segment, sack, ack, window),
        }
    }

    #[inline(never)]
    fn take_news(&mut self, now: Time, segment: &Header, sack: &SackBlocks, ack: u64, window: u64) {
        let mut blocks = [(0, 0); 4];
        let (count, dsack) = self.sack_blocks(segment.ack, sack, ack, &mut blocks);
        let dsack = dsack.filter(|_| !self.sender_mut().explains_duplicate());
        let flags = segment.flags();
        let ack_in = AckIn {
            dsack,
            has_payload: segment.seq_len() > 0,
            ece: self.negotiated.ecn && flags.contains(Flags::ECE) && !flags.contains(Flags::SYN),
            eln: flags.contains(Flags::ELN) && self.rules.config.eln,
            ..self.plain_ack(segment, &blocks[..count], ack, window)
        };
        self.sender_mut().handle_ack(now, &ack_in);
    }

    /// [`take_news`](Connection::take_news) for an ACK between SND.UNA and SND.NXT that has neither text nor other flags.
    #[inline(always)]
    pub(super) fn take_plain_news(
        &mut self,
        now: Time,
        segment: &Header,
        sack: &SackBlocks,
        ack: u64,
        window: u64,
    ) {
        let mut blocks = [(0, 0); 4];
        let (count, dsack) = self.sack_blocks(segment.ack, sack, ack, &mut blocks);
        let ack_in = AckIn { dsack, ..self.plain_ack(segment, &blocks[..count], ack, window) };
        let sender = self.sender_mut();
        match ack == sender.core.una() {
            true => sender.take_ack::<false>(now, &ack_in),
            false => sender.take_ack::<true>(now, &ack_in),
        }
    }

    #[inline(always)]
    fn plain_ack<'a>(&self, segment: &Header, blocks: &'a [(u64, u64)], ack: u64, window: u64) -> AckIn<'a> {
        let timestamps = segment.timestamps().filter(|_| self.negotiated.timestamps);
        AckIn {
            ack,
            blocks,
            dsack: None,
            window,
            seq: segment.seq,
            has_payload: false,
            ece: false,
            eln: false,
            echo: timestamps.map(|ts| ts.echo),
            peer_timestamp: timestamps.map(|ts| ts.value),
        }
    }

    /// Writes the SACK blocks that may be news to `blocks`, as positions. Returns their number, and the first block's range
    /// if that is a DSACK. The segment acknowledges `seq`, which is the position `ack`.
    #[inline(always)]
    fn sack_blocks(
        &mut self,
        seq: Seq,
        sack: &SackBlocks,
        ack: u64,
        blocks: &mut [(u64, u64); 4],
    ) -> (usize, Option<(u64, u64)>) {
        if sack.is_empty() || !self.sender_mut().core.has_sack() {
            return (0, None);
        }
        match self.sender_mut().core.board.grown_block(ack, sack) {
            // The last ACK's first block was no DSACK. Now that it has grown, it is none either.
            Some(grown) => (self.positions(seq, &[grown], ack, blocks), None),
            None => self.other_blocks(seq, sack, ack, blocks),
        }
    }

    #[inline(never)]
    fn other_blocks(
        &mut self,
        seq: Seq,
        sack: &SackBlocks,
        ack: u64,
        blocks: &mut [(u64, u64); 4],
    ) -> (usize, Option<(u64, u64)>) {
        let ranges = sack.as_slice();
        let dsack = self.duplicate(seq, ranges);
        let count = self.positions(seq, &ranges[usize::from(dsack.is_some())..], ack, blocks);
        let is_all = count == ranges.len();
        self.sender_mut().core.board.note_told(ack, is_all.then_some(sack));
        (count, dsack)
    }

    /// Writes those ranges to `blocks` that can be true, because they lie between the ACK and SND.NXT. Returns how many.
    #[inline(always)]
    fn positions(&self, seq: Seq, ranges: &[(Seq, Seq)], ack: u64, blocks: &mut [(u64, u64); 4]) -> usize {
        let outstanding = self.sender.nxt().saturating_sub(ack);
        let mut count = 0;
        for &(left, right) in ranges {
            let (left, right) = (left.distance(seq), right.distance(seq));
            if 0 <= left && left < right && right as u64 <= outstanding {
                blocks[count] = (ack + left as u64, ack + right as u64);
                count += 1;
            }
        }
        count
    }

    /// RFC 2883 §4: the first block reports a duplicate if it lies below the ACK or inside the second block.
    #[inline]
    fn duplicate(&self, ack: Seq, ranges: &[(Seq, Seq)]) -> Option<(u64, u64)> {
        let &(left, right) = ranges.first()?;
        let is_inside = |&(l, r): &(Seq, Seq)| l.distance(left) <= 0 && right.distance(r) <= 0;
        if right.distance(ack) > 0 && !ranges.get(1).is_some_and(is_inside) {
            return None;
        }
        let near = self.sender.una();
        Some((left.offset(self.iss, near)?, right.offset(self.iss, near)?))
    }
}
