//! Round trips of earlier connections, by peer (RFC 9040): those of the last one.

use airtcp_wire::Dur;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Peers that are remembered. A further one replaces the one with the lowest address.
const MOST_PEERS: usize = 4096;

#[derive(Default)]
pub struct RoundTrips {
    /// SRTT and RTTVAR.
    known: BTreeMap<IpAddr, (Dur, Dur)>,
}

impl RoundTrips {
    pub fn get(&self, peer: IpAddr) -> Option<(Dur, Dur)> {
        self.known.get(&peer).copied()
    }

    pub fn learn(&mut self, peer: IpAddr, known: (Dur, Dur)) {
        if self.known.len() >= MOST_PEERS && !self.known.contains_key(&peer) {
            self.known.pop_first();
        }
        self.known.insert(peer, known);
    }
}
