//! The longest packet that a connection's path carries: what its first link carries, what routers tell (RFC 1191,
//! RFC 8201), and what is found out where nobody tells (RFC 4821).
//!
//! A smaller size is believed at once. After a while, one segment of new data leaves in a longer packet: if it is
//! acknowledged, the path carries that size; if it is resent, it may not, and is tried a few times more. Between a size
//! that passes and one that does not, the next one tried is half-way.

use airtcp_wire::{Dur, Time};
use std::ops::Range;

/// How long a smaller size is believed (RFC 1191 §6.3, RFC 8201 §4).
const AGE: Dur = Dur::from_secs(600);

/// The same after timeouts, which may have had another cause, such as an outage of the link.
const AGE_AFTER_TIMEOUTS: Dur = Dur::from_secs(60);

/// Time between two tries. Each that is lost costs the connection a reduction of cwnd, which RFC 4821 §7.6 would spare it.
const PAUSE: Dur = Dur::from_secs(10);

/// Expiries in a row of a full segment's timer after which the path counts as a black hole (RFC 4821 §7.7): three
/// retransmissions were in vain (RFC 1122 §4.2.3.5, R1), as in Linux.
const EXPIRIES: u32 = 4;

/// Tries of one size. A lossy link loses some of them, whatever their size (RFC 8899 §5.1.2, MAX_PROBES).
const TRIES: u32 = 3;

/// Bytes that are not worth another try.
const CLOSE: u32 = 32;

/// Sizes that are tried when timeouts are all that is known, and below which none is believed.
#[derive(Clone, Copy, Debug)]
struct Floors {
    /// RFC 4821 §7.2.
    base: u32,
    least: u32,
}

/// RFC 8200 §5: every link carries that much.
pub const LEAST_V6: u32 = 1280;

/// Linux's `min_pmtu`, because a smaller claim would harm us (RFC 5927 §7).
pub const LEAST_V4: u32 = 552;

#[derive(Debug)]
pub struct PathMtu {
    /// Of the first link.
    link: u32,
    /// What the links beyond carry, as far as is known.
    beyond: u32,
    floors: Floors,
    /// The smallest size that has been tried in vain.
    in_vain: u32,
    tries: u32,
    try_at: Time,
    trial: Option<Trial>,
}

/// A longer packet is under way.
#[derive(Debug)]
struct Trial {
    size: u32,
    /// Stream offsets of its payload.
    payload: Range<u64>,
}

impl PathMtu {
    /// All sizes in bytes, IP header included.
    pub fn new(link: u32, is_ipv4: bool) -> PathMtu {
        let floors = match is_ipv4 {
            true => Floors { base: 1024, least: LEAST_V4 },
            false => Floors { base: LEAST_V6, least: LEAST_V6 },
        };
        let none = u32::MAX;
        PathMtu { link, beyond: none, floors, in_vain: none, tries: 0, try_at: Time::NEVER, trial: None }
    }

    /// The longest packet that may leave, unless it is a trial.
    pub fn longest(&self) -> u32 {
        self.link.min(self.beyond)
    }

    /// The longest packet whose payload begins at this offset.
    pub fn longest_from(&self, offset: u64) -> u32 {
        let trial = self.trial.as_ref().filter(|trial| trial.payload.contains(&offset));
        trial.map_or(self.longest(), |trial| trial.size.min(self.link))
    }

    /// The first link carries packets of this size from now on.
    pub fn handle_link(&mut self, now: Time, mtu: u32) {
        if mtu > self.link && self.beyond < mtu {
            // What failed may have failed there.
            self.start_over(now);
        }
        self.link = mtu;
    }

    /// A router beyond the first link reports that a packet at `offset` was too long, and that `mtu` passes. Returns
    /// whether that is news.
    pub fn handle_too_big(&mut self, now: Time, offset: u64, mtu: u32) -> bool {
        let mtu = mtu.max(self.floors.least);
        let of_trial = |trial: &Trial| mtu < trial.size && trial.payload.contains(&offset);
        let is_news = mtu < self.longest() || self.trial.as_ref().is_some_and(of_trial);
        if is_news {
            self.lower(now + AGE, mtu);
        }
        is_news
    }

    /// The timer of a segment has expired so often in a row, which left in packets of up to `size` bytes. Returns
    /// whether shorter packets are to be sent.
    pub fn handle_expiry(&mut self, now: Time, expiries: u32, size: u32) -> bool {
        let Floors { base, least } = self.floors;
        let size = size.min(self.longest());
        let shorter = [base, least].into_iter().find(|&floor| floor < size);
        let Some(shorter) = shorter.filter(|_| expiries >= EXPIRIES) else { return false };
        self.lower(now + AGE_AFTER_TIMEOUTS, shorter);
        true
    }

    /// The size to try now, if it is time for that. `useful`: no packet of the connection is longer.
    pub fn poll_trial(&mut self, now: Time, useful: u32) -> Option<u32> {
        if now < self.try_at || self.trial.is_some() {
            return None;
        }
        let most = self.link.min(useful);
        if self.beyond >= most {
            return None;
        }
        Some(if self.in_vain > most { most } else { self.longest().midpoint(self.in_vain) })
    }

    /// A segment has left as a trial.
    pub fn begin_trial(&mut self, size: u32, payload: Range<u64>) {
        self.trial = Some(Trial { size, payload });
    }

    /// Everything before this offset has been acknowledged. Returns whether longer packets may leave from now on.
    pub fn handle_ack(&mut self, now: Time, acknowledged: u64) -> bool {
        let Some(trial) = self.trial.take_if(|trial| trial.payload.end <= acknowledged) else { return false };
        self.beyond = trial.size;
        self.tries = 0;
        self.rest_or_go_on(now, now);
        true
    }

    /// A segment whose payload begins at this offset is sent again.
    pub fn handle_resent(&mut self, now: Time, offset: u64) {
        let Some(trial) = self.trial.take_if(|trial| trial.payload.contains(&offset)) else { return };
        self.tries += 1;
        if self.tries >= TRIES {
            (self.tries, self.in_vain) = (0, trial.size);
        }
        self.rest_or_go_on(now, now + PAUSE);
    }

    fn lower(&mut self, until: Time, size: u32) {
        self.beyond = size;
        self.start_over(until);
    }

    fn start_over(&mut self, at: Time) {
        (self.in_vain, self.tries, self.try_at, self.trial) = (u32::MAX, 0, at, None);
    }

    /// The search goes on at `next`, unless it has come close to what does not pass: then it begins anew after a while.
    fn rest_or_go_on(&mut self, now: Time, next: Time) {
        match self.in_vain.saturating_sub(self.longest()) <= CLOSE {
            true => self.start_over(now + AGE),
            false => self.try_at = next,
        }
    }
}

#[cfg(test)]
mod tests;
