//! Does corruption explain the losses?
//!
//! Two accounts. What is lost while hardly anything queues and the window is at its lowest is corruption, and its rate is
//! learnt (`quiet`). Losses at a higher load are held against that rate (`loaded`): only what exceeds it is congestion.

use super::rounds::News;

/// Packets over which the rate of corruption is remembered.
const MEMORY: f64 = 20_000.0;
/// Assumed before anything is known: a third of an event in 300 packets.
const PRIOR_EVENTS: f64 = 0.3;
const PRIOR_PACKETS: f64 = 300.0;
/// Standard deviations of a Poisson count by which losses must exceed what was expected: one verdict in several hundred is
/// wrong. Half an event more makes the first loss of a path that corrupts nothing congestion.
const DEVIATIONS: f64 = 3.0;
/// Packets without a loss at a short queue that rule corruption out: of a rate that is worth asking for (0.5 %), chance leaves
/// none once in 150 times.
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
    /// Disabled: every loss is congestion.
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

    /// Loss events a packet.
    pub fn rate(&self) -> f64 {
        if self.is_believed {
            (self.quiet.events + PRIOR_EVENTS) / (self.quiet.packets + PRIOR_PACKETS)
        } else {
            0.0
        }
    }

    /// Packets lost of those sent.
    pub fn lost_share(&self) -> f64 {
        if self.is_believed { self.quiet.lost / (self.quiet.packets + PRIOR_PACKETS) } else { 0.0 }
    }

    /// Have enough packets been seen at a short queue, and none of them lost?
    pub fn is_ruled_out(&self) -> bool {
        self.quiet.events < 1.0 && self.quiet.packets >= PACKETS_THAT_RULE_OUT || !self.is_believed
    }

    /// Is the rate built on more than the prior?
    pub fn is_measured(&self) -> bool {
        self.quiet.packets > PRIOR_PACKETS
    }

    /// More losses under load than corruption explains?
    pub fn is_exceeded(&self) -> bool {
        let expected = self.rate() * self.loaded.packets;
        self.loaded.events >= 0.5 + expected + DEVIATIONS * expected.sqrt()
    }

    pub fn forget_loaded(&mut self) {
        self.loaded = Account::default();
    }

    /// Losses that vanish with the load were not corruption.
    pub fn is_refuted_by(&self, look: &Account) -> bool {
        let expected = self.rate() * look.packets;
        // What is expected varies, too, by the events that it was learnt from.
        let variance = expected * (1.0 + look.packets / (self.quiet.packets + PRIOR_PACKETS));
        look.events < expected - 2.0 * variance.sqrt()
    }

    pub fn learn_anew(&mut self, look: &Account) {
        self.quiet = *look;
    }
}
