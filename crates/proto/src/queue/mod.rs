//! Queues in front of a transmitter: which packets are kept, dropped or marked, and which goes next.
//!
//! A new queue is a module with a `Config` that implements [`Keys`], and one line in `choice!` below. Scenario files, their JSON Schema and
//! the tests find it there.

mod average;
pub mod codel;
pub mod congestion_warning;
pub mod drop_tail;
pub mod fq_codel;
pub mod header_first;
pub mod red;
pub mod token_bucket;

pub use drop_tail::{DropTail, Limit};

use crate::Chance;
use crate::choice::{Faults, choice};
use airtcp_wire::{Bytes, Ecn, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice! {
    /// Which packets are dropped or marked, and which goes next.
    Discipline: dyn Keys beside Room, by "discipline" = Some("droptail");
    "droptail" => DropTail(drop_tail::Config),
    "red" => Red(red::Config),
    "congestion-warning" => CongestionWarning(congestion_warning::Config),
    "header-first" => HeaderFirst(header_first::Config),
    "codel" => Codel(codel::Config),
    "fq-codel" => FqCodel(fq_codel::Config),
    "token-bucket" => TokenBucket(token_bucket::Config),
}

/// The keys of one discipline. Field names are the keys, doc comments their documentation; serde fills in defaults.
pub trait Keys {
    /// Reports values that make no sense.
    fn check(&self, _: &mut Faults) {}

    /// Default room in packets. `None`: a bandwidth-delay product.
    fn default_packets(&self) -> Option<u32> {
        None
    }

    /// Least room in packets.
    fn least_packets(&self) -> u32 {
        1
    }

    /// The tokens that packets need; `None`: none.
    fn bucket(&self) -> Option<Bucket> {
        None
    }

    fn build(&self, build: Build) -> Box<dyn Queue>;
}

/// No more than `burst` and what `rate` carries passes in any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    pub rate: Rate,
    pub burst: Bytes,
}

/// What a queue is built from, beside its own keys.
pub struct Build {
    pub limit: Limit,
    /// Mean rate of the link.
    pub rate: Rate,
    pub chance: Chance,
}

/// The queue in front of the link. Keys that belong to another discipline are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Queue")]
pub struct Room {
    /// Room in packets. Absent, and `bytes` too: what the discipline says, or else one bandwidth-delay product of the whole
    /// path at this link's (mean) rate in 1500-byte packets, but at least 50.
    pub packets: Option<u32>,
    /// Room in bytes. Absent: only `packets` counts.
    pub bytes: Option<Bytes>,
}

impl From<Room> for Limit {
    fn from(room: Room) -> Limit {
        Limit {
            packets: room.packets.unwrap_or(u32::MAX),
            bytes: room.bytes.map_or(u64::MAX, |bytes| bytes.0),
        }
    }
}

/// A packet as a queue and a link see it. The packet itself stays with the driver, which knows it by `id`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Item {
    pub id: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Stands for addresses and ports, which fair queues hash.
    pub flow: u32,
    /// Is it a header packet of a TCP circuit (paper 000 §4.1)?
    pub is_header: bool,
    /// A queue marks the packet by setting this to [`Ecn::Ce`].
    pub ecn: Ecn,
}

/// Why a packet did not come out at the far end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum DropCause {
    /// The queue was full.
    Overflow,
    /// Active queue management chose the packet (RED, CoDel, FQ-CoDel).
    Aqm,
    /// Bit errors or another loss model: the packet used the link, but was unreadable.
    Corruption,
    /// A hand-off or an outage.
    Outage,
}

impl DropCause {
    /// Did the network drop the packet because of congestion, as TCP assumes of every loss?
    pub fn is_congestion(self) -> bool {
        matches!(self, DropCause::Overflow | DropCause::Aqm)
    }
}

/// Packets that a queue has dropped, in order. The driver drains it.
pub type Drops = Vec<(Item, DropCause)>;

/// A queueing discipline.
///
/// `now` never goes back between calls. An enqueued packet leaves exactly once: from `dequeue` or `discard`, or through `drops`. The
/// transmitter calls `dequeue` each time it becomes free. If that returns `None`, the queue knows that its link is idle; the transmitter
/// asks again when a packet comes, or at `ready_at`.
pub trait Queue: Send {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops);

    /// The packet that the transmitter, free at `now`, sends next.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item>;

    /// When a packet may go that `dequeue` has just refused; never if none waits.
    fn ready_at(&self) -> Time {
        Time::NEVER
    }

    /// A packet that waits, whether it may go or not: a hand-off loses all of them.
    fn discard(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        self.dequeue(now, drops)
    }

    /// Packets waiting.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes waiting.
    fn bytes(&self) -> u64;

    /// Packets marked so far.
    fn marked(&self) -> u64 {
        0
    }

    /// RED's average queue, in the unit it counts in; `None` for a queue without an average.
    fn average(&self) -> Option<f64> {
        None
    }
}
