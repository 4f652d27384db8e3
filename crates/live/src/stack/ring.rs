//! The bytes of a stream around the point where it is read or written.

/// Holds bytes by their stream positions: those of any `capacity` consecutive positions.
pub struct Ring {
    bytes: Box<[u8]>,
}

impl Ring {
    /// `capacity` in bytes, at least one.
    pub fn new(capacity: usize) -> Ring {
        Ring { bytes: vec![0; capacity.max(1)].into_boxed_slice() }
    }

    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Stores `data`, at most the capacity, from stream position `offset` on.
    pub fn put(&mut self, offset: u64, data: &[u8]) {
        let at = self.position(offset);
        let (first, rest) = data.split_at(data.len().min(self.capacity() - at));
        self.bytes[at..at + first.len()].copy_from_slice(first);
        self.bytes[..rest.len()].copy_from_slice(rest);
    }

    /// Fills `out`, at most the capacity, from stream position `offset` on.
    pub fn get(&self, offset: u64, out: &mut [u8]) {
        let at = self.position(offset);
        let first = out.len().min(self.capacity() - at);
        let (head, rest) = out.split_at_mut(first);
        head.copy_from_slice(&self.bytes[at..at + first]);
        rest.copy_from_slice(&self.bytes[..rest.len()]);
    }

    fn position(&self, offset: u64) -> usize {
        (offset % self.bytes.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_is_got_while_the_window_covers_it(
            capacity in 1usize..100,
            start in 0u64..1 << 40,
            lens in prop::collection::vec(0usize..100, 1..20),
        ) {
            let mut ring = Ring::new(capacity);
            let byte = |offset: u64| (offset % 251) as u8;
            let mut end = start;
            for len in lens {
                let data: Vec<u8> = (end..).take(len.min(capacity)).map(byte).collect();
                ring.put(end, &data);
                end += data.len() as u64;
                let from = start.max(end.saturating_sub(capacity as u64));
                let mut out = vec![0; (end - from) as usize];
                ring.get(from, &mut out);
                prop_assert!(out.iter().zip(from..).all(|(&got, offset)| got == byte(offset)));
            }
        }
    }
}
