//! Header packets of 15 bytes (§10): RFC 1144's change mask and checksum, and uncompressed timestamps.
//!
//! A circuit compresses from one of its ends to the other. A link does so for its own hop (`path/compression.rs`). ACKs are not
//! compressed. A wrong guess that passes the checksum (one in 65 536) is not modelled.

use super::config::{Compression, Config};
use airtcp_wire::{Segment, Seq};

/// IPv4 and TCP without options, which RFC 1144 leaves out.
const UNCOMPRESSED_BASE: u32 = 40;
/// The change mask and the TCP checksum (RFC 1144 §3.2.2). The mask says that the sequence number moved by the last packet's length.
const COMPRESSED_BASE: u32 = 3;
/// The count of data packets sent, uncompressed.
const LOSS_REPORTS: u32 = 2;

/// Bytes by which compression shortens a header packet without its connection's number.
pub fn saving(loss_reports: bool) -> u32 {
    UNCOMPRESSED_BASE - COMPRESSED_BASE - if loss_reports { LOSS_REPORTS } else { 0 }
}

#[derive(Debug)]
pub struct Compressor {
    /// The header packet sent last.
    last: Option<Segment>,
    /// Bytes by which a compressed one is shorter.
    saving: u32,
}

impl Compressor {
    pub fn new(config: &Config) -> Option<Compressor> {
        // Packets of several connections carry the connection's number (RFC 1144 §3.2.2).
        let connection_number = u32::from(config.controls > 1);
        let saving = saving(config.loss_reports) - connection_number;
        (config.compression != Compression::None).then(|| Compressor::saving(saving))
    }

    /// One whose compressed packets are shorter by so many bytes.
    pub fn saving(saving: u32) -> Compressor {
        Compressor { last: None, saving }
    }

    /// Length of a packet that takes `bytes` uncompressed. A packet that does not follow the last header packet (a SYN, a retransmission,
    /// the packet after it) is not compressed, and so renews the far end's context.
    pub fn compress(&mut self, segment: &Segment, bytes: u32) -> u32 {
        if segment.len == 0 {
            return bytes;
        }
        let successor = self.last.map(|last| Segment {
            seq: last.seq.at(u64::from(last.len)),
            timestamps: segment.timestamps,
            window: segment.window,
            ..last
        });
        self.last = Some(*segment);
        if successor == Some(*segment) { bytes - self.saving } else { bytes }
    }
}

#[derive(Debug)]
pub struct Decompressor {
    /// Sequence number of the header packet read last.
    last: Option<Seq>,
    /// How many header packets lost in a row are guessed.
    guesses: u64,
}

impl Decompressor {
    pub fn new(compression: Compression) -> Option<Decompressor> {
        let guesses = match compression {
            Compression::None => return None,
            Compression::Rfc1144 => 0,
            Compression::Twice => 2,
        };
        Some(Decompressor { last: None, guesses })
    }

    /// Can a packet be read that arrives with `bytes` and would have `uncompressed` bytes in full? The checksum covers `segment`: a guess
    /// is right if it yields that.
    pub fn decompress(&mut self, segment: &Segment, bytes: u32, uncompressed: u32) -> bool {
        if segment.len == 0 {
            return true;
        }
        let step = u64::from(segment.len);
        let is_readable = bytes == uncompressed
            || self.last.is_some_and(|last| {
                (1..=1 + self.guesses).any(|packets| last.at(step * packets) == segment.seq)
            });
        if is_readable {
            self.last = Some(segment.seq);
        }
        is_readable
    }
}
