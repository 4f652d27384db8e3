//! What an ACK and a new segment do where nothing is lost, resent or held back: the general path without what would
//! come to nothing.

use super::{Outgoing, Sender};
use crate::tcp::core::{AckSummary, Core};
use crate::tcp::rate::Newest;
use crate::tcp::recovery::LossRecovery;
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

    /// Each segment that is out was sent once and is in flight, and the window is the controller's.
    pub fn is_plain(&self) -> bool {
        let core = &self.core;
        core.board.is_plain()
            && core.is_plain()
            && self.policy.is_plain(core)
            && self.segment_timers.is_none()
            && self.persist.is_idle()
            && !self.is_closing
    }

    /// [`handle_ack`](Sender::handle_ack) of a segment without text that acknowledges new data and nothing else, under
    /// `is_plain`.
    #[inline]
    pub fn handle_plain_ack(&mut self, now: Time, ack: u64, window: u64, segment: &Segment) {
        let timestamps = segment.timestamps;
        let echo = timestamps.map(|ts| ts.echo);
        let Core { board, sampler, una, .. } = &mut self.core;
        let policy = &mut self.policy;
        let (prior_una, prior_in_flight) = (*una, board.in_flight());
        let delivered_before = sampler.delivered;
        let mut newest = Newest::default();
        let mut originals = super::acks::Originals::default();
        board.acknowledge(ack, |sent| {
            sampler.on_delivered(now, sent, &mut newest);
            policy.on_delivered(now, sent, echo);
            originals = originals.with(sent.sent_at);
        });
        *una = ack;
        let delivered = sampler.delivered - delivered_before;
        let summary = AckSummary::plain(now, prior_una, ack - prior_una, delivered, sampler.lost, echo);
        self.update_window(ack, window, segment.seq);
        self.retries = 0;
        self.core.limited_sent = 0;
        self.last_rtt = None;
        self.sample_rtt(now, &summary, &originals);
        self.core.dupacks = 0;
        self.core.is_corruption = false;
        self.policy.on_plain_ack(&mut self.core, &summary);
        let rate = self.core.sampler.sample(now, &newest, self.core.rtt.min());
        self.tell_controller(&summary, timestamps.map(|ts| ts.value), prior_in_flight, false, rate);
        self.restart_timer(now, true);
        self.policy.schedule_probe(&self.core, now, self.rto_deadline);
    }

    /// The general path's [`poll`](Sender::poll) for a full segment of new data, under `is_plain`; `None` where something else
    /// may have to leave.
    #[inline]
    pub fn poll_plain(&mut self, now: Time) -> Option<Option<Outgoing>> {
        let core = &self.core;
        let (mss, end) = (core.mss, core.nxt + core.mss);
        if core.board.is_empty() || end > self.write_end || end > self.peer_edge {
            return None;
        }
        let is_paced = self.pacer.as_ref().is_some_and(|pacer| pacer.next_departure() > now);
        if !is_paced && core.board.in_flight() + mss <= core.window() {
            return Some(Some(self.send_new(now, mss)));
        }
        if !is_paced {
            self.note_usage(true);
        }
        self.has_data_waiting = true;
        Some(None)
    }
}
