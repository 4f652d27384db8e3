//! What a node on the path may hold between two links: base-station filters, proxies, circuits.

use crate::tcp::Reason;
use airtcp_wire::{Ecn, Segment, Time};

/// Which way along the path a packet travels: `Forward` from the first link to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub enum Direction {
    #[default]
    Forward,
    Reverse,
}

impl Direction {
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }
}

/// Stands for the addresses and ports of one connection. No two connections of a run share it, one after the other
/// neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub struct FlowId(pub u64);

/// What the driver knows of a packet beside its bytes. A middlebox hands it on with the packet, at once or later; a
/// packet that the middlebox makes itself has the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Which copy of its bytes it is, counted by the driver.
    pub order: u32,
    pub reason: Reason,
    /// Stream position of the first payload byte.
    pub offset: u64,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin { order: u32::MAX, reason: Reason::New, offset: 0 }
    }
}

/// A TCP packet as a middlebox sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeenPacket {
    pub flow: FlowId,
    pub direction: Direction,
    pub ecn: Ecn,
    /// Length of the whole IP packet in bytes.
    pub bytes: u32,
    pub segment: Segment,
    pub origin: Origin,
}

/// A machine that sees every TCP packet that reaches its node and decides what leaves it.
pub trait Middlebox: Send {
    /// A packet has arrived. Returns whether it goes on as it came. What else leaves the node, after it or in its place, goes to
    /// `out`, each packet in the direction that it names.
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool;

    /// Does it send data again by itself?
    fn resends(&self) -> bool {
        false
    }

    /// Does it act only when a packet arrives, whatever the queue behind it drops?
    fn acts_at_once(&self) -> bool {
        false
    }

    /// A queue behind the node has dropped a packet that had left it. Losses on a link are not told: nobody sees them.
    fn handle_drop(&mut self, _now: Time, _packet: &SeenPacket) {}

    /// The time named by [`poll_timeout`](Middlebox::poll_timeout) has come.
    fn handle_timeout(&mut self, _now: Time, _out: &mut Vec<SeenPacket>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}
