//! Handshakes that others have begun: of each only its SYN is kept (RFC 4987 §3.5).
//!
//! A machine is made of the SYN whenever a packet or a timer needs one, and repeats what it has done. It is kept once the
//! handshake is complete.

use super::fast_open::GRANT;
use airtcp_proto::tcp::{Connection, TcpConfig};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Ecn, Segment, Seq, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A SYN-ACK leaves at most so many times, which takes 15 seconds with an initial RTO of one.
const MOST_SENT: u8 = 4;

/// Bytes that a handshake takes. Little more than half of a B-tree's nodes is in use (measured).
pub const HALF_OPEN_BYTES: usize =
    (size_of::<(Endpoints, Begun)>() + size_of::<(Time, Endpoints)>()) * 15 / 8;

#[derive(Default)]
pub struct HalfOpen {
    /// By the ends, from us to the peer.
    begun: BTreeMap<Endpoints, Begun>,
    due: BTreeSet<(Time, Endpoints)>,
}

/// A handshake.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The peer's SYN, without text, which it sends again. If it has the Fast Open option, the SYN-ACK grants a cookie.
    pub syn: Segment,
    pub iss: Seq,
    /// When the SYN arrived.
    pub at: Time,
    /// How often a SYN-ACK has left.
    pub sent: u8,
    /// When the next one is due.
    pub due: Time,
}

impl HalfOpen {
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    pub fn get(&self, endpoints: &Endpoints) -> Option<&Begun> {
        self.begun.get(endpoints)
    }

    pub fn insert(&mut self, endpoints: Endpoints, begun: Begun) {
        self.due.insert((begun.due, endpoints));
        self.begun.insert(endpoints, begun);
    }

    pub fn remove(&mut self, endpoints: &Endpoints) -> Option<Begun> {
        let begun = self.begun.remove(endpoints)?;
        self.due.remove(&(begun.due, *endpoints));
        Some(begun)
    }

    pub fn poll_timeout(&self) -> Time {
        self.due.first().map_or(Time::NEVER, |&(due, _)| due)
    }

    /// Takes out a handshake whose SYN-ACK was not answered in time.
    pub fn take_due(&mut self, now: Time) -> Option<(Endpoints, Begun)> {
        let &(_, endpoints) = self.due.first().filter(|&&(due, _)| due <= now)?;
        self.remove(&endpoints).map(|begun| (endpoints, begun))
    }
}

impl Begun {
    /// The machine that has sent the SYN-ACKs. `None` if the configuration is not possible.
    pub fn machine(&self, config: &TcpConfig, seed: u64) -> Option<Connection> {
        let mut machine = Connection::listen(config, self.iss, seed).ok()?;
        if !self.syn.syn.fast_open.is_absent() {
            machine.grant_cookie(GRANT);
        }
        machine.handle_segment(self.at, &self.syn, Ecn::NotEct);
        for sent in 0..self.sent {
            let at = if sent == 0 { self.at } else { machine.poll_timeout() };
            if sent > 0 {
                machine.handle_timeout(at);
            }
            machine.poll_transmit(at)?;
        }
        Some(machine)
    }

    /// Returns whether the peer is given up.
    pub fn is_in_vain(&self) -> bool {
        self.sent >= MOST_SENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_proto::tcp::profile;
    use airtcp_wire::{Dur, Flags};

    /// What a machine that is made again sends is what the first one would have sent.
    #[test]
    fn a_machine_made_again_goes_on_where_the_first_one_was() {
        let config = profile::linux();
        let syn = Segment { seq: Seq(7), flags: Flags::SYN, window: 1000, ..Segment::default() };
        let at = Time::ZERO + Dur::from_secs(5);
        let mut begun = Begun { syn, iss: Seq(100), at, sent: 0, due: at };
        let mut first = begun.machine(&config, 1).unwrap();
        let mut now = at;
        for sent in 1..=MOST_SENT {
            let mut again = begun.machine(&config, 1).unwrap();
            if sent > 1 {
                first.handle_timeout(now);
                again.handle_timeout(now);
            }
            let segment = first.poll_transmit(now);
            assert!(segment.is_some() && segment == again.poll_transmit(now), "{sent}");
            assert_eq!(first.poll_timeout(), again.poll_timeout());
            begun.sent = sent;
            now = first.poll_timeout();
        }
        assert!(begun.is_in_vain());
        assert!(now.since(at) < Dur::from_secs(32), "it ends in seconds");
    }
}
