//! Middleboxes: what may stand at a node between two links, such as base-station filters and proxies.

use crate::tcp::Reason;
use airtcp_wire::ip::IPV4_HEADER_LEN;
use airtcp_wire::{Ecn, Segment, Time, tcp};

/// The direction in which a packet travels along the path: `Forward` is from the first link to the last.
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

/// Stands for the addresses and ports of one connection. No two connections of a run share it, not even one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub struct FlowId(pub u64);

/// What the driver knows of a packet beside its bytes. A middlebox passes it on with the packet. A packet that the middlebox makes
/// itself has the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The driver's number for this copy of the bytes.
    pub order: u32,
    pub reason: Reason,
    /// Stream offset of the first payload byte.
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

impl SeenPacket {
    /// A packet that a middlebox makes itself.
    pub(crate) fn made(flow: FlowId, direction: Direction, segment: Segment) -> SeenPacket {
        let bytes = (IPV4_HEADER_LEN + tcp::header_len(&segment)) as u32 + segment.len;
        SeenPacket { flow, direction, ecn: Ecn::NotEct, bytes, segment, origin: Origin::default() }
    }
}

/// A machine that sees every TCP packet at its node and decides which packets leave the node.
pub trait Middlebox: Send {
    /// A packet has arrived. Returns whether it goes on unchanged. All other packets that leave, after it or in its place, are added to
    /// `out`; each names its direction.
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool;

    /// Does it retransmit data by itself?
    fn resends(&self) -> bool {
        false
    }

    /// Does it act only when a packet arrives? Then it has no timeouts and ignores drops.
    fn acts_at_once(&self) -> bool {
        false
    }

    /// Does it hold something that it must send by itself: a packet kept back, data taken over, a copy that it means to resend? Then a
    /// timer must run, or nobody would ever send it.
    fn holds(&self) -> bool {
        false
    }

    /// A queue behind the node has dropped a packet that left the node. Not called for losses on a link, which nobody sees.
    fn handle_drop(&mut self, _now: Time, _packet: &SeenPacket) {}

    /// The time that [`poll_timeout`](Middlebox::poll_timeout) returned has come.
    fn handle_timeout(&mut self, _now: Time, _out: &mut Vec<SeenPacket>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}
