//! What an ACK and a new segment do where nothing is lost, resent or held back: the general path without what would
//! come to nothing.

use super::acks::Originals;
use super::{Outgoing, Sender};
use crate::tcp::core::{AckSummary, Core};
use crate::tcp::rate::Newest;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::scoreboard::Sent;
use airtcp_wire::{Segment, Time};

impl Sender {
    /// Nothing is outstanding, nothing waits, nor was anything resent, and no timer runs.
    pub fn is_silent(&self) -> bool {
        self.core.board.is_empty()
            && self.unsent() == 0
            && self.core.stats.retransmissions == 0
            && self.rto_deadline.is_never()
            && self.persist.is_idle()
            && self.policy.deadline().is_never()
    }

    /// Nothing but new data leaves next, as the window and the pacer let it.
    pub fn sends_new(&self) -> bool {
        self.core.sends_new() && self.segment_timers.is_none() && self.persist.is_idle() && !self.is_closing
    }

    /// Under `sends_new`: each segment that is out was sent once and is in flight, and the window is the controller's.
    pub fn is_plain(&self) -> bool {
        let core = &self.core;
        core.board.is_plain() && core.is_plain() && self.policy.is_plain(core)
    }

    /// [`handle_ack`](Sender::handle_ack) of a segment without text that acknowledges new data and nothing else, under
    /// `is_plain`.
    #[inline(always)]
    pub fn handle_plain_ack(&mut self, now: Time, ack: u64, window: u64, segment: &Segment) {
        let Core { board, sampler, una, .. } = &mut self.core;
        let (prior_una, prior_in_flight) = (*una, board.in_flight());
        let delivered_before = sampler.delivered;
        let mut newest = Newest::default();
        let mut oldest_at = None;
        let mut last = None;
        board.acknowledge_plain(ack, |sent, stamps| {
            sampler.on_delivered(now, sent, stamps, &mut newest);
            oldest_at = oldest_at.or(Some(sent.sent_at));
            last = Some(*sent);
        });
        *una = ack;
        let (acked, delivered) = (ack - prior_una, sampler.delivered - delivered_before);
        self.update_window(ack, window, segment.seq);
        self.retries = 0;
        self.core.limited_sent = 0;
        self.core.dupacks = 0;
        self.core.is_corruption = false;
        let timestamps = segment.timestamps;
        let originals = Originals { oldest: oldest_at, newest: last.map(|sent| sent.sent_at) };
        let summary = AckSummary::plain(now, prior_una, acked, delivered, timestamps.map(|ts| ts.echo));
        self.last_rtt = None;
        self.sample_rtt(now, &summary, &originals);
        if let Some(last) = &last {
            self.policy.on_plain_ack(&self.core, now, last);
        }
        let rate = self.core.sampler.sample(now, &newest, self.core.rtt.min());
        let is_cwnd_limited = self.is_cwnd_limited();
        if !self.core.cc.on_plain_ack(acked.min(delivered), is_cwnd_limited) {
            self.tell_controller(&summary, timestamps.map(|ts| ts.value), prior_in_flight, false, rate);
        }
        self.restart_timer(now, true);
        if self.policy.probes() {
            self.policy.schedule_probe(&self.core, now, self.rto_deadline);
        }
    }

    /// The general path's [`poll`](Sender::poll) for a full segment of new data, under `sends_new`; `None` where something else
    /// may have to leave.
    #[inline(always)]
    pub fn poll_plain(&mut self, now: Time) -> Option<Option<Outgoing>> {
        let core = &self.core;
        let (mss, end) = (core.mss, core.nxt + core.mss);
        if core.board.is_empty() || end > self.write_end || end > self.peer_edge {
            return None;
        }
        let is_paced = self.pacer.as_ref().is_some_and(|pacer| pacer.next_departure() > now);
        if !is_paced && core.board.in_flight() + mss <= core.window() {
            let sent = Sent::new(now, end - mss, end, self.push(mss));
            self.core.stats.data_segments_sent += 1;
            return Some(Some(self.launch(now, sent, mss)));
        }
        if !is_paced {
            self.note_usage(true);
        }
        self.has_data_waiting = true;
        Some(None)
    }
}
