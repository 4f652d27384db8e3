//! What a circuit's exit knows of the data that it repairs. The lab has no payloads: it keeps a copy of each packet that
//! leaves the entry, and the decoder says which of them the exit could restore from what has arrived.

use crate::packet::{Copied, Part};
use airtcp_proto::fec::{Decoder, Repair, WINDOW};
use serde::Serialize;
use std::collections::VecDeque;

/// Packets before the newest that has arrived of which a copy is kept: at least as many as the decoder remembers.
const KEPT: u32 = 4 * WINDOW as u32;

/// The repairs of a circuit's data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepairRecord {
    pub repair_packets_sent: u64,
    pub repair_bytes_sent: u64,
    pub repair_packets_lost: u64,
    /// Data packets that were lost and that the circuit's exit restored. Their flows count them as lost and as delivered.
    pub data_packets_recovered: u64,
}

#[derive(Default)]
pub struct Repairing {
    decoder: Decoder<()>,
    /// Those of the packets under way, and of some before. The first one's number is `first`.
    copies: VecDeque<Copied>,
    first: u32,
}

impl Repairing {
    /// The next data packet leaves the entry.
    pub fn keep(&mut self, copy: Copied) {
        self.copies.push_back(copy);
    }

    /// One arrives at the exit, or a repair.
    pub fn handle(&mut self, part: Part) {
        let newest = match part {
            Part::Source(number) => {
                self.decoder.handle_source(number, ());
                number
            }
            Part::Repair(repair) => {
                self.decoder.handle_repair(repair, ());
                let Repair { first, count, .. } = repair;
                first.wrapping_add(count.into())
            }
        };
        self.forget_before(newest.saturating_sub(KEPT));
    }

    fn forget_before(&mut self, number: u32) {
        let gone = number.saturating_sub(self.first);
        self.copies.drain(..self.copies.len().min(gone as usize));
        self.first += gone;
    }

    /// The next packet that can be restored.
    pub fn poll_recovered(&mut self) -> Option<Copied> {
        let number = self.decoder.poll_recovered()?;
        self.copies.get((number - self.first) as usize).copied()
    }
}
