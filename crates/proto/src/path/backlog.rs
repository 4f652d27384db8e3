//! What waits for a transmitter of constant rate that is never idle while something waits.
//!
//! Packets of one size that follow each other leave it at equal intervals, and so do pairs of two sizes. So a run of them is
//! remembered by its end alone, and those that have been taken up meanwhile are counted only when somebody asks.

use crate::ring::Ring;
use airtcp_wire::{Dur, Time};

/// Packets back to back, of one size or of two by turns.
#[derive(Clone, Copy, Default)]
struct Run {
    /// When the transmitter is through with the last one.
    end: Time,
    /// Those that have come, modulo 2³², and those that no longer wait.
    pushed: u32,
    forgotten: u32,
    /// Of those with even numbers, and of those with odd ones.
    shapes: [Shape; 2],
}

/// A packet's size in bytes, and for how long it holds the transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    pub held: Dur,
    pub bytes: u32,
}

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

    /// Does nothing wait but packets with these shapes by turns?
    pub fn is_only(&self, shapes: [Shape; 2]) -> bool {
        let [before, last] = shapes;
        let goes_on = [shapes, [last, before]].contains(&self.last.shapes);
        self.packets == 0 || (self.runs.is_empty() && goes_on)
    }

    /// The transmitter takes up a packet at once, and nothing waits.
    #[inline]
    pub fn clear(&mut self) {
        if self.packets > 0 {
            self.runs.clear();
            self.last.keep(0);
            (self.packets, self.bytes) = (0, 0);
        }
    }

    /// A packet of that shape has to wait. It will hold the transmitter until `end`.
    #[inline]
    pub fn push(&mut self, shape: Shape, end: Time) {
        if shape != self.last.next() {
            self.turn_to(shape);
        }
        self.extend(1, u64::from(shape.bytes), end);
    }

    /// The same of so many packets by turns, the last of which will do so: that has the second of these shapes, the one before it
    /// the first.
    pub fn push_by_turns(&mut self, packets: u32, shapes: [Shape; 2], end: Time) {
        let [before, last] = shapes;
        let mut left = packets;
        while left > 0 {
            let (previous, next) = if left % 2 == 1 { (before, last) } else { (last, before) };
            if (self.last.last(), self.last.next()) == (previous, next) {
                return self.extend(left, bytes_of(left, shapes), end);
            }
            left -= 1;
            self.push(next, end - held_by(left, shapes));
        }
    }

    /// More packets, of the shapes with which the run goes on.
    #[inline]
    fn extend(&mut self, packets: u32, bytes: u64, end: Time) {
        self.last.end = end;
        self.last.pushed = self.last.pushed.wrapping_add(packets);
        self.packets += packets as usize;
        self.bytes += bytes;
    }

    /// The next packet has another shape than the run would go on with. With one packet in it, a run goes on with any.
    #[inline(never)]
    fn turn_to(&mut self, shape: Shape) {
        let run = &mut self.last;
        if run.packets() == 1 {
            *run.next_mut() = shape;
            return;
        }
        if run.packets() > 0 {
            self.runs.push_back(*run);
        }
        self.last = Run { shapes: [shape; 2], ..Run::default() };
    }

    /// So many packets wait at `now`, with so many bytes.
    #[inline(never)]
    pub fn count(&mut self, now: Time) -> (usize, u64) {
        while let Some(first) = self.runs.front_mut() {
            let before = (first.packets(), first.bytes());
            first.keep(first.waiting(now));
            self.packets -= (before.0 - first.packets()) as usize;
            self.bytes -= before.1 - first.bytes();
            if first.packets() > 0 {
                return (self.packets, self.bytes);
            }
            self.runs.drop_front();
        }
        // Nothing waits before the last run.
        self.last.keep(self.last.waiting(now));
        self.packets = self.last.packets() as usize;
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
    /// Those that are not forgotten.
    #[inline]
    fn packets(&self) -> u32 {
        self.pushed.wrapping_sub(self.forgotten)
    }

    /// Forgets all but the last ones.
    #[inline]
    fn keep(&mut self, packets: u32) {
        self.forgotten = self.pushed.wrapping_sub(packets);
    }

    /// The shape of the next packet, if the run goes on: that of the one before the last.
    #[inline]
    fn next(&self) -> Shape {
        self.shapes[(self.pushed & 1) as usize]
    }

    #[inline]
    fn next_mut(&mut self) -> &mut Shape {
        &mut self.shapes[(self.pushed & 1) as usize]
    }

    #[inline]
    fn last(&self) -> Shape {
        self.shapes[(self.pushed & 1 ^ 1) as usize]
    }

    /// How many of them wait at `now`: a packet does until the one before it leaves.
    #[inline]
    fn waiting(&self, now: Time) -> u32 {
        let left = self.end.since(now);
        if left <= self.last().held {
            return 0;
        }
        if self.packets() == 1 {
            return 1;
        }
        let (before, pair) = (left.0 - 1, self.last().held + self.next().held);
        let all = u64::from(self.packets());
        let waiting = before
            .checked_div(pair.0)
            .map_or(all, |pairs| 2 * pairs + u64::from(before - pairs * pair.0 >= self.last().held.0));
        waiting.min(all) as u32
    }

    #[inline]
    fn bytes(&self) -> u64 {
        bytes_of(self.packets(), [self.next(), self.last()])
    }

    fn waits_ns(&self, now: Time) -> u64 {
        let [other, last] = by_shape(self.packets());
        let lasts = self.last().held.0.wrapping_mul(last * (other + 1));
        let others = self.next().held.0.wrapping_mul(last * other);
        let packets = u64::from(self.packets());
        self.end.since(now).0.wrapping_mul(packets).wrapping_sub(lasts).wrapping_sub(others)
    }
}

/// How many of so many packets by turns have the first shape, and how many the second one, which is the last one's.
#[inline]
fn by_shape(packets: u32) -> [u64; 2] {
    [u64::from(packets / 2), u64::from(packets.div_ceil(2))]
}

pub(super) fn held_by(packets: u32, [before, last]: [Shape; 2]) -> Dur {
    let [befores, lasts] = by_shape(packets);
    before.held * befores + last.held * lasts
}

#[inline]
fn bytes_of(packets: u32, [before, last]: [Shape; 2]) -> u64 {
    let [befores, lasts] = by_shape(packets);
    befores * u64::from(before.bytes) + lasts * u64::from(last.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What waits is what was pushed and begins later, whatever the sizes and whenever somebody asks.
        #[test]
        fn what_waits_is_what_begins_later(
            steps in prop::collection::vec((prop::sample::select(vec![0u64, 40, 1500]), 0u64..1600, any::<bool>(), 0u32..5), 1..100),
        ) {
            let (mut backlog, mut begins) = (Backlog::default(), Vec::<(u64, u64)>::new());
            let (mut now, mut free_at, mut bytes_before) = (0, 0, 0);
            for (bytes, pause, asks, by_turns) in steps {
                now += pause;
                if free_at > now {
                    let shapes = [bytes_before, bytes].map(|bytes| Shape { held: Dur(bytes), bytes: bytes as u32 });
                    for left in (0..=by_turns).rev() {
                        let bytes = [bytes, bytes_before][left as usize % 2];
                        begins.push((free_at, bytes));
                        free_at += bytes;
                    }
                    match by_turns {
                        0 => backlog.push(shapes[1], Time(free_at)),
                        _ => backlog.push_by_turns(by_turns + 1, shapes, Time(free_at)),
                    }
                } else {
                    backlog.clear();
                    free_at = now + bytes;
                }
                bytes_before = bytes;
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
