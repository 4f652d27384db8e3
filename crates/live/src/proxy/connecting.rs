//! Connections whose other end has not answered yet.

use airtcp_wire::{Dur, Time};
use std::collections::BTreeMap;

/// Deadline and place of each by serial, and so in order of arrival.
#[derive(Debug)]
pub struct Connecting {
    waiting: BTreeMap<u64, (Time, usize)>,
    most: usize,
    timeout: Dur,
}

/// Why a connection waits no longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GivenUp {
    Late,
    /// There are too many, and this one has had the most time.
    Eldest,
}

impl Connecting {
    /// For at most `most` connections, each for at most `timeout`.
    pub fn new(most: usize, timeout: Dur) -> Connecting {
        Connecting { waiting: BTreeMap::new(), most, timeout }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn handle_new(&mut self, serial: u64, place: usize, now: Time) {
        self.waiting.insert(serial, (now + self.timeout, place));
    }

    /// The connection was answered, or is gone.
    pub fn handle_end(&mut self, serial: u64) {
        self.waiting.remove(&serial);
    }

    /// Place of the next connection to give up.
    pub fn poll(&self, now: Time) -> Option<(usize, GivenUp)> {
        let (_, &(deadline, place)) = self.waiting.first_key_value()?;
        match now >= deadline {
            true => Some((place, GivenUp::Late)),
            false => (self.waiting.len() > self.most).then_some((place, GivenUp::Eldest)),
        }
    }

    /// When a connection becomes late.
    pub fn poll_timeout(&self) -> Time {
        self.waiting.first_key_value().map_or(Time::NEVER, |(_, &(deadline, _))| deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eldest_gives_way_and_the_late_are_given_up() {
        let second = |n| Time::ZERO + Dur::from_secs(n);
        let mut connecting = Connecting::new(2, Dur::from_secs(10));
        assert_eq!(connecting.poll_timeout(), Time::NEVER);
        for serial in 1..=3 {
            connecting.handle_new(serial, serial as usize * 10, second(serial));
        }
        assert_eq!(connecting.poll(second(3)), Some((10, GivenUp::Eldest)));
        connecting.handle_end(1);
        assert_eq!((connecting.poll(second(11)), connecting.poll_timeout()), (None, second(12)));
        assert_eq!(connecting.poll(second(12)), Some((20, GivenUp::Late)));
        connecting.handle_end(3);
        assert_eq!(connecting.len(), 1);
    }
}
