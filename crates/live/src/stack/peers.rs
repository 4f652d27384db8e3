//! What is remembered of peers, by address. Memory has a bound.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Peers that are remembered. A further one replaces the one with the lowest address.
pub const MOST_PEERS: usize = 4096;

pub struct Peers<T> {
    known: BTreeMap<IpAddr, T>,
}

impl<T> Default for Peers<T> {
    fn default() -> Peers<T> {
        Peers { known: BTreeMap::new() }
    }
}

impl<T> Peers<T> {
    pub fn get(&self, peer: IpAddr) -> Option<&T> {
        self.known.get(&peer)
    }

    pub fn get_mut(&mut self, peer: IpAddr) -> Option<&mut T> {
        self.known.get_mut(&peer)
    }

    pub fn insert(&mut self, peer: IpAddr, known: T) {
        if self.known.len() >= MOST_PEERS && !self.known.contains_key(&peer) {
            self.known.pop_first();
        }
        self.known.insert(peer, known);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.known.len()
    }
}
