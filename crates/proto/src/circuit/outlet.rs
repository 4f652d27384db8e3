//! Where a circuit's bursts go.

use super::Sender;
use crate::queue::Item;
use airtcp_wire::{Ecn, Header};

/// A data packet and the header packet that follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    pub item: Item,
    /// Length of the header packet on the wire.
    pub bytes: u32,
    /// ECN field of the header packet.
    pub ecn: Ecn,
    /// Stream offset of the header packet's first virtual byte.
    pub offset: u64,
}

/// A circuit's sender, and where its packets go.
pub trait Outlet {
    /// The sender.
    fn sender(&mut self) -> &mut Sender;

    /// Header packets follow in one burst: until the next call, they differ in nothing but sequence number, window and PSH.
    fn begin_burst(&mut self);

    /// Takes a data packet, and the header packet that follows it.
    fn take(&mut self, header: &Header, pair: Pair);
}
