//! The bytes of a stream around the point where it is read or written.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are allocated together.
const CHUNK: usize = 16 << 10;

/// Counts the bytes that several stores hold.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<AtomicUsize>);

impl Tally {
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Holds bytes by their stream positions. It takes memory only where it holds some.
pub struct Store {
    chunks: VecDeque<Option<Box<[u8]>>>,
    /// Number of the first chunk.
    first: u64,
    /// Position after the last byte.
    end: u64,
    tally: Tally,
}

impl Store {
    pub fn new(tally: &Tally) -> Store {
        Store { chunks: VecDeque::new(), first: 0, end: 0, tally: tally.clone() }
    }

    /// Stores `data` from stream position `offset` on, which was not released.
    pub fn put(&mut self, offset: u64, data: &[u8]) {
        self.end = self.end.max(offset + data.len() as u64);
        let (mut at, mut data) = (offset, data);
        while !data.is_empty() {
            let from = (at % CHUNK as u64) as usize;
            let (now, rest) = data.split_at(data.len().min(CHUNK - from));
            self.chunk(at / CHUNK as u64)[from..from + now.len()].copy_from_slice(now);
            (at, data) = (at + now.len() as u64, rest);
        }
    }

    /// Fills `out` with what was stored from stream position `offset` on.
    pub fn get(&self, offset: u64, mut out: &mut [u8]) {
        let mut at = offset;
        while !out.is_empty() {
            let from = (at % CHUNK as u64) as usize;
            let (now, rest) = out.split_at_mut(out.len().min(CHUNK - from));
            let index = (at / CHUNK as u64).checked_sub(self.first).map(|index| index as usize);
            if let Some(Some(chunk)) = index.and_then(|index| self.chunks.get(index)) {
                now.copy_from_slice(&chunk[from..from + now.len()]);
            }
            at += now.len() as u64;
            out = rest;
        }
    }

    /// What lies before stream position `offset` is needed no more.
    pub fn release(&mut self, offset: u64) {
        let first = if offset >= self.end { offset.div_ceil(CHUNK as u64) } else { offset / CHUNK as u64 };
        while self.first < first {
            match self.chunks.pop_front() {
                Some(chunk) => {
                    self.forget(chunk.as_deref());
                    self.first += 1;
                }
                None => self.first = first,
            }
        }
        if offset >= self.end {
            // The chunk in which the stream goes on.
            self.first = offset / CHUNK as u64;
        }
        if self.chunks.is_empty() {
            self.chunks.shrink_to_fit();
        }
    }

    fn chunk(&mut self, number: u64) -> &mut [u8] {
        let index = number.saturating_sub(self.first) as usize;
        while self.chunks.len() <= index {
            self.chunks.push_back(None);
        }
        let tally = &self.tally;
        self.chunks[index].get_or_insert_with(|| {
            tally.0.fetch_add(CHUNK, Ordering::Relaxed);
            vec![0; CHUNK].into_boxed_slice()
        })
    }

    fn forget(&self, chunk: Option<&[u8]>) {
        if chunk.is_some() {
            self.tally.0.fetch_sub(CHUNK, Ordering::Relaxed);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.chunks.iter().for_each(|chunk| self.forget(chunk.as_deref()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn byte(offset: u64) -> u8 {
        (offset % 251) as u8
    }

    proptest! {
        /// Parts come in any order, and again; what was released goes.
        #[test]
        fn what_is_put_is_got_until_it_is_released(
            start in 0u64..1 << 40,
            parts in prop::collection::vec((0u64..100_000, 0usize..50_000, 0u64..20_000), 1..20),
        ) {
            let tally = Tally::default();
            let mut store = Store::new(&tally);
            let (mut released, mut end) = (start, start);
            store.release(start);
            for (ahead, len, taken) in parts {
                let from = released + ahead;
                let data: Vec<u8> = (from..).take(len).map(byte).collect();
                store.put(from, &data);
                let mut out = vec![0; len];
                store.get(from, &mut out);
                prop_assert_eq!(&out, &data);
                end = end.max(from + len as u64);
                released += taken;
                store.release(released);
                end = end.max(released);
                let span = end - released;
                prop_assert!(tally.bytes() as u64 <= span + 2 * CHUNK as u64, "{} for {span}", tally.bytes());
            }
            store.release(end);
            prop_assert_eq!(tally.bytes(), 0);
            store.put(end, &[7]);
            prop_assert_eq!(tally.bytes(), CHUNK);
            drop(store);
            prop_assert_eq!(tally.bytes(), 0);
        }
    }
}
