//! A queue of [`Brief`]s in as few bytes as they need.

use super::brief::Brief;
use std::collections::VecDeque;

/// A FIFO in blocks of memory. With thousands of connections, it is among the largest things that a run keeps.
#[derive(Default)]
pub struct Packed {
    /// Those in use come first. Blocks are reused, not given back.
    blocks: VecDeque<Box<[u8; BLOCK]>>,
    used: usize,
    /// Where the first brief begins in the first block.
    head: usize,
    /// Where the last one ends in the last block.
    tail: usize,
}

/// Bytes of a block. Those at its end that are too few for a word stay free.
const BLOCK: usize = 4096;

/// A brief is written as one word, of which only the lowest bytes are kept.
const WORD: usize = size_of::<Brief>();

impl Packed {
    pub fn is_empty(&self) -> bool {
        self.used == 0 || (self.used == 1 && self.head == self.tail)
    }

    pub fn push(&mut self, brief: Brief) {
        if self.used == 0 || self.tail + WORD > BLOCK {
            self.begin_block();
        }
        if let Some(bytes) = self.blocks.get_mut(self.used - 1).and_then(|block| bytes_at(block, self.tail)) {
            *bytes = brief.0.to_le_bytes();
        }
        self.tail += brief.bytes();
    }

    pub fn pop(&mut self) -> Option<Brief> {
        if self.is_empty() {
            return None;
        }
        let brief = Brief(u64::from_le_bytes(*bytes_at(self.blocks.front_mut()?, self.head)?));
        self.head += brief.bytes();
        if self.head + WORD > BLOCK {
            self.end_block();
        }
        Some(brief)
    }

    fn begin_block(&mut self) {
        if self.used == self.blocks.len() {
            self.blocks.push_back(Box::new([0; BLOCK]));
        }
        self.used += 1;
        self.tail = 0;
    }

    /// The first block has been read.
    fn end_block(&mut self) {
        self.blocks.rotate_left(1);
        self.used -= 1;
        self.head = 0;
    }
}

fn bytes_at(block: &mut [u8; BLOCK], place: usize) -> Option<&mut [u8; WORD]> {
    block.get_mut(place..)?.first_chunk_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Seq;
    use proptest::prelude::*;

    fn brief() -> impl Strategy<Value = Brief> {
        let below = |bits: u32| (0..=bits).prop_flat_map(|bits| 0..1u64 << bits);
        (below(Brief::PLACE), below(Brief::GAP), below(Brief::NEWS), any::<u32>())
            .prop_map(|(place, gap, news, ack)| Brief::new(place, gap, news, Seq(ack)).unwrap())
    }

    fn parts(brief: Brief) -> (u32, u64, Seq) {
        (brief.endpoint(), brief.gap(), brief.ack_above(Seq(0)))
    }

    proptest! {
        /// Over the ends of blocks, and after the queue has been empty.
        #[test]
        fn briefs_come_out_as_they_went_in(
            briefs in prop::collection::vec(brief(), 1..50),
            turns in prop::collection::vec((0usize..2000, 0usize..2000), 1..20),
        ) {
            let (mut queue, mut expected) = (Packed::default(), VecDeque::new());
            let mut source = briefs.iter().cycle();
            for (pushed, popped) in turns {
                for brief in source.by_ref().take(pushed) {
                    queue.push(*brief);
                    expected.push_back(*brief);
                }
                for _ in 0..popped {
                    prop_assert_eq!(queue.is_empty(), expected.is_empty());
                    prop_assert_eq!(queue.pop().map(parts), expected.pop_front().map(parts));
                }
            }
        }
    }
}
