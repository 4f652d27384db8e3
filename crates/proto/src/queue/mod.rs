//! Queues in front of a transmitter: who is kept, who is dropped, who is marked, who goes next.

mod average;
mod codel;
mod congestion_warning;
mod drop_tail;
mod fq_codel;
mod header_first;
mod red;

pub use codel::{Codel, CodelConfig};
pub use congestion_warning::{CongestionWarning, CongestionWarningConfig};
pub use drop_tail::{DropTail, Limit};
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use header_first::HeaderFirst;
pub use red::{Red, RedConfig, RedEcn};

use airtcp_wire::{Ecn, Time};

/// A packet as a queue and a link see it. The packet itself stays with the driver, which knows it by `id`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Item {
    pub id: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// What fair queues hash: stands for addresses and ports.
    pub flow: u32,
    /// A header packet of a TCP circuit (paper 000 §4.1).
    pub is_header: bool,
    /// A queue marks by setting this to [`Ecn::Ce`].
    pub ecn: Ecn,
}

/// Why a packet did not come out at the other end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum DropCause {
    /// The queue was full.
    Overflow,
    /// An active queue management chose it (RED, CoDel, FQ-CoDel).
    Aqm,
    /// Bit errors, or a loss model's verdict: the packet used the link and never reached the receiver.
    Corruption,
    /// Lost in a hand-off or an outage.
    Outage,
}

impl DropCause {
    /// Did the network lose it for lack of room, as TCP assumes of every loss?
    pub fn is_congestion(self) -> bool {
        matches!(self, DropCause::Overflow | DropCause::Aqm)
    }
}

/// Packets that a queue gave up, in order. The driver drains it.
pub type Drops = Vec<(Item, DropCause)>;

/// A queueing discipline.
///
/// `now` never goes back between calls. What is enqueued leaves exactly once: from `dequeue`, or through `drops`.
/// The transmitter asks with `dequeue` each time it becomes free, once more than there are packets: the answer `None`
/// is how a queue learns that its link has gone idle.
pub trait Queue: Send {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops);

    /// The packet that the transmitter, free at `now`, sends next.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item>;

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

    /// RED's average queue, in the unit it counts in; `None` where there is no such thing.
    fn average(&self) -> Option<f64> {
        None
    }
}
