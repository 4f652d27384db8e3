//! RTTs as the sender could measure them, from what it sends and what comes back.

use airtcp_wire::{Time, Timestamps};
use std::collections::VecDeque;
use std::ops::Range;

/// New data of one packet.
#[derive(Clone, Copy, Debug)]
struct Timed {
    end: u64,
    first: Copied,
    last: Copied,
    copies: u32,
}

#[derive(Clone, Copy, Debug)]
struct Copied {
    at: Time,
    timestamp: Option<u32>,
}

/// Outstanding data, and when it was sent.
#[derive(Debug, Default)]
pub struct RoundTrips(VecDeque<Timed>);

impl RoundTrips {
    /// New data up to `end` was sent.
    pub fn sent(&mut self, end: u64, at: Time, timestamps: Option<Timestamps>) {
        let copied = Copied { at, timestamp: timestamps.map(|both| both.value) };
        self.0.push_back(Timed { end, first: copied, last: copied, copies: 1 });
    }

    pub fn resent(&mut self, range: &Range<u64>, at: Time, timestamps: Option<Timestamps>) {
        let from = self.0.partition_point(|sent| sent.end <= range.start);
        let mut start = range.start;
        for sent in
            self.0.range_mut(from..).take_while(|sent| std::mem::replace(&mut start, sent.end) < range.end)
        {
            sent.copies += 1;
            sent.last = Copied { at, timestamp: timestamps.map(|both| both.value) };
        }
    }

    /// Everything below `una` is acknowledged. Returns when the first of it was sent, as far as the sender can tell:
    /// if it was sent more than once, timestamps must show which copy the ACK answers (RFC 7323 §4, Karn).
    pub fn acknowledged(&mut self, una: u64, timestamps: Option<Timestamps>) -> Option<Time> {
        let done = self.0.partition_point(|sent| sent.end <= una);
        let first = self.0.drain(..done).next()?;
        if first.copies == 1 {
            return Some(first.first.at);
        }
        let echo = timestamps?.echo;
        let copies = [first.last, first.first];
        copies.into_iter().find(|copy| copy.timestamp == Some(echo)).map(|copy| copy.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(value: u32, echo: u32) -> Option<Timestamps> {
        Some(Timestamps { value, echo })
    }

    fn three() -> RoundTrips {
        let mut trips = RoundTrips::default();
        for n in 1..=3 {
            trips.sent(100 * n, Time(n), stamp(n as u32, 0));
        }
        trips
    }

    #[test]
    fn an_ack_of_several_times_the_first() {
        assert_eq!(three().acknowledged(200, stamp(0, 1)), Some(Time(1)));
        assert_eq!(three().acknowledged(50, stamp(0, 1)), None);
    }

    #[test]
    fn of_copies_the_echo_tells_which() {
        for (echo, expected) in [(9, Some(Time(90))), (1, Some(Time(1))), (5, None)] {
            let mut trips = three();
            trips.resent(&(0..100), Time(90), stamp(9, 0));
            assert_eq!(trips.acknowledged(300, stamp(0, echo)), expected);
            assert!(trips.0.is_empty());
        }
        let mut trips = three();
        trips.resent(&(0..200), Time(90), None);
        assert_eq!(trips.acknowledged(200, None), None);
        assert_eq!(trips.acknowledged(300, None), Some(Time(3)));
    }
}
