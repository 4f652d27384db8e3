//! The classic pcap format (draft-ietf-opsawg-pcap).

use crate::file::{FileError, Head, KEPT};
use crate::source::{Order, Source};
use airtcp_wire::Time;
use std::io::{self, Read};

/// No program writes longer packets; a larger length field is corrupt.
const LONGEST: u32 = 1 << 28;

pub struct Pcap {
    order: Order,
    /// Nanoseconds per unit of the sub-second part of a timestamp.
    unit_ns: u64,
    link_type: u16,
    ended: bool,
}

impl Pcap {
    /// Reads the file header after the magic number.
    pub fn read_header<R: Read>(
        source: &mut Source<R>,
        order: Order,
        unit_ns: u64,
    ) -> Result<Pcap, FileError> {
        let header: [u8; 20] = source.array()?.ok_or(FileError::Truncated)?;
        // The upper bits describe the frame check sequence.
        let link_type = order.u32(&header[16..]) as u16;
        Ok(Pcap { order, unit_ns, link_type, ended: false })
    }

    /// Reads the next packet and puts its first bytes into `packet`.
    pub fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        packet: &mut [u8; KEPT],
    ) -> io::Result<Option<Result<Head, String>>> {
        if self.ended {
            return Ok(None);
        }
        let mut head = [0; 16];
        match source.fill(&mut head)? {
            16 => {}
            read => {
                self.ended = true;
                return Ok((read > 0).then(|| Err("the file ends within its record".to_owned())));
            }
        }
        let word = |index: usize| self.order.u32(&head[4 * index..]);
        let (captured, original_len) = (word(2), word(3));
        if captured > LONGEST {
            self.ended = true;
            let reason = format!("claims a length of {captured} bytes; the rest of the file is not read");
            return Ok(Some(Err(reason)));
        }
        let kept = KEPT.min(captured as usize);
        let whole =
            source.fill(&mut packet[..kept])? == kept && source.skip(u64::from(captured) - kept as u64)?;
        if !whole {
            self.ended = true;
            return Ok(Some(Err("the file ends within it".to_owned())));
        }
        let time = Time(u64::from(word(0)) * 1_000_000_000 + u64::from(word(1)) * self.unit_ns);
        Ok(Some(Ok(Head { time, interface: 0, link_type: self.link_type, kept, original_len })))
    }
}
