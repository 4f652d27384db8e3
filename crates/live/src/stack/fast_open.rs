//! TCP Fast Open (RFC 7413) at this stack: the cookies that it has been given, and those that it grants.
//!
//! A cookie is a keyed hash of both addresses and of the time. It is good for one to two [`TICK`]s. So long the stack remembers each SYN
//! whose text it has taken, and takes none twice: a SYN that somebody has recorded opens nothing when it is sent again. If there are too
//! many to remember, text waits for the handshake.

use super::isn::InitialNumbers;
use super::peers::Peers;
use airtcp_wire::packet::Endpoints;
use airtcp_wire::tcp::Ports;
use airtcp_wire::{Dur, FastOpen, Seq, Time};
use std::collections::BTreeSet;
use std::mem;
use std::net::IpAddr;

const TICK: Dur = Dur::from_secs(256);

/// SYNs whose text is taken in a tick.
const MOST_TAKEN: usize = 1 << 16;

/// SYNs with a cookie that get no answer in a row, and none before has got one, until a router is suspected to drop
/// them (RFC 7413 §4.1.3.1), and for how long.
const MOST_UNANSWERED: u8 = 3;
const SHUNNED: Dur = Dur::from_secs(3600);

/// Bytes of the cookies that are granted, and the option that carries one.
const GRANTED: usize = 8;
pub const GRANT: FastOpen = FastOpen::cookie(GRANTED).unwrap();

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cookie {
    bytes: [u8; 16],
    len: usize,
}

impl Cookie {
    /// `None` if it is as long as no cookie is.
    pub fn new(cookie: &[u8]) -> Option<Cookie> {
        FastOpen::cookie(cookie.len())?;
        let mut bytes = [0; 16];
        bytes[..cookie.len()].copy_from_slice(cookie);
        Some(Cookie { bytes, len: cookie.len() })
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The option that carries it.
    pub fn option(&self) -> FastOpen {
        FastOpen::cookie(self.len).unwrap_or_default()
    }
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug)]
enum Peer {
    Granted { cookie: Cookie, mss: u16, unanswered: u8, has_answered: bool },
    Shunned { until: Time },
}

/// How a connection to a peer begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// With this cookie, and text for a peer with this MSS.
    Fast(Cookie, u16),
    /// With a request for a cookie.
    Request,
    Plain,
}

#[derive(Default)]
pub struct FastOpens {
    peers: Peers<Peer>,
    /// The SYNs whose text was taken in this tick and in the one before.
    taken: [BTreeSet<u64>; 2],
    tick: u64,
}

impl FastOpens {
    pub fn opening(&self, now: Time, peer: IpAddr) -> Opening {
        match self.peers.get(peer) {
            Some(&Peer::Granted { cookie, mss, .. }) => Opening::Fast(cookie, mss),
            Some(Peer::Shunned { until }) if now < *until => Opening::Plain,
            _ => Opening::Request,
        }
    }

    /// A peer has granted a cookie.
    pub fn learn(&mut self, peer: IpAddr, cookie: Cookie, mss: u16) {
        let has_answered = matches!(self.peers.get(peer), Some(Peer::Granted { has_answered: true, .. }));
        self.peers.insert(peer, Peer::Granted { cookie, mss, unanswered: 0, has_answered });
    }

    /// A connection that began with a cookie is open. Was its SYN answered, or only one that was sent later without?
    pub fn handle_open(&mut self, now: Time, peer: IpAddr, was_answered: bool) {
        let Some(known) = self.peers.get_mut(peer) else { return };
        let Peer::Granted { unanswered, has_answered, .. } = known else { return };
        *has_answered |= was_answered;
        *unanswered = if was_answered { 0 } else { unanswered.saturating_add(1) };
        if !*has_answered && *unanswered >= MOST_UNANSWERED {
            *known = Peer::Shunned { until: now + SHUNNED };
        }
    }

    /// The cookie for the client at the other end.
    pub fn grant(&self, numbers: &dyn InitialNumbers, now: Time, endpoints: &Endpoints) -> Cookie {
        cookie(numbers, tick(now), endpoints)
    }

    /// Returns whether the text of a SYN may be taken: its cookie is good, and it has not come before.
    pub fn take(
        &mut self,
        numbers: &dyn InitialNumbers,
        now: Time,
        endpoints: &Endpoints,
        syn: Seq,
        given: &Cookie,
    ) -> bool {
        self.turn(now);
        let is_good = (0..2)
            .filter_map(|age| tick(now).checked_sub(age))
            .any(|then| cookie(numbers, then, endpoints) == *given);
        let name = name(numbers, endpoints, syn);
        let is_known = self.taken.iter().any(|taken| taken.contains(&name));
        if !is_good || is_known || self.taken[0].len() >= MOST_TAKEN {
            return false;
        }
        self.taken[0].insert(name)
    }

    fn turn(&mut self, now: Time) {
        let passed = tick(now) - mem::replace(&mut self.tick, tick(now));
        match passed {
            0 => {}
            1 => self.taken = [BTreeSet::new(), mem::take(&mut self.taken[0])],
            _ => self.taken = Default::default(),
        }
    }
}

fn tick(now: Time) -> u64 {
    now.0 / TICK.0
}

fn cookie(numbers: &dyn InitialNumbers, tick: u64, endpoints: &Endpoints) -> Cookie {
    let between = Endpoints { ports: Ports { source: 0, destination: 0 }, ..*endpoints };
    let halves = [1, 2].map(|half| numbers.hash(&between, [tick, half]).to_be_bytes());
    let mut bytes = [0; 16];
    bytes[..GRANTED].copy_from_slice(halves.as_flattened());
    Cookie { bytes, len: GRANTED }
}

fn name(numbers: &dyn InitialNumbers, endpoints: &Endpoints, syn: Seq) -> u64 {
    let [high, low] = [3, 4].map(|half| u64::from(numbers.hash(endpoints, [syn.0.into(), half])));
    high << 32 | low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Secret;
    use crate::stack::peers::MOST_PEERS;

    fn endpoints(port: u16) -> Endpoints {
        Endpoints::new(([10, 0, 0, 1], 80).into(), ([10, 0, 0, 2], port).into()).unwrap()
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Dur::from_secs(seconds)
    }

    #[test]
    fn a_syn_is_taken_once_and_its_cookie_for_a_while() {
        let (numbers, mut opens) = (Secret::random().unwrap(), FastOpens::default());
        let cookie = opens.grant(&numbers, at(100), &endpoints(1));
        let mut take = |now, port, seq| opens.take(&numbers, at(now), &endpoints(port), Seq(seq), &cookie);
        assert!(take(101, 1, 7));
        assert!(!take(102, 1, 7), "it is sent again");
        assert!(take(103, 2, 7) && take(300, 1, 8), "others are not");
        assert!(!take(301, 1, 7) && !take(301, 1, 8));
        assert!(!take(2 * 256, 1, 9), "the cookie is old");
        let strangers = Endpoints::new(([10, 0, 0, 1], 80).into(), ([10, 0, 0, 3], 1).into()).unwrap();
        let cookie = opens.grant(&numbers, at(600), &endpoints(1));
        assert!(!opens.take(&numbers, at(600), &strangers, Seq(1), &cookie), "it is another's");
        assert!(opens.take(&numbers, at(600), &endpoints(1), Seq(7), &cookie));
    }

    #[test]
    fn a_flood_with_a_good_cookie_is_bounded_in_memory() {
        let (numbers, mut opens) = (Secret::random().unwrap(), FastOpens::default());
        let cookie = opens.grant(&numbers, at(0), &endpoints(1));
        let taken = (0..2 * MOST_TAKEN as u32)
            .filter(|&seq| opens.take(&numbers, at(0), &endpoints(1), Seq(seq), &cookie))
            .count();
        assert_eq!((taken, opens.taken[0].len()), (MOST_TAKEN, MOST_TAKEN));
        for peer in 0..2 * MOST_PEERS as u32 {
            opens.learn(IpAddr::V4(peer.into()), cookie, 1460);
        }
        assert_eq!(opens.peers.len(), MOST_PEERS);
    }

    /// RFC 7413 §4.1.3.1.
    #[test]
    fn a_path_that_drops_syns_with_a_cookie_is_tried_again_later() {
        let (mut opens, peer) = (FastOpens::default(), IpAddr::from([10, 0, 0, 1]));
        let cookie = Cookie::new(&[1; 8]).unwrap();
        assert_eq!(opens.opening(at(0), peer), Opening::Request);
        opens.learn(peer, cookie, 1460);
        (0..3).for_each(|_| opens.handle_open(at(1), peer, false));
        assert_eq!(opens.opening(at(2), peer), Opening::Plain);
        assert_eq!(opens.opening(at(3601), peer), Opening::Request);
        opens.learn(peer, cookie, 1460);
        opens.handle_open(at(4000), peer, true);
        (0..9).for_each(|_| opens.handle_open(at(4001), peer, false));
        assert_eq!(opens.opening(at(4002), peer), Opening::Fast(cookie, 1460), "it has worked before");
    }
}
