//! The acknowledgment that a segment carries.

use super::Connection;
use crate::tcp::sender::AckIn;
use airtcp_wire::{Flags, Segment, Time};

impl Connection {
    pub(super) fn ack_position(&self, segment: &Segment) -> Option<u64> {
        segment.ack.offset(self.iss, self.sender.core.una)
    }

    #[inline]
    pub(super) fn take_ack(&mut self, now: Time, segment: &Segment, ack: u64) {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.negotiated.peer_window_shift };
        let window = u64::from(segment.window) << shift;
        match self.sender.is_idle_at(ack) {
            true => self.sender.update_window(ack, window, segment.seq),
            false => self.take_news(now, segment, ack, window),
        }
    }

    #[inline(never)]
    fn take_news(&mut self, now: Time, segment: &Segment, ack: u64, window: u64) {
        let timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
        let mut blocks = [(0, 0); 4];
        let (mut count, mut dsack) = (0, None);
        if !segment.sack.is_empty() && self.sender.core.has_sack {
            (count, dsack) = self.sack_blocks(segment, ack, &mut blocks);
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
                    && segment.flags.contains(Flags::ECE)
                    && !segment.flags.contains(Flags::SYN),
                eln: segment.flags.contains(Flags::ELN) && self.rules.config.eln,
                echo: timestamps.map(|ts| ts.echo),
                peer_timestamp: timestamps.map(|ts| ts.value),
            },
        );
    }

    /// The blocks above the ACK as positions; and the first one, if it reports a duplicate (RFC 2883 §4: it lies below the
    /// ACK or inside the second block).
    fn sack_blocks(
        &self,
        segment: &Segment,
        ack: u64,
        blocks: &mut [(u64, u64); 4],
    ) -> (usize, Option<(u64, u64)>) {
        let core = &self.sender.core;
        let ranges = segment.sack.as_slice();
        let (mut count, mut dsack) = (0, None);
        for (index, &(left, right)) in ranges.iter().enumerate() {
            let (Some(left), Some(right)) = (left.offset(self.iss, ack), right.offset(self.iss, ack)) else {
                continue;
            };
            let is_inside_next = || {
                let (l, r) = *ranges.get(index + 1)?;
                Some(l.offset(self.iss, ack)? <= left && right <= r.offset(self.iss, ack)?)
            };
            if index == 0 && (right <= ack || is_inside_next().unwrap_or(false)) {
                dsack = Some((left, right));
            } else if left < right && left >= ack && right <= core.nxt {
                blocks[count] = (left, right);
                count += 1;
            }
        }
        (count, dsack)
    }
}
