//! What waits for a transmitter of constant rate that is never idle while something waits.
//!
//! Packets of one size that follow each other leave it at equal intervals. So a run of them is remembered by its end alone, and
//! those that have been taken up meanwhile are counted only when somebody asks.

use crate::ring::Ring;
use airtcp_wire::{Dur, Time};

/// Packets of one size, back to back. Some of the first may be forgotten.
#[derive(Clone, Copy, Default)]
struct Run {
    /// When the transmitter is through with the last one.
    end: Time,
    /// For how long each holds it.
    held: Dur,
    bytes: u32,
    packets: u32,
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

    /// The transmitter takes up a packet at once, and nothing waits.
    #[inline]
    pub fn clear(&mut self) {
        self.runs.drop_first(self.runs.len());
        self.last.packets = 0;
        (self.packets, self.bytes) = (0, 0);
    }

    /// A packet has to wait. It will hold the transmitter for `held`, until `end`.
    #[inline]
    pub fn push(&mut self, bytes: u32, held: Dur, end: Time) {
        if bytes != self.last.bytes {
            self.begin_run(bytes, held);
        }
        self.last.end = end;
        self.last.packets += 1;
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    #[inline]
    fn begin_run(&mut self, bytes: u32, held: Dur) {
        if self.last.packets > 0 {
            self.runs.push_back(self.last);
        }
        self.last = Run { held, bytes, ..Run::default() };
    }

    /// So many packets wait at `now`, with so many bytes.
    #[inline(never)]
    pub fn count(&mut self, now: Time) -> (usize, u64) {
        while let Some(first) = self.runs.front_mut() {
            let (waiting, before) = (first.waiting(now), first.packets);
            first.packets = waiting;
            let started = before - waiting;
            self.packets -= started as usize;
            self.bytes -= u64::from(started) * u64::from(first.bytes);
            if waiting > 0 {
                return (self.packets, self.bytes);
            }
            self.runs.drop_front();
        }
        // Nothing waits before the last run.
        self.last.packets = self.last.waiting(now);
        self.packets = self.last.packets as usize;
        self.bytes = u64::from(self.last.packets) * u64::from(self.last.bytes);
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
        if left <= self.held {
            return 0;
        }
        match self.packets {
            1 => 1,
            packets => (left.0 - 1)
                .checked_div(self.held.0)
                .map_or(packets, |full| full.min(u64::from(packets)) as u32),
        }
    }

    fn waits_ns(&self, now: Time) -> u64 {
        let count = u64::from(self.packets);
        let all_held = self.held.0.wrapping_mul(count.wrapping_mul(count + 1) / 2);
        self.end.since(now).0.wrapping_mul(count).wrapping_sub(all_held)
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
                    backlog.push(bytes as u32, Dur(bytes), Time(free_at));
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
