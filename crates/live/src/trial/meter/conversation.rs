//! One connection, as seen from its packets and the kernel's reports.

use super::round_trips::RoundTrips;
use crate::trial::books::Sending;
use crate::trial::tcp_info::{RecoveryState, TcpInfo};
use airtcp_proto::tcp::{Reason, Reassembly};
use airtcp_sim::truth::{Spurious, Truth};
use airtcp_wire::{Dur, Flags, Segment, Seq, Time};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub struct Conversation {
    /// `None` if the books do not have it.
    sending: Option<Arc<Sending>>,
    /// Sequence number of stream position 0.
    base: Seq,
    /// SND.UNA and SND.NXT as stream positions.
    pub una: u64,
    pub nxt: u64,
    /// Losses below it are repaired by the current recovery.
    recover: u64,
    /// Expiries of the timer that have been seen.
    timeouts: u16,
    received: Reassembly,
    truth: Truth,
    pub spurious: Spurious,
    trips: RoundTrips,
    /// Which copy of its bytes a packet under way is, by the packet's IP identification. First copies are left out.
    copies: BTreeMap<u16, u32>,
}

/// What a data packet shows when it leaves the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DataPacket {
    pub offset: u64,
    /// Why it is a retransmission, if it is one.
    pub reason: Option<Reason>,
    /// Whether the sender has reduced cwnd.
    pub is_reduced: bool,
}

/// What an ACK shows when it reaches the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acked {
    pub rtt: Option<Dur>,
    pub is_duplicate: bool,
}

impl Conversation {
    /// `syn` is the sender's SYN.
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
            spurious: Spurious::default(),
            trips: RoundTrips::default(),
            copies: BTreeMap::new(),
        }
    }

    /// Counts anew, because the warm-up is over.
    pub fn begin_measurement(&mut self) {
        self.spurious = Spurious::default();
        self.truth.begin_measurement();
    }

    /// Returns whether this is the connection's SYN.
    pub fn begins_with(&self, syn: &Segment) -> bool {
        syn.seq.at(1) == self.base
    }

    /// Data leaves the sender.
    pub fn sent(&mut self, now: Time, segment: &Segment, id: u16) -> Option<DataPacket> {
        let range = self.range(segment)?;
        let is_reduced_for_ecn = segment.flags.contains(Flags::CWR) && self.una >= self.recover;
        let mut sent = DataPacket { offset: range.start, reason: None, is_reduced: is_reduced_for_ecn };
        if range.start < self.nxt {
            let (reason, is_reduced) = self.judge(self.info());
            let received = &self.received;
            let (order, is_spurious) =
                self.truth.resent(range.clone(), reason, |part| received.contains(part.start, part.end));
            if is_spurious {
                self.spurious.count(reason);
            }
            self.copies.insert(id, order);
            self.trips.resent(&range, now, segment.timestamps);
            sent = DataPacket { reason: Some(reason), is_reduced, ..sent };
        }
        if range.end > self.nxt {
            self.nxt = range.end;
            self.trips.sent(range.end, now, segment.timestamps);
        }
        Some(sent)
    }

    /// The SYN leaves the sender again: an expiry that only now can be seen.
    pub fn syn_resent(&self) {
        self.info();
    }

    fn info(&self) -> Option<TcpInfo> {
        self.sending.as_ref()?.info().ok()
    }

    /// Returns why the sender retransmits, and whether it has reduced cwnd for that. Its state is read a moment after
    /// it has sent.
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
            self.truth.delivered(range, order, |reason| self.spurious.count(reason));
        }
    }

    /// Data is lost. Returns its stream position.
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
        // There is no byte at the FIN's position.
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

    /// Positions of the payload; `None` if it is not of this stream.
    fn range(&self, segment: &Segment) -> Option<Range<u64>> {
        let start = segment.seq.offset(self.base, self.nxt)?;
        Some(start..start + u64::from(segment.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const ISS: Seq = Seq(u32::MAX - 50);

    fn begun() -> Conversation {
        Conversation::new(None, &Segment { seq: ISS, flags: Flags::SYN, ..Segment::default() })
    }

    fn data(offset: u64) -> Segment {
        Segment { seq: ISS.at(1 + offset), flags: Flags::ACK, len: 100, ..Segment::default() }
    }

    fn ack(offset: u64) -> Segment {
        Segment { ack: ISS.at(1 + offset), flags: Flags::ACK, ..Segment::default() }
    }

    /// Three packets, of which the first is lost, across the wrap of sequence numbers.
    fn with_a_loss() -> Conversation {
        let mut known = begun();
        for n in 0..3 {
            let sent = known.sent(Time(n), &data(100 * n), n as u16).unwrap();
            assert_eq!((sent.offset, sent.reason), (100 * n, None));
        }
        assert_eq!(known.lost(&data(0), 0), 0);
        known.delivered(&data(100), 1);
        known.delivered(&data(200), 2);
        known
    }

    #[test]
    fn acks_tell_round_trips_and_duplicates() {
        let mut known = with_a_loss();
        assert!(known.acknowledged(Time(10), &ack(0)).is_duplicate);
        assert!(known.sent(Time(20), &data(0), 3).unwrap().reason.is_some());
        known.delivered(&data(0), 3);
        // Without timestamps, resent data gives no RTT (Karn).
        assert_eq!(known.acknowledged(Time(30), &ack(300)), Acked::default());
        assert_eq!((known.una, known.nxt), (300, 300));
        assert!(!known.acknowledged(Time(31), &ack(300)).is_duplicate, "nothing is outstanding");
        known.sent(Time(40), &data(300), 4);
        assert_eq!(known.acknowledged(Time(55), &ack(400)).rtt, Some(Dur(15)));
        // The FIN's acknowledgment covers no byte.
        assert_eq!(known.acknowledged(Time(60), &ack(401)), Acked::default());
        assert_eq!(known.una, 400);
    }

    #[test]
    fn the_path_knows_what_was_in_vain() {
        let mut known = with_a_loss();
        known.sent(Time(20), &data(0), 3);
        known.sent(Time(20), &data(100), 4);
        assert_eq!(known.spurious.retransmissions, 1);
    }

    #[test]
    fn the_kernel_tells_why_something_is_sent_again() {
        let info = TcpInfo {
            connection: 1,
            state: RecoveryState::Recovery,
            expiries: 0,
            rto: Dur::from_millis(200),
            srtt: Dur::from_millis(10),
            mss: 100,
            unacked: 10,
            sacked: 3,
            lost: 1,
            resent: 0,
            cwnd: 7,
            ssthresh: Some(5),
            timeouts: 0,
        };
        let mut known = with_a_loss();
        assert_eq!(known.judge(Some(info)), (Reason::FastRetransmit, true));
        assert_eq!(known.judge(Some(info)), (Reason::Retransmit, false));
        let expired = TcpInfo { state: RecoveryState::Loss, timeouts: 1, expiries: 1, ..info };
        assert_eq!(known.judge(Some(expired)), (Reason::Timeout, true));
        assert_eq!(known.judge(Some(expired)), (Reason::Retransmit, false));
        let again = TcpInfo { timeouts: 2, expiries: 2, ..expired };
        assert_eq!(known.judge(Some(again)), (Reason::Timeout, false));
        known.una = known.nxt;
        let unanswered = TcpInfo { ssthresh: Some(20), timeouts: 2, ..info };
        assert_eq!(known.judge(Some(unanswered)), (Reason::FastRetransmit, false));
        let probe = TcpInfo { state: RecoveryState::Open, ..unanswered };
        assert_eq!(known.judge(Some(probe)), (Reason::TailLossProbe, false));
    }

    #[test]
    fn an_answer_to_ecn_counts_once_and_outside_recovery() {
        let mut known = begun();
        let cwr = |offset| Segment { flags: Flags::ACK | Flags::CWR, ..data(offset) };
        assert!(known.sent(Time(0), &cwr(0), 0).unwrap().is_reduced);
        known.recover = 1000;
        assert!(!known.sent(Time(1), &cwr(100), 1).unwrap().is_reduced);
    }
}
