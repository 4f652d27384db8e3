//! The data filter (paper 001 §V.B.2 and Fig. 6), for what the fixed host sends.
//!
//! A segment that the mobile host has acknowledged completely is an unnecessary retransmission. It is dropped, unless it carries more than
//! data (a new ACK or window for the mobile host, CWR, a congestion mark) or is a keep-alive.

use super::Verdict;
use crate::base_station::flows::end_of;
use airtcp_wire::{Ecn, Flags, Segment, Seq};

/// How many retransmitted segments are remembered. A host whose ACKs were lost resends its first segment again and again, perhaps with a
/// few others in between.
const REMEMBERED: usize = 8;

/// The largest window in bytes (RFC 7323 §2.3). Data beyond it does not belong to this connection.
const FARTHEST: i32 = 1 << 30;

/// What the fixed host has been seen to send: the sequence numbers of the first byte and after the last byte.
#[derive(Clone, Copy, Debug)]
pub struct SeenData {
    pub start: Seq,
    pub end: Seq,
}

#[derive(Debug)]
pub struct DataFilter {
    pub sent: SeenData,
    /// The fixed host's latest ACK and window, for the mobile host's data.
    heard: (Seq, u16),
    copies: Copies,
}

impl DataFilter {
    pub fn new(first: &Segment) -> DataFilter {
        let sent = SeenData { start: first.seq, end: first.seq };
        DataFilter { sent, heard: (first.ack, first.window), copies: Copies::default() }
    }

    /// Judges a segment. `acked` is the last wireless ACK.
    pub fn judge(&mut self, segment: &Segment, ecn: Ecn, acked: Option<Seq>) -> Verdict {
        let end = end_of(segment);
        if end.distance(acked.unwrap_or(self.sent.start)) > FARTHEST {
            return Verdict::Pass;
        }
        let is_heard = self.hear(segment);
        let sent_before = self.sent.end;
        if end.distance(sent_before) > 0 {
            self.sent.end = end;
        }
        let is_acked = acked.is_some_and(|acked| end.distance(acked) <= 0);
        let is_data = segment.len > 0 && !segment.flags.contains(Flags::FIN);
        if !is_data || !is_acked {
            return Verdict::Pass;
        }
        let has_news = is_heard || ecn == Ecn::Ce || segment.flags.contains(Flags::CWR);
        // RFC 1122 §4.2.3.6: SEG.SEQ = SND.NXT − 1, with or without an octet.
        let is_keep_alive = segment.len == 1 && end == sent_before;
        if has_news || is_keep_alive {
            return Verdict::Pass;
        }
        match self.copies.is_second(segment.seq) {
            true => Verdict::Answer,
            false => Verdict::Drop,
        }
    }

    /// Does the segment carry a new ACK or window for the mobile host?
    fn hear(&mut self, segment: &Segment) -> bool {
        let (ack, window) = self.heard;
        let advance = segment.ack.distance(ack);
        let has_news = advance > 0 || (advance == 0 && segment.window != window);
        if has_news {
            self.heard = (segment.ack, segment.window);
        }
        has_news
    }
}

/// The paper's lstRetransWiredDataPkt with m_iNumOfRtm (§VI). Only the last few segments matter, and whether a number is odd: a segment is
/// here while the number of its copies is odd. If it stays here until sequence numbers wrap, that costs one needless ACK.
#[derive(Debug, Default)]
struct Copies {
    segments: [Option<Seq>; REMEMBERED],
    next: usize,
}

impl Copies {
    /// Counts another copy of the segment at `seq`. Returns whether its number is even.
    fn is_second(&mut self, seq: Seq) -> bool {
        match self.segments.iter_mut().find(|segment| **segment == Some(seq)) {
            Some(segment) => {
                *segment = None;
                true
            }
            None => {
                self.segments[self.next] = Some(seq);
                self.next = (self.next + 1) % REMEMBERED;
                false
            }
        }
    }
}
