//! A range of the stream that was sent as one packet, and what the tap saw of it.

use crate::fates::{Fate, Fates, Slot};
use crate::packet::TappedPacket;
use crate::rtt::is_newer;
use airtcp_wire::{Dur, Time};
use smallvec::SmallVec;

/// Limit on the copies of one piece that are told apart.
const MOST_COPIES: usize = 64;

/// Distinguishes packets that carry the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    pub time: Time,
    /// TSval of the timestamps option.
    pub value: Option<u32>,
}

impl Stamp {
    pub fn of(packet: &TappedPacket) -> Stamp {
        Stamp { time: packet.time, value: packet.segment.timestamps.map(|stamps| stamps.value) }
    }

    /// Returns whether the sender's clock dates this packet before `other`; `None` if the clock cannot tell.
    pub fn is_older(&self, other: &Stamp) -> Option<bool> {
        let (own, other) = (self.value?, other.value?);
        (own != other).then(|| is_newer(other, own))
    }
}

/// One transmission that the tap saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copy {
    pub stamp: Stamp,
    pub slot: Slot,
}

/// A gap in the stream: data missing when later data passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// Slot of the first missing packet.
    pub slot: Slot,
    /// The packet that passed in its place.
    pub revealed_by: Stamp,
}

/// A piece of the stream; its start is its key.
#[derive(Clone, Debug)]
pub struct Piece {
    pub end: u64,
    /// Header length of its packet, in bytes.
    pub headers: u32,
    /// Empty if never seen.
    pub copies: SmallVec<[Copy; 1]>,
    pub hole: Option<Hole>,
    /// Set once acknowledged, by a SACK block or cumulatively.
    pub settled: Option<Settled>,
}

/// The assumed fate of an acknowledged piece's copies, unless a DSACK corrects it.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Copies assumed lost.
    pub lost: SmallVec<[Slot; 1]>,
    /// Number of copies that arrived needlessly; that many DSACKs carry no news.
    pub in_vain: u32,
}

impl Piece {
    pub fn seen(end: u64, headers: u32, copy: Copy, hole: Option<Hole>) -> Piece {
        Piece { end, headers, copies: SmallVec::from_slice(&[copy]), hole, settled: None }
    }

    pub fn unseen(end: u64, hole: Hole) -> Piece {
        Piece { end, headers: 0, copies: SmallVec::new(), hole: Some(hole), settled: None }
    }

    pub fn add(&mut self, copy: Copy) {
        if self.copies.len() < MOST_COPIES {
            self.copies.push(copy);
        }
    }

    /// Returns whether its history is more than one packet that arrived.
    pub fn is_eventful(&self) -> bool {
        self.copies.len() > 1
            || self.hole.is_some()
            || self.settled.as_ref().is_some_and(|settled| settled.in_vain > 0)
    }

    /// Returns the copy whose arrival this acknowledgment reports, and whether that is certain.
    ///
    /// If the echo belongs to this piece, it dates the copy that arrived (RFC 7323 §4.3; RFC 3522 §3.2). Otherwise it
    /// rules out a copy whose answer would be faster than any answer so far.
    pub fn arrived(&self, now: Time, echo: Option<u32>, min_rtt: Option<Dur>) -> (usize, bool) {
        let last = self.copies.len() - 1;
        let not_after = |echo: u32| {
            self.copies.iter().rposition(|copy| copy.stamp.value.is_some_and(|value| !is_newer(value, echo)))
        };
        let latest = echo.map_or(last, |echo| not_after(echo).unwrap_or(0));
        let could_be = |copy: &Copy| {
            let same_value = echo.is_none() || copy.stamp.value == self.copies[latest].stamp.value;
            same_value && now.since(copy.stamp.time) >= min_rtt.unwrap_or(Dur::ZERO).mul_f64(0.95)
        };
        let found = self.copies[..=latest].iter().rposition(could_be);
        let rivals = self.copies[..=latest].iter().filter(|copy| could_be(copy)).count();
        (found.unwrap_or(if echo.is_some() { latest } else { 0 }), last == 0 || echo.is_some() && rivals == 1)
    }

    /// Settles what no acknowledgment reports: whatever was sent again had been lost, and the last copy arrived.
    pub fn settle_unacknowledged(&mut self, fates: &mut Fates) {
        if self.settled.is_none() && !self.copies.is_empty() {
            self.settle(self.copies.len() - 1, fates);
        }
    }

    /// Settles that copy `arrived` was the first to arrive: the copies before it are lost, those after it were
    /// needless. Returns the number of needless copies.
    pub fn settle(&mut self, arrived: usize, fates: &mut Fates) -> u32 {
        let in_vain = (self.copies.len() - 1 - arrived) as u32;
        self.copies[..arrived].iter().for_each(|copy| fates.set(copy.slot, Fate::LostBehind));
        self.copies[arrived..].iter().for_each(|copy| fates.set(copy.slot, Fate::Arrived));
        let lost = self.copies[..arrived].iter().map(|copy| copy.slot).collect();
        self.settled = Some(Settled { lost, in_vain });
        in_vain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(copies: &[(u64, Option<u32>)]) -> Piece {
        let slot = Fates::default().open(1, Time::ZERO);
        let copies = copies.iter().map(|&(ms, value)| {
            let stamp = Stamp { time: Time(ms * 1_000_000), value };
            Copy { stamp, slot }
        });
        Piece { end: 1, headers: 40, copies: copies.collect(), hole: None, settled: None }
    }

    fn arrived(piece: &Piece, ms: u64, echo: Option<u32>, min_rtt_ms: u64) -> (usize, bool) {
        piece.arrived(Time(ms * 1_000_000), echo, Some(Dur::from_millis(min_rtt_ms)))
    }

    /// RFC 3522 §3.2: an echo older than the retransmission answers the original.
    #[test]
    fn the_echo_tells_the_original_from_its_retransmission() {
        let piece = piece(&[(0, Some(100)), (200, Some(300))]);
        assert_eq!(arrived(&piece, 400, Some(100), 50), (0, true));
        assert_eq!(arrived(&piece, 400, Some(300), 50), (1, true));
        assert_eq!(arrived(&piece, 400, Some(299), 50), (0, true));
    }

    #[test]
    fn an_answer_that_comes_too_soon_is_an_earlier_copy_s() {
        let piece = piece(&[(0, None), (200, None), (390, None)]);
        assert_eq!(arrived(&piece, 400, None, 50), (1, false));
        assert_eq!(arrived(&piece, 210, None, 50), (0, false));
        assert_eq!(arrived(&piece, 450, None, 50), (2, false));
    }
}
