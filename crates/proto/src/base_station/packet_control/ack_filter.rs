//! The ACK filter (paper 001 §V.B.1 and Fig. 5), for what the mobile host acknowledges.

use super::Verdict;
use super::data_filter::Sent;
use airtcp_wire::{SackBlocks, Segment, Seq, Timestamps};

/// What the mobile host said last: enough to say it once more.
#[derive(Clone, Copy, Debug)]
pub struct LastAck {
    /// The largest ACK number ("last wireless ACK").
    pub ack: Seq,
    /// The mobile host's SND.NXT.
    pub seq: Seq,
    pub window: u16,
    /// The latest value of its clock, and the echo of the packet that advanced `ack`.
    pub timestamps: Option<Timestamps>,
    /// What it holds above `ack`; a DSACK block, which stands on one ACK only, is none of that.
    pub sack: SackBlocks,
}

#[derive(Debug)]
pub struct AckFilter {
    /// redefine3DupAck
    threshold: u64,
    last: Option<LastAck>,
    /// numOfLastDupAck: duplicates of `last.ack` so far.
    duplicates: u64,
}

impl AckFilter {
    pub fn new(threshold: u32) -> AckFilter {
        AckFilter { threshold: u64::from(threshold), last: None, duplicates: 0 }
    }

    pub fn last(&self) -> Option<&LastAck> {
        self.last.as_ref()
    }

    /// `sent`: what the fixed host has been seen to send. An ACK for more than that is neither judged nor trusted: a
    /// forged one would make the data filter drop unreceived data.
    pub fn judge(&mut self, segment: &Segment, sent: Sent) -> Verdict {
        if segment.ack.distance(sent.end) > 0 {
            return Verdict::Pass;
        }
        let Some(last) = &mut self.last else {
            // Until some of what was seen is acknowledged, the flow is not understood.
            if segment.ack.distance(sent.start) > 0 {
                self.last = Some(LastAck::of(segment));
            }
            return Verdict::Pass;
        };
        let advance = segment.ack.distance(last.ack);
        // With SACK a duplicate is what reports something new, whatever the window does (RFC 6675 §2): Linux widens it as data
        // comes out of order.
        let is_window_update = segment.window != last.window && segment.sack.is_empty();
        last.hear(segment);
        match advance {
            1.. => {
                self.duplicates = 0;
                Verdict::Pass
            }
            // It carries the mobile host's own data.
            _ if segment.seq_len() > 0 => Verdict::Pass,
            ..0 => Verdict::Drop,
            // RFC 5681 §2: a duplicate has the same window, and there is outstanding data. Else it is an update of the
            // window, or tells that the host is alive.
            0 if is_window_update || sent.end.distance(last.ack) <= 0 => Verdict::Pass,
            0 => self.judge_duplicate(),
        }
    }

    /// §VI: of the duplicates, those pass whose number is nextDupAckToSend.
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
            seq: segment.seq.at(segment.seq_len().into()),
            window: segment.window,
            timestamps: segment.timestamps,
            sack: held(segment),
        }
    }

    fn hear(&mut self, segment: &Segment) {
        let end = segment.seq.at(segment.seq_len().into());
        let (advance, is_newer) = (segment.ack.distance(self.ack), end.distance(self.seq) >= 0);
        // RFC 9293 §3.10.7.4: an older segment does not say what the window is.
        if advance > 0 || (advance == 0 && is_newer) {
            self.window = segment.window;
        }
        if is_newer {
            self.seq = end;
        }
        if advance >= 0 {
            self.sack = held(segment);
        }
        if let (Some(said), Some(heard)) = (&mut self.timestamps, segment.timestamps) {
            if Seq(heard.value).distance(Seq(said.value)) > 0 {
                said.value = heard.value;
            }
            if advance > 0 {
                said.echo = heard.echo;
            }
        }
        if advance > 0 {
            self.ack = segment.ack;
        }
    }
}

/// The SACK blocks without a DSACK block, which is the first one: of what is acknowledged, or part of the second block
/// (RFC 2883 §4).
fn held(segment: &Segment) -> SackBlocks {
    let blocks = segment.sack.as_slice();
    let is_duplicate = |first: (Seq, Seq), second: Option<&(Seq, Seq)>| {
        first.0.distance(segment.ack) < 0
            || second.is_some_and(|second| first.0.distance(second.0) >= 0 && second.1.distance(first.1) >= 0)
    };
    let skipped = blocks.first().is_some_and(|first| is_duplicate(*first, blocks.get(1)));
    let mut held = SackBlocks::default();
    blocks[usize::from(skipped)..].iter().for_each(|(left, right)| held.push(*left, *right));
    held
}
