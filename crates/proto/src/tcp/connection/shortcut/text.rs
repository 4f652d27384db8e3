//! Text that is expected, on a connection that only receives.

use super::rest::SenderAtRest;
use crate::marks::{self, Mark};
use crate::tcp::connection::half::Half;
use crate::tcp::connection::{Connection, Reply};
use airtcp_wire::{Ecn, Flags, Header, SackBlocks, Time};

impl Connection {
    /// [`handle_segment`](Connection::handle_segment) for text without SACK blocks on a connection that only receives and
    /// whose application reads at once. `follows` says whether it follows such text in one burst and differs from it in its
    /// sequence number alone. Returns what is due then, with the SACK blocks of an ACK in `sack`. `None`: the connection did
    /// not expect it, and nothing has changed.
    #[inline(always)]
    pub fn receive_text(
        &mut self,
        now: Time,
        segment: &Header,
        ecn: Ecn,
        follows: bool,
        sack: &mut SackBlocks,
    ) -> Option<Reply> {
        let is_expected =
            (follows && self.handle_next_text(now, segment)) || self.handle_expected_text(now, segment, ecn);
        // A closure would not always be inlined.
        if is_expected { Some(self.read_and_answer(now, sack)) } else { None }
    }

    /// [`handle_segment`](Connection::handle_segment) for text without SACK blocks on a connection that only receives.
    /// Returns whether the segment was the expected one; if not, nothing has changed.
    #[inline(always)]
    pub(crate) fn handle_expected_text(&mut self, now: Time, segment: &Header, ecn: Ecn) -> bool {
        if segment.len == 0 || !segment.is_plain(self.negotiated.timestamps) {
            return false;
        }
        let ecn = if self.negotiated.ecn { ecn } else { Ecn::NotEct };
        let window = self.negotiated.window(segment.window);
        let (Half::AtRest(sender), Half::Awake(receiver)) = (&mut self.sender, &mut self.receiver) else {
            return self.take_text_awake(now, *segment, ecn);
        };
        if segment.ack != self.iss.at(SenderAtRest::UNA) {
            return false;
        }
        let Some(is_known) = receiver.take_text(now, segment, ecn) else { return false };
        marks::hit(Mark::ExpectedText);
        self.clock = now;
        sender.count_text(is_known);
        sender.renew_window(window, segment.seq);
        true
    }

    /// [`handle_expected_text`](Connection::handle_expected_text) while the sender does not rest. It may rest from then on.
    // The segment is passed by value, so that the fast path can keep it in registers.
    #[inline(never)]
    fn take_text_awake(&mut self, now: Time, segment: Header, ecn: Ecn) -> bool {
        let una = self.sender.una();
        if segment.ack != self.iss.at(una) || !self.only_receives() {
            return false;
        }
        let Some(is_known) = self.receiver_mut().take_text(now, &segment, ecn) else { return false };
        self.clock = now;
        let window = self.negotiated.window(segment.window);
        let sender = self.sender_mut();
        sender.core.stats.segments_received += 1;
        sender.core.stats.duplicate_segments_received += u64::from(is_known);
        sender.forget_last_rtt();
        sender.renew_window(una, window, segment.seq);
        self.sender.rest(&self.negotiated);
        true
    }

    /// [`handle_expected_text`](Connection::handle_expected_text) for text that follows such text in one burst and differs
    /// from it in its sequence number alone.
    #[inline(always)]
    pub(crate) fn handle_next_text(&mut self, now: Time, segment: &Header) -> bool {
        debug_assert!(self.prediction.receives());
        if !self.receiver_mut().take_next_text(now, segment) {
            return false;
        }
        self.clock = now;
        match &mut self.sender {
            Half::AtRest(sender) => {
                sender.count_text(false);
                sender.repeat_window(segment.seq);
            }
            Half::Awake(sender) => {
                sender.core.stats.segments_received += 1;
                sender.repeat_window(segment.seq);
            }
        }
        true
    }

    /// On a connection that [only receives](Connection::only_receives), after text: the application reads all.
    // Finds the receiver only once, as this is hot.
    #[inline(always)]
    fn read_and_answer(&mut self, now: Time, sack: &mut SackBlocks) -> Reply {
        let receiver = self.receiver.wake(&self.rules, &self.negotiated);
        receiver.read_all();
        if !receiver.acks.is_due() {
            return Reply::By(receiver.acks.deadline());
        }
        self.clock = now;
        let nxt = self.sender.count_ack();
        sack.clear();
        if receiver.has_blocks() {
            receiver.fill_sack(self.negotiated.timestamps, sack);
        }
        let mut header = Header::new(self.iss.at(nxt), Flags::ACK, self.negotiated.stamps(now));
        receiver.acknowledge(&mut header);
        Reply::Now(header)
    }
}
