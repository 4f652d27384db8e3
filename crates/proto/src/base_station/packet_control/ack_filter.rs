//! The ACK filter (paper 001 §V.B.1 and Fig. 5), for what the mobile host acknowledges.

use super::Verdict;
use airtcp_wire::{Segment, Seq, Timestamps};

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

    /// `sent_end`: sequence number after the last byte that the fixed host has sent.
    pub fn judge(&mut self, segment: &Segment, sent_end: Seq) -> Verdict {
        let Some(last) = &mut self.last else {
            self.last = Some(LastAck {
                ack: segment.ack,
                seq: segment.seq.at(segment.seq_len().into()),
                window: segment.window,
                timestamps: segment.timestamps,
            });
            return Verdict::Pass;
        };
        let advance = segment.ack.distance(last.ack);
        let is_window_update = segment.window != last.window;
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
            0 if is_window_update || sent_end.distance(last.ack) <= 0 => Verdict::Pass,
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
