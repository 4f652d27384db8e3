//! The ACK filter (paper 001 §V.B.1 and Fig. 5), for what the mobile host acknowledges.

use super::Verdict;
use super::data_filter::SeenData;
use crate::base_station::flows::end_of;
use airtcp_wire::{SackBlocks, Segment, Seq, Timestamps};

/// The mobile host's last acknowledgment, as far as needed to repeat it.
#[derive(Clone, Copy, Debug)]
pub struct LastAck {
    /// The largest ACK number ("last wireless ACK").
    pub ack: Seq,
    /// The mobile host's SND.NXT.
    pub seq: Seq,
    pub window: u16,
    /// The latest value of its timestamp clock, and the echo of the packet that advanced `ack`.
    pub timestamps: Option<Timestamps>,
    /// What it holds above `ack`. A DSACK block, which belongs to one ACK only, is left out.
    pub sack: SackBlocks,
}

#[derive(Debug)]
pub struct AckFilter {
    /// The paper's redefine3DupAck.
    threshold: u64,
    pub last: Option<LastAck>,
    /// The paper's numOfLastDupAck: duplicates of `last.ack` so far.
    duplicates: u64,
}

impl AckFilter {
    pub fn new(threshold: u32) -> AckFilter {
        AckFilter { threshold: u64::from(threshold), last: None, duplicates: 0 }
    }

    /// Judges an ACK. `sent` is what the fixed host has been seen to send. An ACK for more than that is not trusted: if it is forged, it
    /// would make the data filter drop data that has not been received.
    pub fn judge(&mut self, segment: &Segment, sent: SeenData) -> Verdict {
        if segment.ack.distance(sent.end) > 0 {
            return Verdict::Pass;
        }
        let Some(last) = &mut self.last else {
            // The first ACK for data that was seen makes the flow understood.
            if segment.ack.distance(sent.start) > 0 {
                self.last = Some(LastAck::of(segment));
            }
            return Verdict::Pass;
        };
        let advance = segment.ack.distance(last.ack);
        let LastAck { ack, window, .. } = *last;
        last.hear(segment);
        match advance {
            1.. => {
                self.duplicates = 0;
                Verdict::Pass
            }
            // It carries the mobile host's own data.
            _ if segment.seq_len() > 0 => Verdict::Pass,
            ..0 => Verdict::Drop,
            // RFC 5681 §2: a duplicate has the same window, and data is outstanding. Otherwise the ACK updates the window or shows that
            // the host is alive. With SACK, an ACK that reports something new is a duplicate whatever its window (RFC 6675 §2): Linux
            // widens the window as data arrives out of order.
            0 if segment.window != window && segment.sack.is_empty() => Verdict::Pass,
            0 if sent.end.distance(ack) <= 0 => Verdict::Pass,
            0 => self.judge_duplicate(),
        }
    }

    /// §VI: a duplicate passes if its number is nextDupAckToSend.
    fn judge_duplicate(&mut self) -> Verdict {
        self.duplicates += 1;
        let duplicates_sent = (self.duplicates - 1) / (self.threshold / 3);
        let next_to_send = (duplicates_sent + 1) * self.threshold / 3;
        match self.duplicates == next_to_send {
            true => Verdict::Pass,
            false => Verdict::Drop,
        }
    }
}

impl LastAck {
    fn of(segment: &Segment) -> LastAck {
        LastAck {
            ack: segment.ack,
            seq: end_of(segment),
            window: segment.window,
            timestamps: segment.timestamps,
            sack: held(segment),
        }
    }

    /// Takes over what is news in an ACK.
    fn hear(&mut self, segment: &Segment) {
        let end = end_of(segment);
        let (advance, is_newer) = (segment.ack.distance(self.ack), end.distance(self.seq) >= 0);
        if advance >= 0 {
            self.ack = segment.ack;
            self.sack = held(segment);
            // RFC 9293 §3.10.7.4: an older segment does not update the window.
            if advance > 0 || is_newer {
                self.window = segment.window;
            }
        }
        if is_newer {
            self.seq = end;
        }
        if let (Some(said), Some(heard)) = (&mut self.timestamps, segment.timestamps) {
            if Seq(heard.value).distance(Seq(said.value)) > 0 {
                said.value = heard.value;
            }
            if advance > 0 {
                said.echo = heard.echo;
            }
        }
    }
}

/// The SACK blocks without a DSACK block. That can only be the first one: it covers acknowledged data, or is part of the second block
/// (RFC 2883 §4).
fn held(segment: &Segment) -> SackBlocks {
    let blocks = segment.sack.as_slice();
    let is_duplicate = |first: (Seq, Seq), second: Option<&(Seq, Seq)>| {
        first.0.distance(segment.ack) < 0
            || second.is_some_and(|second| first.0.distance(second.0) >= 0 && second.1.distance(first.1) >= 0)
    };
    if !blocks.first().is_some_and(|first| is_duplicate(*first, blocks.get(1))) {
        return segment.sack;
    }
    let mut held = SackBlocks::default();
    blocks[1..].iter().for_each(|(left, right)| held.push(*left, *right));
    held
}
