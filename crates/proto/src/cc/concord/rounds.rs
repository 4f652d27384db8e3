//! What happened in one round trip.

use super::super::Ack;
use airtcp_wire::{Dur, Time};

/// A round's account, in packets. RTTs are kept as whole numbers, so that equal ones show no variation.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    pub start: Time,
    pub delivered: f64,
    pub lost: f64,
    pub loss_events: f64,
    min: Dur,
    max: Dur,
    sum: Dur,
    pub samples: u32,
    /// Did the window limit the sender at some time?
    pub is_limited: bool,
    /// Did the application limit it at some time? Then the rate says nothing about the path.
    pub is_app_limited: bool,
}

impl Tally {
    pub fn new(start: Time) -> Tally {
        Tally {
            start,
            delivered: 0.0,
            lost: 0.0,
            loss_events: 0.0,
            min: Dur::MAX,
            max: Dur::ZERO,
            sum: Dur::ZERO,
            samples: 0,
            is_limited: false,
            is_app_limited: false,
        }
    }

    pub fn add(&mut self, ack: &Ack, news: &News) {
        self.delivered += news.delivered;
        self.lost += news.lost;
        self.loss_events += news.loss_events;
        self.is_limited |= ack.is_cwnd_limited;
        self.is_app_limited |= ack.rate.is_app_limited;
        if let Some(rtt) = ack.rtt {
            self.min = self.min.min(rtt);
            self.max = self.max.max(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
    }

    pub fn min_s(&self) -> f64 {
        self.min.as_secs_f64()
    }

    /// How far the mean RTT is above the minimum.
    pub fn noise_s(&self) -> f64 {
        (self.sum - self.min * u64::from(self.samples)).as_secs_f64() / f64::from(self.samples)
    }

    pub fn mean_s(&self) -> f64 {
        self.min_s() + self.noise_s()
    }

    /// How far the maximum RTT is above the minimum.
    pub fn spread_s(&self) -> f64 {
        (self.max - self.min).as_secs_f64()
    }

    /// Packets delivered per second; `None` if the application limited the sender.
    pub fn rate(&self, now: Time) -> Option<f64> {
        let elapsed_s = now.since(self.start).as_secs_f64();
        (elapsed_s > 0.0 && self.delivered > 0.0 && !self.is_app_limited).then(|| self.delivered / elapsed_s)
    }

    pub fn sent(&self) -> f64 {
        self.delivered + self.lost
    }
}

/// What an ACK reports, in packets.
#[derive(Clone, Copy, Debug)]
pub struct News {
    pub delivered: f64,
    pub lost: f64,
    /// 1 if losses begin with this ACK. Losses on the ACKs right after it belong to the same event.
    pub loss_events: f64,
}
