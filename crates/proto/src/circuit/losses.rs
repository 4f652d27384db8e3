//! Which losses of data are due to congestion, and which to a link that corrupts packets.
//!
//! In a full queue that counts bytes, a header packet finds room where data does not, and the control TCPs would not notice. So header
//! packets report how much data has been sent, and ACKs how much of it is missing. Corruption takes its share at any length of the
//! queue. What is lost beyond that share while the queue is long is congestion.

use airtcp_wire::{Dur, Time};

/// Packets over which the share of corruption is forgotten, unless the queue is short again.
const MEMORY: f64 = 4000.0;
/// The share of corruption is computed over at least this many packets, so that a link counts as clean at first. If it is not, its
/// losses count as congestion, which keeps the queue short, and the share is learned then.
const PRIOR: f64 = 100.0;
/// Round trips over which the longest one is forgotten.
const FORGETTING: f64 = 64.0;
/// Standard deviations by which losses must exceed corruption, and the least number of packets assumed for these. Every ACK asks, so
/// with lower values chance would exceed them in the end, and with higher ones congestion beside corruption would be found late.
const DEVIATIONS: f64 = 2.75;
const LEAST: f64 = 30.0;

/// Counts of data packets.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: f64,
    lost: f64,
}

impl Tally {
    fn add(&mut self, sent: f64, lost: f64) {
        self.sent += sent;
        self.lost += lost;
    }

    fn fade(&mut self, by: f64) {
        let kept = (1.0 - by).max(0.0);
        *self = Tally { sent: self.sent * kept, lost: self.lost * kept };
    }
}

/// Judges the queue by the round trips of header packets: it is long in the upper half of their range.
#[derive(Debug)]
pub struct Losses {
    reported: Report,
    shortest: Dur,
    longest: f64,
    /// The last two round trips.
    latest: [f64; 2],
    /// What was sent and lost while the queue was short.
    corrupted: Tally,
    /// What was sent and lost since the queue became long, or since congestion was last found.
    recent: Tally,
}

/// The report of an ACK, and when it came.
#[derive(Clone, Copy, Debug)]
struct Report {
    at: Time,
    /// Data packets sent and lost, modulo 2^16.
    sent: u16,
    lost: u16,
}

impl Losses {
    pub fn new(now: Time) -> Losses {
        Losses {
            reported: Report { at: now, sent: 0, lost: 0 },
            shortest: Dur::MAX,
            longest: 0.0,
            latest: [f64::INFINITY; 2],
            corrupted: Tally::default(),
            recent: Tally::default(),
        }
    }

    /// Takes the report of an ACK, for a header packet with a round trip of `rtt`: `lost` data packets are missing so far, of `sent`.
    /// Returns whether that is congestion.
    pub fn on_report(&mut self, now: Time, rtt: Dur, sent: u16, lost: u16) -> bool {
        let before = std::mem::replace(&mut self.reported, Report { at: now, sent, lost });
        let new_sent = f64::from(sent.wrapping_sub(before.sent));
        // Negative if data has overtaken a header packet or come twice.
        let new_lost = f64::from(lost.wrapping_sub(before.lost) as i16);
        self.corrupted.fade(new_sent / MEMORY);
        if !self.is_long(rtt, now.since(before.at)) {
            self.recent = Tally::default();
            self.corrupted.add(new_sent, new_lost);
            return false;
        }
        self.recent.add(new_sent, new_lost);
        let is_congestion = self.is_beyond_corruption();
        if is_congestion {
            self.recent = Tally::default();
        }
        is_congestion
    }

    fn is_long(&mut self, rtt: Dur, elapsed: Dur) -> bool {
        self.shortest = self.shortest.min(rtt);
        let (now, shortest) = (float(rtt), float(self.shortest));
        let forgotten = (float(elapsed) / (now * FORGETTING)).min(1.0);
        // A delayed ACK is no queue: it makes only one round trip longer.
        let sustained = self.latest.into_iter().fold(now, f64::min);
        self.latest = [self.latest[1], now];
        self.longest = (self.longest - (self.longest - now) * forgotten).max(sustained);
        now > (shortest + self.longest) / 2.0
    }

    /// Do recent losses exceed what corruption explains, by half a packet and some standard deviations? As long as corruption explains
    /// more than is lost, the count begins anew, so that congestion is not weighed against good times before it.
    fn is_beyond_corruption(&mut self) -> bool {
        let share = (self.corrupted.lost / self.corrupted.sent.max(PRIOR)).clamp(0.0, 1.0);
        let Tally { sent, lost } = self.recent;
        let excess = lost - share * sent;
        if excess <= 0.0 && lost >= 0.0 {
            self.recent = Tally::default();
        }
        let variance = share * (1.0 - share) * sent.max(LEAST);
        excess > 0.5 + DEVIATIONS * variance.sqrt()
    }
}

/// A time in nanoseconds. The conversion of a signed number takes one instruction.
#[inline]
fn float(time: Dur) -> f64 {
    time.0 as i64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Dur = Dur::from_millis(10);

    /// Reports on 10 packets each; returns how many of them were taken for congestion.
    struct Path {
        losses: Losses,
        now: Time,
        sent: u16,
        lost: u16,
    }

    impl Path {
        fn new() -> Path {
            Path { losses: Losses::new(Time::ZERO), now: Time::ZERO, sent: 0, lost: 0 }
        }

        fn report(&mut self, rtt_ms: u64, lost: u16) -> bool {
            self.now += ROUND;
            self.sent = self.sent.wrapping_add(10);
            self.lost = self.lost.wrapping_add(lost);
            self.losses.on_report(self.now, Dur::from_millis(rtt_ms), self.sent, self.lost)
        }

        /// The queue grows for 40 reports and empties, again and again; one packet is lost of every `every` reports.
        fn sawtooth(&mut self, reports: usize, every: usize) -> usize {
            (0..reports)
                .filter(|n| self.report(20 + (n % 40) as u64, u16::from(n % every == every - 1)))
                .count()
        }
    }

    #[test]
    fn one_loss_while_the_queue_is_long_is_congestion() {
        let mut path = Path::new();
        assert_eq!(path.sawtooth(400, usize::MAX), 0);
        assert!(!path.report(25, 1), "the queue is short");
        assert!(path.report(55, 1));
        assert!(!path.report(55, 0), "the same one");
    }

    /// 7000 reports are more than 2^16 packets.
    #[test]
    fn the_share_of_corruption_is_learned() {
        let mut path = Path::new();
        path.sawtooth(2_000, 3);
        assert_eq!(path.sawtooth(7_000, 3), 0);
        assert!((0..3).any(|_| path.report(58, 5)), "what is beyond it is congestion");
    }

    /// A receiver delays its last ACK, a host is busy: what one header packet waits for is no queue, and congestion in a
    /// queue that is full has to be found all the same.
    #[test]
    fn a_late_ack_is_no_queue() {
        let mut path = Path::new();
        path.sawtooth(400, usize::MAX);
        assert!(!path.report(25, 0));
        assert!(!path.report(100, 0));
        assert!(path.report(55, 1));
    }

    #[test]
    fn what_overtook_a_header_packet_is_taken_back() {
        let mut path = Path::new();
        path.sawtooth(400, usize::MAX);
        path.lost = path.lost.wrapping_sub(1);
        assert!(!path.report(55, 0));
        assert!(!path.report(56, 1));
    }
}
