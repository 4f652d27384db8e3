//! Delivery rate sampling (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

use super::scoreboard::Run;
use super::stamps::Stamps;
use crate::cc::RateSample;
use airtcp_wire::{Dur, Time};

/// `C.*` of the draft.
#[derive(Clone, Debug, Default)]
pub struct RateSampler {
    pub delivered: u64,
    /// Bytes ever marked lost.
    pub lost: u64,
    /// Of those, the bytes that the last sample included.
    lost_told: u64,
    /// Present if the controller reads samples; otherwise only totals are kept.
    interval: Option<Box<Interval>>,
}

/// What the interval of a sample follows from.
#[derive(Clone, Debug, Default)]
struct Interval {
    delivered_at: Time,
    first_sent_at: Time,
    /// Until `delivered` exceeds this, samples are limited by the application. 0: they are not.
    app_limited_until: u64,
    /// [`RateSampler::lost`] when the present ACK arrived.
    prior_lost: u64,
}

/// Of the segments that one ACK acknowledges, the one that was sent last: `RS.*` of the draft follows from it.
pub struct Newest {
    sent_at: Time,
    end: u64,
    stamps: Stamps,
}

impl RateSampler {
    /// The controller reads samples from now on.
    pub fn keep_interval(&mut self) {
        self.interval = Some(Box::default());
    }

    /// Does the controller read samples?
    #[inline]
    pub fn is_read(&self) -> bool {
        self.interval.is_some()
    }

    /// An ACK has arrived, and nothing of it has been looked at yet.
    #[inline]
    pub fn begin_ack(&mut self) {
        if let Some(interval) = &mut self.interval {
            interval.prior_lost = self.lost;
        }
    }

    /// Nothing was outstanding before the segments that leave now. Segments marked lost are outstanding: a guess must not
    /// shorten the interval (Linux's packets_out, where the draft has C.inflight).
    pub fn on_restart(&mut self, now: Time) {
        if let Some(interval) = &mut self.interval {
            (interval.first_sent_at, interval.delivered_at) = (now, now);
        }
    }

    /// Stamps of a segment that leaves now, if samples are read. `in_flight` includes it.
    #[inline]
    pub fn stamps(&self, in_flight: u64) -> Option<Stamps> {
        let interval = self.interval.as_ref()?;
        Some(Stamps {
            first_sent_at: interval.first_sent_at,
            delivered: self.delivered,
            delivered_at: interval.delivered_at,
            is_app_limited: interval.app_limited_until != 0,
            lost: self.lost,
            in_flight,
        })
    }

    /// `run`, whose last segment has these stamps, has been found delivered.
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Time,
        run: &Run,
        stamps: Option<&Stamps>,
        newest: &mut Option<Newest>,
    ) {
        self.delivered += run.bytes();
        if let Some(stamps) = stamps {
            self.on_stamps(now, (run.newest_at, run.end), stamps, newest);
        }
    }

    /// [`on_delivered`](RateSampler::on_delivered) for a run whose bytes the caller counts. `last` says when its last
    /// segment was sent, and where it ends.
    #[inline]
    pub fn on_stamps(&mut self, now: Time, last: (Time, u64), stamps: &Stamps, newest: &mut Option<Newest>) {
        let Some(interval) = &mut self.interval else { return };
        interval.delivered_at = now;
        if newest.as_ref().is_none_or(|newest| (newest.sent_at, newest.end) <= last) {
            let (sent_at, end) = last;
            *newest = Some(Newest { sent_at, end, stamps: *stamps });
            interval.first_sent_at = sent_at;
        }
    }

    /// Without SACK, a duplicate ACK announces that `bytes` were delivered (draft §4.1.3.5.1).
    pub fn on_announced(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.interval.iter_mut().for_each(|interval| interval.delivered_at = now);
    }

    /// A cumulative ACK has just acknowledged `bytes` that had been announced: they do not count twice.
    pub fn on_known(&mut self, bytes: u64) {
        self.delivered -= bytes;
    }

    /// A DSACK reports that `bytes` have arrived twice: to Linux, a spurious retransmission has been delivered. Returns what counts.
    pub fn on_duplicate(&mut self, now: Time, bytes: u64) -> u64 {
        let Some(interval) = &mut self.interval else { return 0 };
        interval.delivered_at = now;
        self.delivered += bytes;
        bytes
    }

    /// The sample of an ACK, after all segments that it reports went through [`on_delivered`](RateSampler::on_delivered).
    #[inline(always)]
    pub fn sample(&mut self, now: Time, newest: Option<&Newest>, min_rtt: Dur) -> RateSample {
        if let Some(interval) = &mut self.interval
            && self.delivered > interval.app_limited_until
        {
            interval.app_limited_until = 0;
        }
        let newly_lost = self.lost - self.lost_told;
        let prior_lost = self.interval.as_ref().map_or(0, |interval| interval.prior_lost);
        let lost_by_timer = prior_lost.saturating_sub(self.lost_told);
        self.lost_told = self.lost;
        let mut sample = RateSample {
            total_delivered: self.delivered,
            total_lost: self.lost,
            newly_lost,
            lost_by_timer,
            ..RateSample::default()
        };
        let Some(Newest { sent_at, stamps, .. }) = newest else { return sample };
        sample.prior_delivered = stamps.delivered;
        sample.is_app_limited = stamps.is_app_limited;
        sample.tx_in_flight = stamps.in_flight;
        sample.lost_since = self.lost - stamps.lost;
        let interval = sent_at.since(stamps.first_sent_at).max(now.since(stamps.delivered_at));
        // A shorter interval than any RTT is compression, not capacity.
        if interval >= min_rtt || min_rtt == Dur::MAX {
            sample.interval = interval;
            sample.delivered = self.delivered - stamps.delivered;
        }
        sample
    }

    /// The application, not the window, keeps the sender from sending.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        if let Some(interval) = &mut self.interval {
            interval.app_limited_until = (self.delivered + in_flight).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler() -> RateSampler {
        let mut sampler = RateSampler::default();
        sampler.keep_interval();
        sampler
    }

    #[test]
    fn what_a_timer_marks_is_told_apart_from_what_an_ack_does() {
        let mut sampler = sampler();
        sampler.lost = 3;
        sampler.begin_ack();
        sampler.lost = 7;
        let sample = sampler.sample(Time::ZERO, None, Dur::MAX);
        assert_eq!((sample.total_lost, sample.newly_lost, sample.lost_by_timer), (7, 7, 3));
        sampler.begin_ack();
        sampler.lost = 8;
        let sample = sampler.sample(Time::ZERO, None, Dur::MAX);
        assert_eq!((sample.total_lost, sample.newly_lost, sample.lost_by_timer), (8, 1, 0));
    }

    #[test]
    fn a_reported_duplicate_counts_for_who_reads_samples() {
        let mut sampler = sampler();
        assert_eq!(sampler.on_duplicate(Time(5), 1000), 1000);
        assert_eq!(sampler.sample(Time(5), None, Dur::MAX).total_delivered, 1000);
        assert_eq!(RateSampler::default().on_duplicate(Time(5), 1000), 0);
    }
}
