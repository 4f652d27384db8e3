//! When the next segment may leave, so that data goes out at a rate instead of in the bursts of arriving ACKs.

use airtcp_wire::{Dur, Rate, Time};

/// A schedule of departures. Each segment takes its time at the pacing rate, counted from when it was due.
///
/// A sender that is late — its timer fired late, or it had nothing to send — may catch up at once on at most
/// `burst` bytes; the rest of its credit is forgotten. So lateness neither lowers the average rate nor lets an idle
/// connection save up for a burst.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// When the next segment is due. May lie in the past.
    next: Time,
    /// Bytes that may be caught up on.
    burst: u64,
    /// Bytes of the last segment, their rate and the time that they took: most segments are like the one before.
    bytes: u64,
    rate: Rate,
    time: Dur,
}

impl Pacer {
    pub fn new(burst: u64) -> Pacer {
        Pacer { next: Time::ZERO, burst, bytes: 0, rate: Rate(0), time: Dur::MAX }
    }

    /// A segment may be sent at `now` if this is not later than `now`.
    #[inline]
    pub fn next_departure(&self) -> Time {
        self.next
    }

    /// A segment of `bytes` left at `now`. A rate of zero means that the sender is not paced.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, rate: Rate) {
        if rate == Rate(0) {
            self.next = now;
            return;
        }
        if self.next < now {
            self.next = self.next.max(now - rate.time_for(self.burst));
        }
        let time = self.time_for(bytes, rate);
        self.next += time;
    }

    #[inline(always)]
    fn time_for(&mut self, bytes: u64, rate: Rate) -> Dur {
        if (self.bytes, self.rate) != (bytes, rate) {
            (self.bytes, self.rate, self.time) = (bytes, rate, rate.time_for(bytes));
        }
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1250;
    /// One MSS a millisecond.
    const RATE: Rate = Rate(10_000_000);

    fn ms(n: u64) -> Time {
        Time::ZERO + Dur::from_millis(n)
    }

    /// Sends whenever it is allowed to, waking `late` after the departure time, and counts segments until `end`.
    fn sent_until(mut pacer: Pacer, start: Time, end: Time, late: Dur) -> u64 {
        let (mut now, mut sent) = (start, 0);
        while now < end {
            if pacer.next_departure() <= now {
                pacer.on_sent(now, MSS, RATE);
                sent += 1;
            } else {
                now = pacer.next_departure() + late;
            }
        }
        sent
    }

    #[test]
    fn without_a_burst_segments_are_evenly_spaced() {
        let mut pacer = Pacer::new(0);
        for n in 5..20 {
            assert!(pacer.next_departure() <= ms(n));
            pacer.on_sent(ms(n), MSS, RATE);
            assert_eq!(pacer.next_departure(), ms(n + 1));
        }
    }

    #[test]
    fn a_late_timer_does_not_lower_the_rate() {
        let late = Dur::from_micros(700);
        assert_eq!(sent_until(Pacer::new(MSS), ms(100), ms(1100), late), 1001);
        // With no allowance each lateness is lost for good.
        assert_eq!(sent_until(Pacer::new(0), ms(100), ms(1100), late), 589);
    }

    #[test]
    fn after_idle_time_the_burst_is_bounded() {
        let mut pacer = Pacer::new(2 * MSS);
        pacer.on_sent(ms(1), MSS, RATE);
        let mut at_once = 0;
        while pacer.next_departure() <= ms(60_000) {
            pacer.on_sent(ms(60_000), MSS, RATE);
            at_once += 1;
        }
        assert_eq!(at_once, 3, "the allowance and the one that was due");
    }

    #[test]
    fn a_rate_of_zero_is_no_pacing_at_all() {
        let mut pacer = Pacer::new(0);
        pacer.on_sent(ms(3), MSS, Rate(0));
        assert_eq!(pacer.next_departure(), ms(3));
    }
}
