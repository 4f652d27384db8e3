//! What a node on the path may hold between two links: base-station filters, proxies, circuits.

use airtcp_wire::{Ecn, Segment, Time};

/// Which way along the path a packet travels: `Forward` from the first link to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Direction {
    Forward,
    Reverse,
}

/// A TCP packet as a middlebox sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpPacket {
    /// Stands for the addresses and ports.
    pub flow: u32,
    pub direction: Direction,
    pub ecn: Ecn,
    /// Length of the whole IP packet in bytes.
    pub bytes: u32,
    pub segment: Segment,
}

/// A machine that sees every TCP packet that reaches its node and decides what leaves it.
pub trait Middlebox: Send {
    /// A packet has arrived. What shall leave the node goes to `out`: the packet itself, changed or not, others,
    /// or nothing. A packet leaves in the direction that it names.
    fn handle_packet(&mut self, now: Time, packet: TcpPacket, out: &mut Vec<TcpPacket>);

    /// The time named by [`poll_timeout`](Middlebox::poll_timeout) has come.
    fn handle_timeout(&mut self, _now: Time, _out: &mut Vec<TcpPacket>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}
