//! One connection, as its packets and the kernel tell of it.

use super::round_trips::RoundTrips;
use crate::lab::books::Sending;
use crate::lab::tcp_info::{RecoveryState, TcpInfo};
use airtcp_proto::tcp::{Reason, Reassembly};
use airtcp_sim::truth::Truth;
use airtcp_wire::{Dur, Flags, Segment, Seq, Time};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub struct Conversation {
    /// None once it is over.
    sending: Option<Arc<Sending>>,
    /// Stream position 0.
    base: Seq,
    /// SND.UNA and SND.NXT as stream positions.
    pub una: u64,
    pub nxt: u64,
    /// Losses below it are repaired by the recovery that is under way.
    recover: u64,
    /// As many expiries of the timer were seen.
    timeouts: u16,
    received: Reassembly,
    pub truth: Truth,
    trips: RoundTrips,
    /// Which copy of its bytes a packet under way is, by the packet's identification; first copies are left out.
    copies: BTreeMap<u16, u32>,
}

/// What a data packet that leaves the sender is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    pub offset: u64,
    /// Of a retransmission.
    pub reason: Option<Reason>,
    /// The sender has reduced cwnd.
    pub is_reduced: bool,
}

/// What an ACK that reaches the sender says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acked {
    pub rtt: Option<Dur>,
    pub is_duplicate: bool,
}

impl Conversation {
    /// `syn` is the sender's.
    pub fn new(sending: Option<Arc<Sending>>, syn: &Segment) -> Conversation {
        Conversation {
            sending,
            base: syn.seq.at(1),
            una: 0,
            nxt: 0,
            recover: 0,
            timeouts: 0,
            received: Reassembly::default(),
            truth: Truth::default(),
            trips: RoundTrips::default(),
            copies: BTreeMap::new(),
        }
    }

    /// Is this its SYN?
    pub fn begins_with(&self, syn: &Segment) -> bool {
        syn.seq.at(1) == self.base
    }

    /// Data leaves the sender.
    pub fn sent(&mut self, now: Time, segment: &Segment, id: u16) -> Option<Sent> {
        let range = self.range(segment)?;
        let is_reduced_for_ecn = segment.flags.contains(Flags::CWR) && self.una >= self.recover;
        let mut sent = Sent { offset: range.start, reason: None, is_reduced: is_reduced_for_ecn };
        if range.start < self.nxt {
            let info = self.sending.as_ref().and_then(|sending| sending.info().ok());
            let (reason, is_reduced) = self.judge(info);
            let received = &self.received;
            let order =
                self.truth.resent(range.clone(), reason, |part| received.contains(part.start, part.end));
            self.copies.insert(id, order);
            self.trips.resent(&range, now, segment.timestamps);
            sent = Sent { reason: Some(reason), is_reduced, ..sent };
        }
        if range.end > self.nxt {
            self.nxt = range.end;
            self.trips.sent(range.end, now, segment.timestamps);
        }
        Some(sent)
    }

    /// Why the sender sends again, and whether it has reduced cwnd for that. Its state is read a moment after it has sent.
    fn judge(&mut self, info: Option<TcpInfo>) -> (Reason, bool) {
        let is_new_episode = self.una >= self.recover;
        let Some(info) = info else { return (Reason::Retransmit, false) };
        let has_expired = info.timeouts != self.timeouts;
        self.timeouts = info.timeouts;
        let cuts = info.ssthresh.is_some_and(|ssthresh| ssthresh < info.unacked);
        match info.state {
            RecoveryState::Loss if has_expired => {
                self.recover = self.nxt;
                (Reason::Timeout, info.expiries <= 1)
            }
            RecoveryState::Recovery if is_new_episode => {
                self.recover = self.nxt;
                (Reason::FastRetransmit, cuts)
            }
            RecoveryState::Loss | RecoveryState::Recovery => (Reason::Retransmit, false),
            RecoveryState::Open => (Reason::TailLossProbe, false),
        }
    }

    /// Data reaches the receiver.
    pub fn delivered(&mut self, segment: &Segment, id: u16) {
        let Some(range) = self.range(segment) else { return };
        let order = self.copies.remove(&id).unwrap_or(0);
        self.received.insert(range.start, range.end);
        if self.truth.is_undecided() {
            self.truth.delivered(range, order);
        }
    }

    /// Data is lost. Answers its stream position.
    pub fn lost(&mut self, segment: &Segment, id: u16) -> u64 {
        let Some(range) = self.range(segment) else { return 0 };
        let order = self.copies.remove(&id).unwrap_or(0);
        let offset = range.start;
        self.truth.lost(range, order, self.una);
        offset
    }

    /// An ACK reaches the sender.
    pub fn acknowledged(&mut self, now: Time, segment: &Segment) -> Acked {
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::SYN) {
            return Acked::default();
        }
        // Of the FIN's position there is no byte.
        let Some(ack) = segment.ack.offset(self.base, self.una).map(|ack| ack.min(self.nxt)) else {
            return Acked::default();
        };
        if ack <= self.una {
            // RFC 5681 §2.
            let is_bare = segment.len == 0 && !segment.flags.contains(Flags::FIN);
            return Acked { rtt: None, is_duplicate: ack == self.una && self.nxt > self.una && is_bare };
        }
        self.una = ack;
        let sent_at = self.trips.acknowledged(ack, segment.timestamps);
        if !self.truth.is_empty() {
            self.truth.acknowledged(ack);
        }
        Acked { rtt: sent_at.map(|at| now.since(at)), is_duplicate: false }
    }

    /// Positions of the payload; `None` for what is not of this stream.
    fn range(&self, segment: &Segment) -> Option<Range<u64>> {
        let start = segment.seq.offset(self.base, self.nxt)?;
        Some(start..start + u64::from(segment.len))
    }
}
