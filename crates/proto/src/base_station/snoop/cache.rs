//! Copies of what has gone to the mobile host and is not acknowledged.

use crate::middlebox::SeenPacket;
use airtcp_wire::{Segment, Seq, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Cached {
    pub packet: SeenPacket,
    /// When it last left.
    pub sent_at: Time,
    /// Local ones.
    pub retransmissions: u32,
    /// The fixed host has resent it or is to do so: the duplicate ACKs for it are for the fixed host.
    pub is_senders: bool,
    pub is_sacked: bool,
}

impl Cached {
    pub fn new(packet: SeenPacket, sent_at: Time, is_senders: bool) -> Cached {
        Cached { packet, sent_at, retransmissions: 0, is_senders, is_sacked: false }
    }

    pub fn start(&self) -> Seq {
        self.packet.segment.seq
    }

    pub fn end(&self) -> Seq {
        end_of(&self.packet.segment)
    }

    /// Has it left once only?
    pub fn is_untouched(&self) -> bool {
        self.retransmissions == 0 && !self.is_senders
    }
}

/// Sequence number after a segment.
pub fn end_of(segment: &Segment) -> Seq {
    segment.seq.at(segment.seq_len().into())
}

/// In order of sequence numbers.
#[derive(Debug, Default)]
pub struct Cache {
    kept: VecDeque<Cached>,
}

impl Cache {
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn first(&self) -> Option<&Cached> {
        self.kept.front()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Cached> {
        self.kept.iter_mut()
    }

    /// The copy of which `ack` is the first byte that is missing.
    pub fn missing_at(&mut self, ack: Seq) -> Option<&mut Cached> {
        self.kept
            .front_mut()
            .filter(|first| first.start().distance(ack) <= 0 && first.end().distance(ack) > 0)
    }

    /// The copy that begins at `seq`.
    pub fn starting_at(&mut self, seq: Seq) -> Option<&mut Cached> {
        let index = self.place_of(seq);
        self.kept.get_mut(index).filter(|cached| cached.start() == seq)
    }

    /// Keeps a copy if there is room for it.
    pub fn keep(&mut self, cached: Cached, limit: u32) {
        if self.kept.len() < limit as usize {
            self.kept.insert(self.place_of(cached.start()), cached);
        }
    }

    pub fn forget(&mut self, seq: Seq) {
        let index = self.place_of(seq);
        if self.kept.get(index).is_some_and(|cached| cached.start() == seq) {
            self.kept.remove(index);
        }
    }

    /// Gives what is wholly acknowledged by `ack`, one at a time.
    pub fn pop_acknowledged(&mut self, ack: Seq) -> Option<Cached> {
        let is_done = self.kept.front().is_some_and(|first| first.end().distance(ack) <= 0);
        if is_done { self.kept.pop_front() } else { None }
    }

    /// Notes what SACK blocks report, and returns the highest number that any of them has reported.
    pub fn note_sacked(&mut self, blocks: &[(Seq, Seq)]) -> Option<Seq> {
        for cached in &mut self.kept {
            cached.is_sacked |= blocks.iter().any(|(left, right)| {
                cached.start().distance(*left) >= 0 && cached.end().distance(*right) <= 0
            });
        }
        self.kept.iter().rev().find(|cached| cached.is_sacked).map(Cached::end)
    }

    fn place_of(&self, seq: Seq) -> usize {
        self.kept.partition_point(|cached| cached.start().distance(seq) < 0)
    }
}
