//! Compete: a rival fills the queue, so the window is CUBIC's. A yield now and then shows whether the rival is still there.

use super::cubic::Cubic;
use super::delay::Delay;
use super::rounds::News;
use super::yielding::{FIRST_TEST_S, calm};
use super::{Concord, Phase};
use crate::cc::Ack;
use airtcp_wire::{Dur, Time};

/// A loss is congestion, even if corruption explains it, while the queue is at least this share of the fullest queue,
const NEAR_FULL: f64 = 0.8;
/// and the fullest queue is more than this many thresholds.
const FULL: f64 = 1.5;
/// The fullest queue is remembered for one to two of these.
const FULL_PIECE: Dur = Dur::from_secs(10);
/// Seconds until the first yield if losses, not a queue, began the competition.
const TEST_AFTER_LOSSES_S: f64 = 4.0;

#[derive(Clone, Debug)]
pub struct Compete {
    cubic: Cubic,
    /// The fullest queue of the last two pieces of time.
    fullest_s: [f64; 2],
    fullest_since: Time,
    /// No reduction before then: there is one per round trip.
    hold_until: Time,
}

impl Compete {
    fn new(window: f64, queue_s: f64, now: Time) -> Compete {
        Compete {
            cubic: Cubic::new(window, now),
            fullest_s: [0.0, queue_s],
            fullest_since: now,
            hold_until: now,
        }
    }

    /// The competition, resumed after a `pause`.
    pub fn after(mut self, pause: Dur) -> Compete {
        self.cubic.skip(pause);
        self
    }

    fn see(&mut self, queue_s: f64, now: Time) {
        if now.since(self.fullest_since) > FULL_PIECE {
            self.fullest_s = [self.fullest_s[1], 0.0];
            self.fullest_since = now;
        }
        self.fullest_s[1] = self.fullest_s[1].max(queue_s);
    }

    fn fullest_s(&self) -> f64 {
        self.fullest_s[0].max(self.fullest_s[1])
    }
}

impl Concord {
    pub fn compete(&mut self, window: f64, now: Time) {
        self.window = window;
        self.tests.last = now;
        self.tests.gap_s = FIRST_TEST_S;
        self.phase = Phase::Compete(Compete::new(window, self.path.queue_now_s(), now));
    }

    pub fn compete_after_losses(&mut self, now: Time) {
        self.compete(self.window, now);
        self.tests.gap_s = TEST_AFTER_LOSSES_S;
        self.reduce(now);
    }

    /// Answers ECN-Echo as a loss (RFC 9438 §4.6).
    pub fn answer_ecn(&mut self, now: Time) {
        if !matches!(self.phase, Phase::Compete(_)) {
            self.compete(self.window, now);
        }
        self.reduce(now);
    }

    pub fn compete_ack(&mut self, mut compete: Compete, ack: &Ack, news: &News) {
        let queue_s = self.path.queue_now_s();
        compete.see(queue_s, ack.now);
        let is_held = ack.now < compete.hold_until;
        let is_full = compete.fullest_s() > FULL * self.path.threshold_s() + self.path.spread_s()
            && queue_s >= NEAR_FULL * compete.fullest_s();
        if news.lost > 0.0 && !is_held && (is_full || self.corruption.is_exceeded()) {
            self.phase = Phase::Compete(compete);
            self.reduce(ack.now);
            return;
        }
        if !is_held && ack.is_cwnd_limited {
            self.window = compete.cubic.grow(self.window, news.delivered, ack.now, self.path.base_s());
        }
        self.phase = Phase::Compete(compete);
    }

    /// Answers congestion, once per round trip.
    fn reduce(&mut self, now: Time) {
        let Phase::Compete(compete) = &mut self.phase else { return };
        if now < compete.hold_until {
            return;
        }
        self.window = compete.cubic.reduce(self.window, now);
        compete.hold_until = now + Dur::from_secs_f64(self.srtt_s);
        self.corruption.forget_loaded();
        self.low_water = self.window;
    }

    pub fn compete_round(&mut self, compete: Compete, queue_s: f64, now: Time) {
        let calm = calm(self.path.base_s());
        let is_queue = queue_s > self.path.threshold_s();
        if now.since(self.tests.last_queue) > calm {
            self.enter_delay(Delay::new());
        } else if is_queue && self.is_time_to_test(now) && now >= compete.hold_until {
            self.start_yield(Some(compete), queue_s, now);
        }
    }

    fn is_time_to_test(&self, now: Time) -> bool {
        now.since(self.tests.last).as_secs_f64() > self.tests.gap_s
    }
}
