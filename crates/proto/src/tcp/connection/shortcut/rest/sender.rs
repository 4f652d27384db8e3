//! The sending half of a connection that has only received.

use crate::marks::{self, Mark};
use crate::tcp::connection::half::Half;
use crate::tcp::handshake::{Negotiated, Rules};
use crate::tcp::sender::{AckIn, Sender};
use crate::tcp::stats::{Counters, Stats};
use airtcp_wire::{Dur, Seq, Time};

impl Half<Sender, SenderAtRest> {
    /// Lets the sender rest if it has sent one SYN and nothing else. Not while its connection waits for anything but text.
    pub fn rest(&mut self, negotiated: &Negotiated) {
        if let Some(rest) = self.get().and_then(|sender| SenderAtRest::of(sender, negotiated)) {
            marks::hit(Mark::SenderRests);
            *self = Half::AtRest(rest);
        }
    }
}

/// What remains of a sender that has sent one SYN and nothing else: what receiving needs, and what it takes to make the
/// sender again. Nothing is outstanding or unsent, no timer runs, and there is no pacer.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct SenderAtRest {
    syn_sent_at: Time,
    /// How long the SYN's acknowledgment took. A sender for which it took longer than fits does not rest.
    syn_rtt_ns: u32,
    /// The largest window that the peer ever offered, and its last one (SND.WND). None is larger than 2³⁰.
    largest_window: u32,
    window: u32,
    /// SND.WL1
    window_seq: Seq,
    duplicate_segments_received: u64,
    segments_received: u64,
    acks_sent: u64,
}

impl SenderAtRest {
    /// SND.UNA and SND.NXT: only the SYN was sent.
    pub const UNA: u64 = 1;

    /// SND.UNA, and SND.NXT
    #[inline(always)]
    pub fn una(&self) -> u64 {
        SenderAtRest::UNA
    }

    /// What remains of `sender`, if it has sent one SYN and nothing else, and has nothing to send.
    fn of(sender: &Sender, negotiated: &Negotiated) -> Option<SenderAtRest> {
        if sender.core.mss() != u64::from(negotiated.mss) {
            return None;
        }
        let (syn_sent_at, syn_rtt) = sender.only_syn()?;
        let Stats { segments_received, acks_sent, duplicate_segments_received, .. } = sender.core.stats();
        let (window, largest_window, window_seq) = sender.windows();
        let resting = SenderAtRest {
            segments_received,
            acks_sent,
            duplicate_segments_received,
            syn_sent_at,
            syn_rtt_ns: syn_rtt.0.try_into().ok()?,
            window: window as u32,
            largest_window: largest_window as u32,
            window_seq,
        };
        (resting.stats() == sender.core.stats()).then_some(resting)
    }

    /// Makes the sender again, which repeats the handshake.
    #[inline(never)]
    pub fn wake(&self, rules: &Rules, negotiated: &Negotiated) -> Sender {
        let mut sender = Sender::new(rules, u64::from(rules.config.segment_payload()), false);
        sender.poll_syn(self.syn_sent_at);
        let (window, seq) = (u64::from(self.window), self.window_seq);
        let ack = AckIn { ack: SenderAtRest::UNA, window, seq, ..AckIn::default() };
        sender.handle_ack(self.syn_sent_at + Dur(self.syn_rtt_ns.into()), &ack);
        sender.note_largest_window(u64::from(self.largest_window));
        let has_sack = negotiated.sack && rules.config.reads_sack();
        sender.establish(rules, negotiated.mss.into(), has_sack);
        sender.forget_last_rtt();
        let &SenderAtRest { segments_received, acks_sent, duplicate_segments_received, .. } = self;
        sender.core.stats =
            Counters { segments_received, acks_sent, duplicate_segments_received, ..sender.core.stats };
        sender
    }

    pub fn stats(&self) -> Stats {
        let &SenderAtRest { segments_received, acks_sent, duplicate_segments_received, .. } = self;
        Stats { segments_received, acks_sent, duplicate_segments_received, ..Stats::default() }
    }

    /// A segment with text has arrived.
    #[inline(always)]
    pub fn count_text(&mut self, is_known: bool) {
        self.segments_received += 1;
        self.duplicate_segments_received += u64::from(is_known);
    }

    /// [`Sender::count_ack`]
    #[inline(always)]
    pub fn count_ack(&mut self) -> u64 {
        self.acks_sent += 1;
        SenderAtRest::UNA
    }

    /// Text arrives with this window and sequence number. [`Sender::renew_window`] for SEG.ACK and SND.UNA of 1.
    #[inline(always)]
    pub fn renew_window(&mut self, window: u64, seq: Seq) {
        let age = seq.distance(self.window_seq);
        match window == u64::from(self.window) && age > 0 {
            true => self.window_seq = seq,
            false => self.update_window(age, window as u32, seq),
        }
    }

    #[inline(never)]
    fn update_window(&mut self, age: i32, window: u32, seq: Seq) {
        if age > 0 || (age == 0 && (window > self.window || window == 0)) {
            (self.window_seq, self.window) = (seq, window);
            self.largest_window = self.largest_window.max(window);
        }
    }

    /// [`renew_window`](SenderAtRest::renew_window) if the window is known to be the one before.
    #[inline(always)]
    pub fn repeat_window(&mut self, seq: Seq) {
        self.window_seq = seq;
    }
}
