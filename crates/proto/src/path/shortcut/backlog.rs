//! The packets that wait for a transmitter of constant rate.
//!
//! Invariant: the packets of a run leave back to back. If they have one size, or two sizes that take turns, the run's end says when
//! each of them leaves, and those that have left are counted only when somebody asks.

use crate::ring::Ring;
use airtcp_wire::{Dur, Time};

/// Packets back to back, of one size or of two alternating sizes.
#[derive(Clone, Copy, Default)]
struct Run {
    /// When the transmitter finishes the last packet.
    end: Time,
    packets: u32,
    /// Shapes of the last packet but one and of the last packet.
    shapes: [Shape; 2],
}

/// A packet's size in bytes, and how long it occupies the transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    pub held: Dur,
    pub bytes: u32,
}

#[derive(Default)]
pub struct Backlog {
    /// All runs but the newest, the oldest first.
    runs: Ring<Run>,
    newest: Run,
    /// Totals of all runs: an upper bound on what waits.
    packets: usize,
    bytes: u64,
}

impl Backlog {
    /// Packets and bytes that waited when they were last [counted](Backlog::count), and all that have come since: no more than these
    /// wait now.
    #[inline]
    pub fn at_most(&self) -> (usize, u64) {
        (self.packets, self.bytes)
    }

    /// Do all waiting packets have these two shapes in alternation?
    pub fn is_only(&self, [one, other]: [Shape; 2]) -> bool {
        let alternates = [[one, other], [other, one]].contains(&self.newest.shapes);
        self.packets == 0 || (self.runs.is_empty() && alternates)
    }

    /// The transmitter has taken up all packets.
    #[inline]
    pub fn clear(&mut self) {
        if self.packets > 0 {
            self.runs.clear();
            self.newest.packets = 0;
            (self.packets, self.bytes) = (0, 0);
        }
    }

    /// Adds a packet that will occupy the transmitter until `end`.
    pub fn push(&mut self, shape: Shape, end: Time) {
        if self.newest.shapes[0] != shape {
            self.turn_to(shape);
        }
        self.extend(1, u64::from(shape.bytes), end);
    }

    /// Adds packets of two alternating shapes. The last one has the second of these shapes and occupies the transmitter until `end`.
    pub fn push_alternating(&mut self, packets: u32, shapes: [Shape; 2], end: Time) {
        for left in (1..=packets).rev() {
            let [previous, next] = if left % 2 == 1 { shapes } else { [shapes[1], shapes[0]] };
            if self.newest.shapes == [next, previous] {
                return self.extend(left, bytes_of(left, shapes), end);
            }
            self.push(next, end - held_by(left - 1, shapes));
        }
    }

    /// Adds packets that continue the newest run.
    fn extend(&mut self, packets: u32, bytes: u64, end: Time) {
        let run = &mut self.newest;
        if packets % 2 == 1 {
            run.shapes.swap(0, 1);
        }
        run.end = end;
        run.packets += packets;
        self.packets += packets as usize;
        self.bytes += bytes;
    }

    /// Prepares the newest run for a packet of another shape than the next one of its alternation: a run of one packet can continue
    /// with any shape, after more packets a new run begins.
    fn turn_to(&mut self, shape: Shape) {
        if self.newest.packets == 1 {
            self.newest.shapes[0] = shape;
            return;
        }
        if self.newest.packets > 0 {
            self.runs.push_back(self.newest);
        }
        self.newest = Run { shapes: [shape; 2], ..Run::default() };
    }

    /// Forgets the packets that have left by `now`. Returns the number and the bytes of those that wait.
    #[inline(never)]
    pub fn count(&mut self, now: Time) -> (usize, u64) {
        while let Some(oldest) = self.runs.front_mut() {
            let (packets, bytes) = (oldest.packets, oldest.bytes());
            oldest.packets = oldest.waiting(now);
            self.packets -= (packets - oldest.packets) as usize;
            self.bytes -= bytes - oldest.bytes();
            if oldest.packets > 0 {
                return (self.packets, self.bytes);
            }
            self.runs.drop_front();
        }
        self.newest.packets = self.newest.waiting(now);
        (self.packets, self.bytes) = (self.newest.packets as usize, self.newest.bytes());
        (self.packets, self.bytes)
    }

    /// The sum, over all waiting packets, of the time from `now` until the packet is taken up, in nanoseconds modulo 2⁶⁴.
    pub fn waits_ns(&mut self, now: Time) -> u64 {
        self.count(now);
        let runs = self.runs.iter().chain([&self.newest]);
        runs.map(|run| run.waits_ns(now)).fold(0, u64::wrapping_add)
    }
}

impl Run {
    /// How many of its packets wait at `now`. A packet waits until the one before it has left.
    fn waiting(&self, now: Time) -> u32 {
        let [before, last] = self.shapes;
        let left = self.end.since(now);
        if left <= last.held {
            return 0;
        }
        if self.packets == 1 {
            return 1;
        }
        let (left_ns, pair_ns) = (left.0 - 1, (before.held + last.held).0);
        // Packets that take no time all wait.
        let waiting = left_ns
            .checked_div(pair_ns)
            .map(|pairs| 2 * pairs + u64::from(left_ns - pairs * pair_ns >= last.held.0));
        waiting.unwrap_or(u64::MAX).min(u64::from(self.packets)) as u32
    }

    fn bytes(&self) -> u64 {
        bytes_of(self.packets, self.shapes)
    }

    fn waits_ns(&self, now: Time) -> u64 {
        let ([before, last], [befores, lasts]) = (self.shapes, by_shape(self.packets));
        let until_end = self.end.since(now).0.wrapping_mul(u64::from(self.packets));
        // A packet is taken up at the end less its own time and that of all packets behind it. These are the sums of both.
        let of_lasts = last.held.0.wrapping_mul(lasts * (befores + 1));
        let of_befores = before.held.0.wrapping_mul(lasts * befores);
        until_end.wrapping_sub(of_lasts).wrapping_sub(of_befores)
    }
}

/// How many of these alternating packets have the first shape, and how many have the second, which the last one has.
fn by_shape(packets: u32) -> [u64; 2] {
    [u64::from(packets / 2), u64::from(packets.div_ceil(2))]
}

/// How long these alternating packets occupy the transmitter. The last one has the second shape.
pub fn held_by(packets: u32, [before, last]: [Shape; 2]) -> Dur {
    let [befores, lasts] = by_shape(packets);
    before.held * befores + last.held * lasts
}

fn bytes_of(packets: u32, [before, last]: [Shape; 2]) -> u64 {
    let [befores, lasts] = by_shape(packets);
    befores * u64::from(before.bytes) + lasts * u64::from(last.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Those packets wait that were pushed and begin later, whatever their sizes and whenever somebody asks.
        #[test]
        fn what_waits_is_what_begins_later(
            steps in prop::collection::vec((prop::sample::select(vec![0u64, 40, 1500]), 0u64..1600, any::<bool>(), 0u32..5), 1..100),
        ) {
            let (mut backlog, mut begins) = (Backlog::default(), Vec::<(u64, u64)>::new());
            let (mut now, mut free_at, mut bytes_before) = (0, 0, 0);
            for (bytes, pause, asks, alternating) in steps {
                now += pause;
                if free_at > now {
                    let shapes = [bytes_before, bytes].map(|bytes| Shape { held: Dur(bytes), bytes: bytes as u32 });
                    for left in (0..=alternating).rev() {
                        let bytes = [bytes, bytes_before][left as usize % 2];
                        begins.push((free_at, bytes));
                        free_at += bytes;
                    }
                    match alternating {
                        0 => backlog.push(shapes[1], Time(free_at)),
                        _ => backlog.push_alternating(alternating + 1, shapes, Time(free_at)),
                    }
                } else {
                    backlog.clear();
                    free_at = now + bytes;
                }
                bytes_before = bytes;
                begins.retain(|(begin, _)| *begin > now);
                let waiting = (begins.len(), begins.iter().map(|(_, bytes)| bytes).sum());
                let (packets, bytes) = backlog.at_most();
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
