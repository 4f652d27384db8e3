//! What the three packets that open a connection show (RFC 9293 §3.5).

use crate::packet::TappedPacket;
use airtcp_wire::{Dur, Flags, Time};

/// A handshake as the tap saw it. Directions are numbered as in `Connection`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handshake {
    /// The direction of the first SYN.
    pub client: Option<usize>,
    syn: Seen,
    syn_ack: Seen,
    ack: Option<Time>,
    pub ecn: bool,
    pub sack: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    at: Option<Time>,
    /// Sent more than once: no RTT sample (Karn's algorithm).
    again: bool,
}

impl Seen {
    fn note(&mut self, now: Time) {
        self.again |= self.at.is_some();
        self.at = self.at.or(Some(now));
    }

    fn sample(&self, answer: Option<Time>) -> Option<Dur> {
        Some(answer?.since(self.at.filter(|_| !self.again)?))
    }
}

impl Handshake {
    pub fn note(&mut self, packet: &TappedPacket, way: usize) {
        let (flags, now) = (packet.segment.flags, packet.time);
        let permitted = packet.segment.syn.sack_permitted;
        match (flags.contains(Flags::SYN), flags.contains(Flags::ACK)) {
            (true, false) => {
                self.client = Some(way);
                self.sack = permitted;
                // RFC 3168 §6.1.1
                self.ecn = flags.contains(Flags::ECE | Flags::CWR);
                self.syn.note(now);
            }
            (true, true) => {
                self.client = Some(1 - way);
                self.sack = permitted && (self.sack || self.syn.at.is_none());
                self.ecn &= flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
                self.syn_ack.note(now);
            }
            (false, true) if self.client == Some(way) && self.syn_ack.at.is_some() => {
                self.ack = self.ack.or(Some(now));
            }
            _ => {}
        }
    }

    /// Returns the round trip from the tap to the endpoint that sends in direction `way`.
    pub fn rtt_to_source_of(self, way: usize) -> Option<Dur> {
        match self.client? == way {
            true => self.syn_ack.sample(self.ack),
            false => self.syn.sample(self.syn_ack.at),
        }
    }

    /// Returns the round trip over the whole path.
    pub fn rtt(self) -> Option<Dur> {
        Some(self.rtt_to_source_of(0)? + self.rtt_to_source_of(1)?)
    }
}
