//! A queue of [`Brief`]s in as few bytes as they need.

use super::brief::{Brief, lowest};
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
const WORD: usize = size_of::<u64>();

/// Bits that say how many bytes the gap takes, or that the word is [`WIDE`]. They are the lowest.
const KIND: u32 = 2;
/// The parts have as many bits as those of a [`Brief`] can.
const WIDE: u64 = 3;
/// Else the acknowledgment number and the place have so many, and the gap has whole bytes above.
const ACK: u32 = 16;
const PLACE: u32 = 14;
const NARROW_BYTES: usize = (KIND + ACK + PLACE) as usize / 8;

impl Packed {
    pub fn is_empty(&self) -> bool {
        self.used == 0 || (self.used == 1 && self.head == self.tail)
    }

    pub fn push(&mut self, brief: Brief) {
        if self.used == 0 || self.tail + WORD > BLOCK {
            self.begin_block();
        }
        let word = packed(brief);
        if let Some(bytes) = self.blocks.get_mut(self.used - 1).and_then(|block| bytes_at(block, self.tail)) {
            *bytes = word.to_le_bytes();
        }
        self.tail += bytes_of(word);
    }

    pub fn pop(&mut self) -> Option<Brief> {
        if self.is_empty() {
            return None;
        }
        let word = u64::from_le_bytes(*bytes_at(self.blocks.front_mut()?, self.head)?);
        self.head += bytes_of(word);
        if self.head + WORD > BLOCK {
            self.end_block();
        }
        Some(unpacked(word))
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

fn packed(brief: Brief) -> u64 {
    let Brief { place, gap, ack, ack_bits } = brief;
    let gap_bytes = u64::from((u32::BITS - gap.leading_zeros()).div_ceil(8));
    let is_narrow = ack_bits <= ACK && place >> PLACE == 0 && gap_bytes < WIDE;
    let [place, gap, ack] = [place, gap, ack].map(u64::from);
    match is_narrow {
        true => ((gap << PLACE | place) << ACK | lowest(ack, ACK)) << KIND | gap_bytes,
        false => ((place << Brief::GAP | gap) << Brief::ACK | ack) << KIND | WIDE,
    }
}

/// How many bytes of the word matter.
fn bytes_of(word: u64) -> usize {
    match lowest(word, KIND) {
        WIDE => WORD,
        gap_bytes => NARROW_BYTES + gap_bytes as usize,
    }
}

/// Bytes of the word that do not matter may have any value.
fn unpacked(word: u64) -> Brief {
    let rest = word >> KIND;
    match lowest(word, KIND) {
        WIDE => Brief {
            ack: lowest(rest, Brief::ACK) as u32,
            ack_bits: Brief::ACK,
            gap: lowest(rest >> Brief::ACK, Brief::GAP) as u32,
            place: (rest >> (Brief::ACK + Brief::GAP)) as u32,
        },
        gap_bytes => Brief {
            ack: lowest(rest, ACK) as u32,
            ack_bits: ACK,
            gap: lowest(rest >> (ACK + PLACE), 8 * gap_bytes as u32) as u32,
            place: lowest(rest >> ACK, PLACE) as u32,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brief() -> impl Strategy<Value = Brief> {
        let below = |bits: u32| (0..=bits).prop_flat_map(|bits| 0..1u32 << bits);
        let ack_bits = prop::sample::select(vec![ACK, Brief::ACK]);
        (below(Brief::PLACE), below(Brief::GAP), below(Brief::ACK), ack_bits)
            .prop_map(|(place, gap, ack, ack_bits)| Brief { place, gap, ack, ack_bits })
    }

    fn is_kept(pushed: Brief, popped: Brief) -> bool {
        (pushed.place, pushed.gap) == (popped.place, popped.gap)
            && pushed.ack_bits <= popped.ack_bits
            && lowest(pushed.ack.into(), popped.ack_bits) == u64::from(popped.ack)
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
                    let (popped, pushed) = (queue.pop(), expected.pop_front());
                    prop_assert_eq!(popped.is_some(), pushed.is_some());
                    prop_assert!(pushed.zip(popped).is_none_or(|(pushed, popped)| is_kept(pushed, popped)));
                }
            }
        }
    }

    #[test]
    fn ten_thousand_connections_take_5_bytes_an_ack() {
        let brief = Brief { place: 9_999, gap: 166, ack: 0xabcd, ack_bits: ACK };
        assert_eq!(bytes_of(packed(brief)), 5);
        assert_eq!(bytes_of(packed(Brief { gap: 0, ..brief })), 4);
        assert_eq!(bytes_of(packed(Brief { place: 1 << PLACE, ..brief })), 8);
    }
}
