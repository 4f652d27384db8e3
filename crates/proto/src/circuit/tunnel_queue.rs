//! Data packets on their way into a circuit.

use super::REPAIR_HEADERS;
use super::config::Config;
use crate::fec::{Encoder, Repair};
use crate::queue::Item;
use crate::ring::Ring;
use airtcp_wire::circuit::FINGERPRINT_LEN;
use airtcp_wire::{Dur, Time};

/// Packets that have room however little data may wait.
const LEAST: usize = 4;

/// What leaves.
#[derive(Clone, Copy, Debug)]
pub enum Leaving {
    Data(Item),
    Repair { repair: Repair, bytes: u32 },
}

impl Leaving {
    pub fn bytes(&self) -> u32 {
        match self {
            Leaving::Data(item) => item.bytes,
            Leaving::Repair { bytes, .. } => *bytes,
        }
    }
}

/// What repairs data packets, and how many repairs wait. They do so while no data does.
#[derive(Debug, Default)]
struct Repairs {
    encoder: Encoder,
    due: u32,
    /// Number of the data packet that left last.
    last: u32,
}

impl Repairs {
    fn bytes(&self) -> u32 {
        REPAIR_HEADERS + FINGERPRINT_LEN as u32 * self.encoder.repair_sources() + self.encoder.repair_bytes()
    }
}

/// First in, first out, for any consumer (§4.5.1).
#[derive(Debug)]
pub struct TunnelQueue {
    packets: Ring<Item>,
    bytes: u64,
    /// Length of the packet that came last, at least 1. Where data is repaired, of the longest so far, at least VMSS: what a short
    /// transfer begins with says nothing of what follows, which would find the queue full.
    length: u64,
    limit: usize,
    repairs: Option<Box<Repairs>>,
}

impl TunnelQueue {
    pub fn new(config: &Config) -> TunnelQueue {
        let limit = config.tunnel_queue as usize;
        let repairs: Option<Box<Repairs>> = config.fec.repairs_data().then(Box::default);
        let length = if repairs.is_some() { config.vmss.0 } else { 1 };
        TunnelQueue { packets: Ring::default(), bytes: 0, length, limit, repairs }
    }

    #[inline]
    pub fn push(&mut self, item: Item) {
        let length = u64::from(item.bytes.max(1));
        self.bytes += u64::from(item.bytes);
        self.packets.push_back(item);
        match &mut self.repairs {
            None => self.length = length,
            Some(repairs) => {
                self.length = self.length.max(length);
                repairs.due = 0;
                repairs.encoder.on_backlog();
            }
        }
    }

    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Leaving> {
        let Some(&item) = self.first() else { return self.pop_repair(now) };
        self.drop_first(&item);
        if let Some(repairs) = &mut self.repairs {
            repairs.last = repairs.encoder.on_source(now, item.bytes, self.packets.is_empty());
        }
        Some(Leaving::Data(item))
    }

    fn pop_repair(&mut self, now: Time) -> Option<Leaving> {
        let repairs = self.repairs.as_mut().filter(|repairs| repairs.due > 0)?;
        repairs.due -= 1;
        Some(Leaving::Repair { bytes: repairs.bytes(), repair: repairs.encoder.repair(now) })
    }

    /// Of `sent` data packets and repairs, `lost` are missing, each modulo 2^16.
    #[inline]
    pub fn on_report(&mut self, sent: u16, lost: u16) {
        if let Some(repairs) = &mut self.repairs {
            repairs.encoder.on_report(sent, lost);
        }
    }

    /// Lets repairs wait that are due. A round trip takes `round`.
    pub fn handle_timeout(&mut self, now: Time, round: Dur) {
        if let Some(repairs) = &mut self.repairs
            && repairs.encoder.poll_timeout() <= now
        {
            repairs.due = repairs.encoder.due(now, round);
        }
    }

    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.repairs.as_ref().map_or(Time::NEVER, |repairs| repairs.encoder.poll_timeout())
    }

    pub fn last_source(&self) -> Option<u32> {
        self.repairs.as_ref().map(|repairs| repairs.last)
    }

    #[inline]
    pub fn first(&self) -> Option<&Item> {
        self.packets.front()
    }

    /// Removes the first packet, which is `item`.
    #[inline]
    pub fn drop_first(&mut self, item: &Item) {
        self.packets.drop_front();
        self.bytes -= u64::from(item.bytes);
    }

    #[inline]
    pub fn first_bytes(&self) -> Option<u32> {
        match self.first() {
            Some(item) => Some(item.bytes),
            None => self.repairs.as_ref().filter(|repairs| repairs.due > 0).map(|repairs| repairs.bytes()),
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.repairs.as_ref().is_none_or(|repairs| repairs.due == 0)
    }

    /// Is there [room](TunnelQueue::room) for another packet?
    #[inline]
    pub fn has_room(&self, bytes: u64) -> bool {
        let waiting = self.packets.len();
        waiting < self.limit && (waiting < LEAST || self.bytes + self.length <= bytes)
    }

    /// How many packets as long as the last one have room, if `bytes` may wait.
    #[inline]
    pub fn room(&self, bytes: u64) -> u32 {
        if !self.has_room(bytes) {
            return 0;
        }
        let waiting = self.packets.len();
        let fitting = bytes.saturating_sub(self.bytes) / self.length;
        let room = usize::try_from(fitting).unwrap_or(usize::MAX).max(LEAST.saturating_sub(waiting));
        room.min(self.limit - waiting) as u32
    }
}
