//! Does corruption explain the losses?
//!
//! There are two accounts. Losses while hardly anything queues and the window is at its lowest are corruption, whose rate is learnt from
//! them (`quiet`). Losses at a higher load (`loaded`) are compared with that rate: only what exceeds it is congestion.

use super::rounds::News;

/// Packets over which the rate of corruption is remembered.
const MEMORY: f64 = 20_000.0;
/// Assumed before anything is known: 0.3 loss events in 300 packets.
const PRIOR_EVENTS: f64 = 0.3;
const PRIOR_PACKETS: f64 = 300.0;
/// Standard deviations of a Poisson count by which losses must exceed expectation, so that one verdict in several hundred is wrong. They must
/// also exceed it by half an event, so that the first loss on a path that corrupts nothing is congestion.
const DEVIATIONS: f64 = 3.0;
/// Packets without a loss at a short queue that rule corruption out. At a rate worth asking about (0.5 %), that happens by chance once in 150
/// times.
const PACKETS_THAT_RULE_OUT: f64 = 1000.0;

#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    pub events: f64,
    pub lost: f64,
    pub packets: f64,
}

impl Account {
    pub fn add(&mut self, news: &News) {
        self.events += news.loss_events;
        self.lost += news.lost;
        self.packets += news.delivered + news.lost;
    }

    fn fade(&mut self, packets: f64) {
        let kept = (1.0 - packets / MEMORY).max(0.0);
        *self = Account { events: self.events * kept, lost: self.lost * kept, packets: self.packets * kept };
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Corruption {
    quiet: Account,
    /// Since the last verdict.
    loaded: Account,
    is_believed: bool,
}

impl Corruption {
    /// If corruption is not believed in, every loss is congestion.
    pub fn new(is_believed: bool) -> Corruption {
        Corruption { quiet: Account::default(), loaded: Account::default(), is_believed }
    }

    pub fn add_quiet(&mut self, news: &News) {
        self.quiet.fade(news.delivered + news.lost);
        self.quiet.add(news);
    }

    pub fn add_loaded(&mut self, news: &News) {
        self.loaded.add(news);
    }

    /// Loss events per packet.
    pub fn rate(&self) -> f64 {
        if self.is_believed {
            (self.quiet.events + PRIOR_EVENTS) / (self.quiet.packets + PRIOR_PACKETS)
        } else {
            0.0
        }
    }

    /// Share of packets that are lost.
    pub fn lost_share(&self) -> f64 {
        if self.is_believed { self.quiet.lost / (self.quiet.packets + PRIOR_PACKETS) } else { 0.0 }
    }

    /// Have enough packets been seen at a short queue without a loss?
    pub fn is_ruled_out(&self) -> bool {
        self.quiet.events < 1.0 && self.quiet.packets >= PACKETS_THAT_RULE_OUT || !self.is_believed
    }

    /// Do more packets than the prior's support the rate?
    pub fn is_measured(&self) -> bool {
        self.quiet.packets > PRIOR_PACKETS
    }

    /// Are there more losses under load than corruption explains?
    pub fn is_exceeded(&self) -> bool {
        let expected = self.rate() * self.loaded.packets;
        self.loaded.events >= 0.5 + expected + DEVIATIONS * expected.sqrt()
    }

    pub fn forget_loaded(&mut self) {
        self.loaded = Account::default();
    }

    /// Does a look refute the rate? Losses that vanish with the load are not corruption.
    pub fn is_refuted_by(&self, look: &Account) -> bool {
        let expected = self.rate() * look.packets;
        // The expectation has a variance of its own, from the events from which the rate was learnt.
        let variance = expected * (1.0 + look.packets / (self.quiet.packets + PRIOR_PACKETS));
        look.events < expected - 2.0 * variance.sqrt()
    }

    pub fn learn_anew(&mut self, look: &Account) {
        self.quiet = *look;
    }
}
