//! Delivery rate sampling (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

use super::scoreboard::Run;
use crate::cc::RateSample;
use airtcp_wire::{Dur, Time};

/// `C.*` of the draft.
#[derive(Clone, Debug, Default)]
pub struct RateSampler {
    /// The controller reads samples; otherwise only totals are kept.
    pub is_read: bool,
    pub delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    /// Bytes ever marked lost.
    pub lost: u64,
    /// Of those, the bytes that the last sample included.
    lost_told: u64,
    /// Until `delivered` exceeds this, samples are limited by the application. 0: they are not.
    app_limited_until: u64,
}

/// `P.*` of the draft: the connection's state when a segment was last sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    first_sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    is_app_limited: bool,
    lost: u64,
    in_flight: u64,
}

impl Stamps {
    /// Stamps of a segment that left at `now`, before anything was delivered.
    pub fn new(now: Time) -> Stamps {
        Stamps { first_sent_at: now, delivered_at: now, ..Stamps::default() }
    }
}

/// Of the segments that one ACK acknowledges, the one that was sent last: `RS.*` of the draft follows from it.
pub struct Newest {
    sent_at: Time,
    end: u64,
    stamps: Stamps,
}

impl RateSampler {
    /// Nothing was outstanding before the segments that leave now. Segments marked lost are outstanding: a guess must not
    /// shorten the interval (Linux's packets_out, where the draft has C.inflight).
    pub fn on_restart(&mut self, now: Time) {
        (self.first_sent_at, self.delivered_at) = (now, now);
    }

    /// Stamps of a segment that leaves now. `in_flight` includes it.
    pub fn stamps(&self, in_flight: u64) -> Stamps {
        Stamps {
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            is_app_limited: self.app_limited_until != 0,
            lost: self.lost,
            in_flight,
        }
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
        self.delivered_at = now;
        if newest.as_ref().is_none_or(|newest| (newest.sent_at, newest.end) <= last) {
            let (sent_at, end) = last;
            *newest = Some(Newest { sent_at, end, stamps: *stamps });
            self.first_sent_at = sent_at;
        }
    }

    /// Without SACK, a duplicate ACK announces that `bytes` were delivered (draft §4.1.3.5.1).
    pub fn on_announced(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// A cumulative ACK has just acknowledged `bytes` that had been announced: they do not count twice.
    pub fn on_known(&mut self, bytes: u64) {
        self.delivered -= bytes;
    }

    /// The sample of an ACK, after all segments that it reports went through [`on_delivered`](RateSampler::on_delivered).
    #[inline(always)]
    pub fn sample(&mut self, now: Time, newest: Option<&Newest>, min_rtt: Dur) -> RateSample {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let newly_lost = self.lost - self.lost_told;
        self.lost_told = self.lost;
        let mut sample = RateSample { total_delivered: self.delivered, newly_lost, ..RateSample::default() };
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
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }
}
