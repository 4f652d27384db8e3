//! Reads the bytes of a file in order.

use std::io::{self, BufRead, BufReader, Read};

const BUFFER: usize = 1 << 20;

pub struct Source<R> {
    reader: BufReader<R>,
}

impl<R: Read> Source<R> {
    pub fn new(reader: R) -> Source<R> {
        Source { reader: BufReader::with_capacity(BUFFER, reader) }
    }

    /// Fills `buffer` as far as the file reaches, and returns the number of bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Returns the next `N` bytes; `None` if the file ends before.
    pub fn array<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        Ok((self.fill(&mut bytes)? == N).then_some(bytes))
    }

    /// Skips `count` bytes; returns whether the file had that many.
    pub fn skip(&mut self, mut count: u64) -> io::Result<bool> {
        while count > 0 {
            let available = self.reader.fill_buf()?.len();
            if available == 0 {
                return Ok(false);
            }
            let step = available.min(usize::try_from(count).unwrap_or(usize::MAX));
            self.reader.consume(step);
            count -= step as u64;
        }
        Ok(true)
    }
}

/// The byte order of a file or a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    /// Like [`Order::u32`], reads the first bytes of `bytes`; panics if there are too few.
    pub fn u16(self, bytes: &[u8]) -> u16 {
        let bytes = [bytes[0], bytes[1]];
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    pub fn u32(self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }
}
