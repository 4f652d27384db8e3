//! FEC for header packets: each one says how many others directly precede it, and so stands in for those.
//!
//! A header packet has no content but its position, so repeating it costs nothing. FEC hides losses from the control TCPs, those by
//! congestion included, but the reports on data show them.

use super::config::MAX_FEC;
use airtcp_wire::{Segment, Seq};

/// The sender's end.
#[derive(Debug)]
pub struct Repeater {
    most: u8,
    /// Where the next new header packet begins.
    next: Option<Seq>,
    /// How many header packets precede the next one without a gap, at most `most`.
    run: u8,
}

impl Repeater {
    pub fn new(most: u8) -> Repeater {
        Repeater { most, next: None, run: 0 }
    }

    #[inline]
    pub fn is_in_use(&self) -> bool {
        self.most > 0
    }

    /// How many header packets this one repeats. A retransmission repeats none.
    pub fn repeats(&mut self, header: &Segment) -> u8 {
        self.run = if self.next == Some(header.seq) { self.most.min(self.run + 1) } else { 0 };
        self.next = Some(header.seq.at(u64::from(header.len)));
        self.run
    }
}

/// How many header packets are remembered: more than come late, after one that repeats them.
const REMEMBERED: usize = 4 * MAX_FEC as usize;

/// The receiver's end.
#[derive(Debug, Default)]
pub struct Restorer {
    /// The header packets that came last, and whether each was restored.
    latest: [Option<(Seq, bool)>; REMEMBERED],
    oldest: usize,
}

impl Restorer {
    /// A header packet has come that repeats `repeats` others. Returns how many of those, directly before it, must be restored. `None` if
    /// this one had been restored itself.
    pub fn missing(&mut self, header: &Segment, repeats: u8) -> Option<u8> {
        if let Some((_, restored)) = self.latest.iter_mut().flatten().find(|(seq, _)| *seq == header.seq)
            && std::mem::take(restored)
        {
            return None;
        }
        let before = |n: u8| Seq(header.seq.0.wrapping_sub(header.len * u32::from(n)));
        let has_come = |seq: Seq| self.latest.iter().flatten().any(|(known, _)| *known == seq);
        let missing = (1..=repeats).take_while(|&n| !has_come(before(n))).count() as u8;
        (1..=missing).rev().for_each(|n| self.remember(before(n), true));
        self.remember(header.seq, false);
        Some(missing)
    }

    fn remember(&mut self, seq: Seq, is_restored: bool) {
        self.latest[self.oldest] = Some((seq, is_restored));
        self.oldest = (self.oldest + 1) % REMEMBERED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(n: u32) -> Segment {
        Segment { seq: Seq(u32::MAX - 4000).at(u64::from(n) * 1500), len: 1500, ..Segment::default() }
    }

    #[test]
    fn new_ones_repeat_and_retransmissions_do_not() {
        let mut repeater = Repeater::new(2);
        let repeats = [0, 1, 2, 3, 1, 4, 5].map(|n| repeater.repeats(&header(n)));
        assert_eq!(repeats, [0, 1, 2, 2, 0, 0, 1]);
    }

    #[test]
    fn those_that_are_lost_are_restored_once() {
        let mut restorer = Restorer::default();
        assert_eq!(restorer.missing(&header(0), 0), Some(0));
        assert_eq!(restorer.missing(&header(3), 2), Some(2));
        assert_eq!(restorer.missing(&header(2), 2), None, "it comes late");
        assert_eq!(restorer.missing(&header(2), 0), Some(0), "it is sent again");
        assert_eq!(restorer.missing(&header(4), 2), Some(0));
    }
}
