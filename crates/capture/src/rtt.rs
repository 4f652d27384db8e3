//! Round trips from the tap to one end.

use airtcp_wire::{Dur, Time};
use std::collections::VecDeque;

/// Limit on the samples kept; beyond it every second one is dropped.
const SAMPLES: usize = 1 << 20;

/// A packet is short if the longest has more than this many times its payload.
const TIMES: u64 = 2;

/// Round trips over time, with their RFC 6298 estimates.
#[derive(Clone, Debug, Default)]
pub struct RoundTrips {
    pub min: Option<Dur>,
    smoothed: Option<Smoothed>,
    /// When a long packet passed the tap, and how long its answer took. A short one is sooner through a slow link.
    pub samples: Vec<(Time, Dur)>,
    /// One in 2ⁿ samples is kept.
    thinned: u32,
    seen: u64,
    /// Payload of the longest packet.
    longest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: Dur,
    rttvar: Dur,
}

impl RoundTrips {
    /// Starts the estimate with the handshake's round trip, which is not among the samples.
    pub fn new(handshake: Option<Dur>) -> RoundTrips {
        let mut trips = RoundTrips::default();
        handshake.into_iter().for_each(|rtt| trips.estimate(rtt));
        trips
    }

    /// Takes a sample from a packet with so many bytes of payload.
    pub fn push(&mut self, sent: Time, rtt: Dur, payload: u64) {
        self.estimate(rtt);
        if payload < self.longest.div_ceil(TIMES) {
            return;
        }
        if self.longest < payload.div_ceil(TIMES) {
            self.samples.clear();
        }
        self.longest = self.longest.max(payload);
        if self.seen.is_multiple_of(1 << self.thinned) {
            self.samples.push((sent, rtt));
            if self.samples.len() == SAMPLES {
                self.thin();
            }
        }
        self.seen += 1;
    }

    fn thin(&mut self) {
        let mut index = 0;
        self.samples.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.thinned += 1;
    }

    fn estimate(&mut self, rtt: Dur) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.smoothed = Some(match self.smoothed {
            // RFC 6298 §2.2 and §2.3
            None => Smoothed { srtt: rtt, rttvar: rtt / 2 },
            Some(Smoothed { srtt, rttvar }) => {
                let deviation = Dur(srtt.0.abs_diff(rtt.0));
                Smoothed { srtt: srtt - srtt / 8 + rtt / 8, rttvar: rttvar - rttvar / 4 + deviation / 4 }
            }
        });
    }

    pub fn srtt(&self) -> Option<Dur> {
        self.smoothed.map(|smoothed| smoothed.srtt)
    }

    /// Returns the time that the RTO adds to SRTT: 4·RTTVAR, but at least 200 ms as in Linux.
    pub fn margin(&self) -> Dur {
        const LEAST: Dur = Dur::from_millis(200);
        self.smoothed.map_or(Dur::from_millis(1000), |smoothed| (smoothed.rttvar * 4).max(LEAST))
    }
}

/// Timestamps whose echo is still due (RFC 7323).
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    waiting: VecDeque<(u32, Time)>,
}

/// More than a window's worth of packets.
const WAITING: usize = 1 << 16;

impl Echoes {
    /// Records a packet with this TSval. Only the first packet of each value counts.
    pub fn on_value(&mut self, now: Time, value: u32) {
        if self.waiting.back().is_none_or(|&(last, _)| is_newer(value, last)) {
            self.waiting.push_back((value, now));
            if self.waiting.len() > WAITING {
                self.waiting.pop_front();
            }
        }
    }

    /// Returns when the TSval that is echoed passed, if this is its first echo.
    pub fn on_echo(&mut self, echo: u32) -> Option<Time> {
        while let Some(&(value, sent)) = self.waiting.front() {
            if is_newer(value, echo) {
                return None;
            }
            self.waiting.pop_front();
            if value == echo {
                return Some(sent);
            }
        }
        None
    }
}

/// Returns whether `value` is later than `than`, on a clock that wraps.
pub fn is_newer(value: u32, than: u32) -> bool {
    value.wrapping_sub(than) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_matched_once_with_the_first_of_its_value() {
        let mut echoes = Echoes::default();
        for (ms, value) in [(0, 10), (1, 10), (5, 11), (9, 12)] {
            echoes.on_value(Time(ms * 1_000_000), value);
        }
        assert_eq!(echoes.on_echo(9), None);
        assert_eq!(echoes.on_echo(10), Some(Time(0)));
        assert_eq!(echoes.on_echo(10), None);
        assert_eq!(echoes.on_echo(12), Some(Time(9_000_000)));
        assert_eq!(echoes.on_echo(11), None, "overtaken");
    }

    #[test]
    fn short_packets_tell_nothing_beside_long_ones() {
        let mut trips = RoundTrips::default();
        for (ms, rtt, payload) in [(0, 10, 37), (1, 11, 100), (2, 22, 1448), (3, 12, 200), (4, 23, 1000)] {
            trips.push(Time(ms), Dur(rtt), payload);
        }
        assert_eq!(trips.samples, [(Time(2), Dur(22)), (Time(4), Dur(23))]);
        assert_eq!(trips.min, Some(Dur(10)));
    }

    #[test]
    fn where_all_are_short_all_tell() {
        let mut trips = RoundTrips::default();
        (0..100).for_each(|n| trips.push(Time(n), Dur(n), 20 + n % 20));
        assert_eq!(trips.samples.len(), 100);
    }

    #[test]
    fn a_million_samples_are_thinned_evenly() {
        let mut trips = RoundTrips::default();
        (0..3 * SAMPLES as u64).for_each(|n| trips.push(Time(n), Dur(n + 1), 1000));
        assert!(trips.samples.len() < SAMPLES);
        assert_eq!(trips.min, Some(Dur(1)));
        assert!(trips.samples.windows(2).all(|pair| pair[1].0.0 - pair[0].0.0 == 1 << trips.thinned));
    }
}
