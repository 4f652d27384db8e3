//! Copies of data that has gone to the mobile host and is not acknowledged.

use crate::base_station::flows::end_of;
use crate::middlebox::SeenPacket;
use airtcp_wire::{Seq, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub struct Cached {
    pub packet: SeenPacket,
    /// When it last left.
    pub sent_at: Time,
    /// Local retransmissions.
    pub retransmissions: u32,
    /// The fixed host has resent it or is to do so, and needs the duplicate ACKs for it.
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

    /// Has it left only once?
    pub fn is_untouched(&self) -> bool {
        self.retransmissions == 0 && !self.is_senders
    }
}

#[derive(Debug, Default)]
pub struct Cache {
    /// In order of sequence numbers.
    pub kept: VecDeque<Cached>,
}

impl Cache {
    /// The copy that contains the byte `ack`, the first one that is missing.
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

    /// Adds a copy if there is room for it.
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

    /// Removes and returns the first copy, if `ack` acknowledges all of it.
    pub fn pop_acknowledged(&mut self, ack: Seq) -> Option<Cached> {
        let is_done = self.kept.front().is_some_and(|first| first.end().distance(ack) <= 0);
        if is_done { self.kept.pop_front() } else { None }
    }

    /// Records what SACK blocks report. Returns the end of the highest copy that has been reported so far.
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
