//! ACKs that are expected, on a connection that only sends.

use super::prediction::Prediction;
use crate::marks::{self, Mark};
use crate::tcp::connection::Connection;
use airtcp_wire::{Header, SackBlocks, Time};

impl Connection {
    /// [`handle_segment`](Connection::handle_segment) for a pure ACK with these SACK blocks on a connection that only sends.
    /// Returns whether the segment was the expected one; if not, nothing has changed.
    #[inline(always)]
    pub fn receive_ack(&mut self, now: Time, segment: &Header, sack: &SackBlocks) -> bool {
        let is_pure = segment.len == 0 && segment.is_plain(self.negotiated.timestamps);
        if !is_pure || !self.only_sends() {
            return false;
        }
        let window = self.negotiated.window(segment.window);
        let Some(sender) = self.sender.get_mut() else { return false };
        if !self.receiver.is_next(now, segment) {
            return false;
        }
        let core = &sender.core;
        let acked = segment.ack.distance(self.iss.at(core.una()));
        if acked < 0 || acked as u64 > core.flight_size() {
            return false;
        }
        self.clock = now;
        let ack = core.una() + acked as u64;
        sender.core.stats.segments_received += 1;
        let is_plain = self.prediction == Prediction::Sending
            && sack.is_empty()
            && sender.handle_plain_ack(now, ack, window, segment);
        match is_plain {
            true => marks::hit(Mark::PlainAck),
            false => self.handle_expected_news(now, *segment, sack, ack),
        }
        self.receiver.note_plain_ack(now, segment);
        true
    }

    /// Handles an expected ACK that `Sender::handle_plain_ack` cannot handle.
    #[inline(never)]
    fn handle_expected_news(&mut self, now: Time, segment: Header, sack: &SackBlocks, ack: u64) {
        self.forget_prediction();
        let window = self.negotiated.window(segment.window);
        let sender = self.sender_mut();
        if sender.is_idle_at(ack) {
            sender.forget_last_rtt();
            return sender.update_window(ack, window, segment.seq);
        }
        self.take_plain_news(now, &segment, sack, ack, window);
    }
}
