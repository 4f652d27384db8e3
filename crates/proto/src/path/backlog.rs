//! What waits for a transmitter of constant rate that is never idle while something waits.
//!
//! Packets of one size that follow each other leave it at equal intervals, and so do pairs of two sizes. So a run of them is
//! remembered by its end alone, and those that have been taken up meanwhile are counted only when somebody asks.

use crate::ring::Ring;
use airtcp_wire::{Dur, Time};

/// Packets back to back, of one size or of two by turns. Some of the first may be forgotten.
#[derive(Clone, Copy, Default)]
struct Run {
    /// When the transmitter is through with the last one.
    end: Time,
    packets: u32,
    /// The size of all, so far; [`BY_TURNS`]: they are of two.
    size: u32,
    last: Shape,
    /// Of the one before the last.
    other: Shape,
}

/// A packet's size in bytes, and for how long it holds the transmitter.
#[derive(Clone, Copy, Default)]
struct Shape {
    held: Dur,
    bytes: u32,
}

/// No packet's size.
const BY_TURNS: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Backlog {
    /// In the order in which they arrived, before the last one.
    runs: Ring<Run>,
    last: Run,
    /// In all runs: at least those that wait.
    packets: usize,
    bytes: u64,
}

impl Backlog {
    /// At least so many packets wait, with so many bytes: those that did when it was [counted](Backlog::count), and all since.
    #[inline]
    pub fn at_least(&self) -> (usize, u64) {
        (self.packets, self.bytes)
    }

    /// The transmitter takes up a packet at once, and nothing waits.
    #[inline]
    pub fn clear(&mut self) {
        if self.packets > 0 {
            self.runs.clear();
            self.last.packets = 0;
            (self.packets, self.bytes) = (0, 0);
        }
    }

    /// So many packets alike have to wait. Each will hold the transmitter for `held`, the last one until `end`.
    #[inline]
    pub fn push(&mut self, packets: u32, bytes: u32, held: Dur, end: Time) {
        let mut left = packets;
        while left > 0 && bytes != self.last.size {
            left -= 1;
            self.turn_to(Shape { held, bytes });
            self.extend(1, bytes, end - held * u64::from(left));
        }
        if left > 0 {
            self.extend(left, bytes, end);
        }
    }

    /// More packets of that size.
    #[inline]
    fn extend(&mut self, packets: u32, bytes: u32, end: Time) {
        self.last.end = end;
        self.last.packets += packets;
        self.packets += packets as usize;
        self.bytes += u64::from(packets) * u64::from(bytes);
    }

    /// The next packet has another shape than the last one.
    fn turn_to(&mut self, shape: Shape) {
        let run = &mut self.last;
        if run.packets == 1 || (run.size == BY_TURNS && run.other.bytes == shape.bytes) {
            (run.other, run.last, run.size) = (run.last, shape, BY_TURNS);
            return;
        }
        if run.packets > 0 {
            self.runs.push_back(*run);
        }
        self.last = Run { size: shape.bytes, last: shape, other: shape, ..Run::default() };
    }

    /// So many packets wait at `now`, with so many bytes.
    #[inline(never)]
    pub fn count(&mut self, now: Time) -> (usize, u64) {
        while let Some(first) = self.runs.front_mut() {
            let before = (first.packets, first.bytes());
            first.packets = first.waiting(now);
            self.packets -= (before.0 - first.packets) as usize;
            self.bytes -= before.1 - first.bytes();
            if first.packets > 0 {
                return (self.packets, self.bytes);
            }
            self.runs.drop_front();
        }
        // Nothing waits before the last run.
        self.last.packets = self.last.waiting(now);
        self.packets = self.last.packets as usize;
        self.bytes = self.last.bytes();
        (self.packets, self.bytes)
    }

    /// The times from `now` until each packet that waits is taken up, added up in nanoseconds modulo 2⁶⁴.
    pub fn waits_ns(&mut self, now: Time) -> u64 {
        self.count(now);
        let runs = self.runs.iter().chain([&self.last]);
        runs.map(|run| run.waits_ns(now)).fold(0, u64::wrapping_add)
    }
}

impl Run {
    /// How many of them wait at `now`: a packet does until the one before it leaves.
    #[inline]
    fn waiting(&self, now: Time) -> u32 {
        let left = self.end.since(now);
        if left <= self.last.held {
            return 0;
        }
        if self.packets == 1 {
            return 1;
        }
        let (before, pair) = (left.0 - 1, self.last.held + self.other.held);
        let all = u64::from(self.packets);
        let waiting = before
            .checked_div(pair.0)
            .map_or(all, |pairs| 2 * pairs + u64::from(before - pairs * pair.0 >= self.last.held.0));
        waiting.min(all) as u32
    }

    /// How many of them have the shape of the last one, and how many the other.
    #[inline]
    fn by_shape(&self) -> (u64, u64) {
        (u64::from(self.packets.div_ceil(2)), u64::from(self.packets / 2))
    }

    #[inline]
    fn bytes(&self) -> u64 {
        let (last, other) = self.by_shape();
        last * u64::from(self.last.bytes) + other * u64::from(self.other.bytes)
    }

    fn waits_ns(&self, now: Time) -> u64 {
        let (last, other) = self.by_shape();
        let lasts = self.last.held.0.wrapping_mul(last * (other + 1));
        let others = self.other.held.0.wrapping_mul(last * other);
        self.end.since(now).0.wrapping_mul(u64::from(self.packets)).wrapping_sub(lasts).wrapping_sub(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What waits is what was pushed and begins later, whatever the sizes and whenever somebody asks.
        #[test]
        fn what_waits_is_what_begins_later(
            steps in prop::collection::vec((prop::sample::select(vec![0u64, 40, 1500]), 0u64..1600, any::<bool>()), 1..100),
        ) {
            let (mut backlog, mut begins) = (Backlog::default(), Vec::<(u64, u64)>::new());
            let (mut now, mut free_at) = (0, 0);
            for (bytes, pause, asks) in steps {
                now += pause;
                if free_at > now {
                    begins.push((free_at, bytes));
                    free_at += bytes;
                    backlog.push(1, bytes as u32, Dur(bytes), Time(free_at));
                } else {
                    backlog.clear();
                    free_at = now + bytes;
                }
                begins.retain(|(begin, _)| *begin > now);
                let waiting = (begins.len(), begins.iter().map(|(_, bytes)| bytes).sum());
                let (packets, bytes) = backlog.at_least();
                prop_assert!(packets >= waiting.0 && bytes >= waiting.1);
                if asks {
                    prop_assert_eq!(backlog.count(Time(now)), waiting);
                    let waits = begins.iter().map(|(begin, _)| begin - now).sum::<u64>();
                    prop_assert_eq!(backlog.waits_ns(Time(now)), waits);
                }
            }
        }
    }
}
