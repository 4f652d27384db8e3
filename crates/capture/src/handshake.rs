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
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    at: Option<Time>,
    /// Sent more than once: no RTT sample (Karn's algorithm).
    again: bool,
    sack: bool,
    ecn: bool,
}

impl Seen {
    fn note(&mut self, now: Time, sack: bool, ecn: bool) {
        self.again |= self.at.is_some();
        self.at = self.at.or(Some(now));
        (self.sack, self.ecn) = (sack, ecn);
    }

    fn sample(&self, answer: Option<Time>) -> Option<Dur> {
        let sent = self.at.filter(|_| !self.again)?;
        Some(answer.filter(|&answer| answer >= sent)?.since(sent))
    }

    fn or(self, other: Seen) -> Seen {
        if self.at.is_some() { self } else { other }
    }
}

impl Handshake {
    pub fn note(&mut self, packet: &TappedPacket, way: usize) {
        let (flags, now) = (packet.segment.flags, packet.time);
        let permitted = packet.segment.syn.sack_permitted;
        match (flags.contains(Flags::SYN), flags.contains(Flags::ACK)) {
            (true, false) => {
                self.client = Some(way);
                // RFC 3168 §6.1.1
                self.syn.note(now, permitted, flags.contains(Flags::ECE | Flags::CWR));
            }
            (true, true) => {
                self.client = Some(1 - way);
                let is_willing = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
                self.syn_ack.note(now, permitted, is_willing);
            }
            (false, true) if self.client == Some(way) => self.ack = self.ack.or(Some(now)),
            _ => {}
        }
    }

    /// Adds what another interface saw of the same handshake.
    #[must_use]
    pub fn with(self, other: Handshake) -> Handshake {
        Handshake {
            client: self.client.or(other.client),
            syn: self.syn.or(other.syn),
            syn_ack: self.syn_ack.or(other.syn_ack),
            ack: self.ack.or(other.ack),
        }
    }

    /// Returns whether both ends allow selective acknowledgments, as far as was captured.
    pub fn sack(self) -> bool {
        self.opening().all(|seen| seen.sack)
    }

    pub fn ecn(self) -> bool {
        self.opening().all(|seen| seen.ecn)
    }

    fn opening(self) -> impl Iterator<Item = Seen> {
        [self.syn, self.syn_ack].into_iter().filter(|seen| seen.at.is_some())
    }

    /// Returns the round trip from the tap to the endpoint that sends in direction `way`.
    pub fn rtt_to_source_of(self, way: usize) -> Option<Dur> {
        match self.client? == way {
            true => self.syn_ack.sample(self.ack),
            false => self.syn.sample(self.syn_ack.at),
        }
    }

    /// Returns the round trip over the whole path: from a SYN to the client's next packet, wherever the tap is.
    pub fn rtt(self) -> Option<Dur> {
        self.syn.sample(self.ack.filter(|_| !self.syn_ack.again))
    }
}
