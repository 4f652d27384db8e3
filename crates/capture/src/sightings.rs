//! Recognises a packet that the tap sees again on one interface: from a second port of a switch, or behind a router.

use crate::packet::TappedPacket;
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Dur, Segment, SynOptions, Time};
use std::collections::{BTreeMap, VecDeque};

/// Limit on the packets remembered; beyond it the oldest is forgotten.
const MOST: usize = 1 << 15;

/// The packets seen last, by their prints' hashes.
#[derive(Default)]
pub struct Sightings {
    known: BTreeMap<u64, (Print, Time)>,
    /// In order of arrival.
    hashes: VecDeque<u64>,
}

/// What stays the same of a packet along its way. Hop limit, tags, addresses of the link layer and ECN marks change, and
/// so does the MSS, which a router may clamp.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Print {
    interface: u64,
    endpoints: Endpoints,
    id: u16,
    segment: Segment,
}

impl Sightings {
    /// Returns how long ago this packet was first seen, if that is at most `within`; otherwise remembers it.
    pub fn again(&mut self, packet: &TappedPacket, within: Dur) -> Option<Dur> {
        let print = Print::of(packet);
        let hash = print.hash();
        let known = self.known.get(&hash).filter(|(known, _)| *known == print);
        // Where ports are merged, times may go back a little.
        let lag = known.map(|(_, first)| Dur(packet.time.0.abs_diff(first.0)));
        if let Some(lag) = lag.filter(|&lag| lag <= within) {
            return Some(lag);
        }
        self.known.insert(hash, (print, packet.time));
        self.hashes.push_back(hash);
        if self.hashes.len() > MOST
            && let Some(oldest) = self.hashes.pop_front()
        {
            self.known.remove(&oldest);
        }
        None
    }
}

impl Print {
    fn of(packet: &TappedPacket) -> Print {
        let segment = Segment { syn: SynOptions::default(), ..packet.segment };
        Print { interface: packet.interface, endpoints: packet.endpoints, id: packet.id, segment }
    }

    /// Of the fields that differ most.
    fn hash(&self) -> u64 {
        let Print { interface, endpoints, id, segment } = self;
        let stamp = segment.timestamps.map_or(0, |stamps| stamps.value);
        let words = [segment.seq.0, segment.ack.0, segment.len << 16 | u32::from(*id), stamp];
        let ports = u64::from(endpoints.ports.source) << 16 | u64::from(endpoints.ports.destination);
        let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        words.into_iter().fold(mix(*interface, ports), |hash, word| mix(hash, word.into()))
    }
}
