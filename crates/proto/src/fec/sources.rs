//! The sending end's packets, from which repairs are coded.

use super::packet::Packet;
use super::{Repair, Symbol, WINDOW};
use airtcp_wire::circuit::{Fingerprint, FingerprintKey};
use std::collections::VecDeque;

/// The last [`WINDOW`] sources.
#[derive(Debug)]
pub struct Sources {
    key: FingerprintKey,
    /// The last one has the number before `next`. `None` for one that cannot be coded.
    kept: VecDeque<Option<Source>>,
    next: u32,
}

#[derive(Debug)]
struct Source {
    packet: Packet,
    /// Once it is needed.
    name: Option<Fingerprint>,
}

/// What a repair carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coded {
    pub names: Vec<Fingerprint>,
    pub symbol: Packet,
}

impl Sources {
    pub fn new(key: FingerprintKey) -> Sources {
        Sources { key, kept: VecDeque::with_capacity(WINDOW), next: 0 }
    }

    /// The source of this number has left, the next one after the last. `None` if it is no packet that can be coded.
    pub fn keep(&mut self, number: u32, packet: Option<Packet>) {
        if self.kept.len() == WINDOW {
            self.kept.pop_front();
        }
        self.kept.push_back(packet.map(|packet| Source { packet, name: None }));
        self.next = number.wrapping_add(1);
    }

    /// What a repair carries; `None` if it covers something that is not kept.
    pub fn code(&mut self, repair: Repair) -> Option<Coded> {
        let first = self.next.wrapping_sub(self.kept.len() as u32);
        let mut coded = Coded { names: Vec::new(), symbol: Packet::coded(&[]) };
        for (number, coefficient) in repair.coefficients() {
            let at = number.wrapping_sub(first) as usize;
            let source = self.kept.get_mut(at)?.as_mut()?;
            let name = *source.name.get_or_insert_with(|| self.key.name(source.packet.bytes()));
            coded.names.push(name);
            coded.symbol.add_scaled(&source.packet, coefficient);
        }
        Some(coded)
    }
}
