//! What a Wi-Fi station sends in its turn.

use super::phy::Mode;
use crate::path::{Burst, Supply, Transmitter};
use airtcp_wire::{Dur, Time};

/// LLC and SNAP headers.
const LLC_BYTES: u32 = 8;
const FCS_BYTES: u32 = 4;
const HEADER_BYTES: u32 = 24;
const QOS_HEADER_BYTES: u32 = 26;
/// What precedes each frame in an aggregate.
const DELIMITER_BYTES: u32 = 4;
const ACK_BYTES: u32 = 14;
/// A compressed block ack for 64 frames.
const BLOCK_ACK_BYTES: u32 = 32;
/// aPPDUMaxTime.
const LONGEST: Dur = Dur::from_micros(5_484);
/// Frames that the receiver reorders.
const WINDOW: usize = 64;

/// Data frames, each or each aggregate followed by its acknowledgment.
pub struct Station {
    pub mode: Mode,
    pub sifs: Dur,
    /// Longest A-MPDU in bytes. Absent: frames go one by one.
    pub aggregate: Option<u32>,
}

impl Station {
    /// Length of an IP packet as a frame, from MAC header to FCS.
    fn frame_bytes(&self, bytes: u32) -> u32 {
        let header = if self.mode.standard.aggregates() { QOS_HEADER_BYTES } else { HEADER_BYTES };
        header + LLC_BYTES + bytes + FCS_BYTES
    }

    /// How long a packet of so many bytes takes, with its acknowledgment.
    pub fn exchange(&self, bytes: u32) -> Dur {
        self.mode.data(self.frame_bytes(bytes)) + self.sifs + self.mode.answer(ACK_BYTES)
    }

    /// How long an aggregate takes, with its block ack.
    fn aggregate_exchange(&self, bytes: u32) -> Dur {
        self.mode.data(bytes) + self.sifs + self.mode.answer(BLOCK_ACK_BYTES)
    }

    /// How many packets of so many bytes an aggregate holds, and how long they take together.
    pub fn longest_exchange(&self, bytes: u32) -> (u32, Dur) {
        let each = self.subframe_bytes(bytes);
        let fits = |count: &u32| self.fits(count * each);
        match (2..=WINDOW as u32).rev().find(fits) {
            Some(count) => (count, self.aggregate_exchange(count * each)),
            None => (1, self.exchange(bytes)),
        }
    }

    fn subframe_bytes(&self, bytes: u32) -> u32 {
        DELIMITER_BYTES + self.frame_bytes(bytes).next_multiple_of(4)
    }

    /// May an aggregate be as long as that?
    fn fits(&self, bytes: u32) -> bool {
        self.aggregate.is_some_and(|most| bytes <= most && self.mode.data(bytes) <= LONGEST)
    }
}

impl Transmitter for Station {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        start + self.exchange(bytes)
    }

    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Time {
        let mut bytes = 0;
        while let Some(frame) = supply.take(WINDOW) {
            let longer = bytes + self.subframe_bytes(frame.bytes);
            if !burst.is_empty() && !self.fits(longer) {
                supply.put_back(frame);
                break;
            }
            burst.push(frame);
            bytes = longer;
        }
        match burst.as_slice() {
            [alone] => self.departure(start, alone.bytes),
            _ => start + self.aggregate_exchange(bytes),
        }
    }
}
