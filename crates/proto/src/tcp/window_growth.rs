//! How a Linux receiver's window grows. While it does, every segment is acknowledged.
//!
//! The window offered begins at half of the buffer and grows by two segments for each one that arrives, until full segments,
//! with Linux's overhead for each, would fill the buffer. The buffer follows what arrives in order in a round trip (dynamic
//! right-sizing): behind a hole it stays as it is.

use super::config::TcpConfig;
use airtcp_wire::{Bytes, Dur, Time};

/// The default initial buffer (`tcp_rmem`).
const FIRST_BUFFER: Bytes = Bytes(1 << 17);
/// Share of the buffer that data may fill, in eighths: a full packet of 1500 bytes takes up 2304.
const EIGHTHS_OF_DATA: u64 = 5;
/// Segments in a round trip for which the initial buffer is made.
const FIRST_ROUND: u64 = 10;
/// Inverse of the gain of the receiver's smoothed RTT.
const RTT_GAIN: u64 = 8;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowGrowth {
    segment: u64,
    most: u64,
    offered: u64,
    room: u64,
    rtt: Dur,
    /// The most bytes that have arrived in a round trip: they determine the buffer.
    largest_round: u64,
    round_start: Time,
    round_first: u64,
}

impl WindowGrowth {
    pub fn new(config: &TcpConfig) -> WindowGrowth {
        let (segment, most) = (u64::from(config.segment_payload()), config.receive_window.0);
        let buffer = config.receive_buffer.unwrap_or(FIRST_BUFFER).0;
        let room = (buffer / 8 * EIGHTHS_OF_DATA).min(most);
        WindowGrowth {
            segment,
            most,
            offered: (buffer / 2).min(room),
            room,
            rtt: Dur::ZERO,
            largest_round: FIRST_ROUND * segment,
            round_start: Time::ZERO,
            round_first: 0,
        }
    }

    pub fn rtt(&self) -> Dur {
        self.rtt
    }

    #[inline]
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// The handshake, or data that echoes a timestamp, has measured `rtt`.
    pub fn on_rtt(&mut self, rtt: Dur) {
        self.rtt = match self.rtt {
            Dur::ZERO => rtt,
            known => (known * (RTT_GAIN - 1) + rtt) / RTT_GAIN,
        };
    }

    /// A segment has arrived, and RCV.NXT is `next`. Returns whether the window grows.
    #[inline]
    pub fn on_segment(&mut self, now: Time, next: u64) -> bool {
        if now.since(self.round_start) >= self.rtt {
            self.end_round(next - self.round_first.min(next));
            (self.round_start, self.round_first) = (now, next);
        }
        let grows = self.offered < self.room;
        if grows {
            self.offered = (self.offered + 2 * self.segment).min(self.room);
        }
        grows
    }

    /// [`on_segment`](WindowGrowth::on_segment) changes nothing before this time.
    #[inline]
    pub fn rests_until(&self) -> Time {
        if self.offered < self.room { Time::ZERO } else { self.round_start + self.rtt }
    }

    /// Linux's `tcp_rcvbuf_grow`: room for twice what a round trip has brought, and more the faster that has grown.
    fn end_round(&mut self, arrived: u64) {
        if arrived <= self.largest_round {
            return;
        }
        let twice = 2 * arrived;
        let ahead = twice.saturating_mul(arrived - self.largest_round) / self.largest_round;
        self.room = self.room.max(twice + 2 * ahead).min(self.most);
        self.largest_round = arrived;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18 at 10 Mbit/s and 50 ms was seen to offer 55, 106, 202 and 378 segments, after round trips that brought
    /// 19, 36 and 68.
    #[test]
    fn room_follows_what_a_round_trip_brings() {
        let mut growth = WindowGrowth::new(&crate::tcp::profile::linux());
        growth.on_rtt(Dur::from_millis(50));
        let mut rooms = Vec::new();
        let (mut now, mut next) = (Time::ZERO + Dur::from_millis(50), 0);
        for arrived in [10, 19, 36, 68, 30] {
            growth.on_segment(now, next);
            next += arrived * 1448;
            now += Dur::from_millis(51);
            growth.on_segment(now, next);
            rooms.push(growth.room / 1448);
        }
        assert_eq!(rooms, [56, 106, 200, 377, 377]);
    }

    #[test]
    fn each_segment_adds_two_until_the_room_is_used() {
        let mut growth = WindowGrowth::new(&crate::tcp::profile::linux());
        growth.room = growth.offered + 5 * 1448;
        let grown = (0..10).filter(|&n| growth.on_segment(Time(n), 0)).count();
        assert_eq!(grown, 3);
    }
}
