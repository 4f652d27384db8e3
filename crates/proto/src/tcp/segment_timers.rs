//! A retransmission timer for each segment (paper 003 §II: the RTO sets "the timeout period for the next packets sent").

use super::rtt::RttEstimator;
use airtcp_wire::Time;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Timer {
    deadline: Time,
    /// How often it has expired. Each time doubles the next period (RFC 6298 §5.5, segment by segment).
    expiries: u32,
}

/// The timers of the outstanding segments, by the position at which a segment ends.
#[derive(Debug, Default)]
pub struct SegmentTimers {
    timers: BTreeMap<u64, Timer>,
    /// The earliest deadline.
    next: Time,
}

impl SegmentTimers {
    /// The earliest deadline; [`Time::NEVER`] if no timer runs.
    pub fn next(&self) -> Time {
        if self.timers.is_empty() { Time::NEVER } else { self.next }
    }

    /// The segment that ends at `end` is sent or resent.
    pub fn start(&mut self, end: u64, rtt: &RttEstimator, now: Time) {
        let expiries = self.timers.get(&end).map_or(0, |timer| timer.expiries);
        self.timers.insert(end, Timer { deadline: rtt.deadline_after(now, expiries), expiries });
        self.find_next();
    }

    /// Everything below `una` has been acknowledged.
    pub fn acknowledge(&mut self, una: u64) {
        while self.timers.first_key_value().is_some_and(|(end, _)| *end <= una) {
            self.timers.pop_first();
        }
        self.find_next();
    }

    /// The end of the first segment whose timer has expired by `now`, and how often it has. The timer stops until the
    /// segment is resent.
    pub fn expire(&mut self, now: Time) -> Option<(u64, u32)> {
        let (end, timer) = self.timers.iter_mut().find(|(_, timer)| timer.deadline <= now)?;
        *timer = Timer { deadline: Time::NEVER, expiries: timer.expiries + 1 };
        let expired = (*end, timer.expiries);
        self.find_next();
        Some(expired)
    }

    /// Stops the timers of segments that end after `end`, up to `last`, until these are resent.
    pub fn stop_between(&mut self, end: u64, last: u64) {
        let between = self.timers.iter_mut().filter(|(at, _)| end < **at && **at <= last);
        between.for_each(|(_, timer)| timer.deadline = Time::NEVER);
        self.find_next();
    }

    /// Losses have been unmarked: restarts the timers of segments that waited to be resent.
    pub fn resume(&mut self, rtt: &RttEstimator, now: Time) {
        for timer in self.timers.values_mut().filter(|timer| timer.deadline.is_never()) {
            timer.deadline = rtt.deadline_after(now, timer.expiries);
        }
        self.find_next();
    }

    fn find_next(&mut self) {
        self.next = self.timers.values().map(|timer| timer.deadline).min().unwrap_or(Time::NEVER);
    }
}
