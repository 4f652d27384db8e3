//! Start: the window doubles each round trip until a queue, a plateau of the rate, or heavy loss shows that the path is full.

use super::cubic::BETA;
use super::delay::Delay;
use super::rounds::{News, Tally};
use super::{Concord, MARGIN, Phase};
use crate::cc::{Ack, Congestion};

/// RTTs in a row above the threshold that show a queue: as many as HyStart++ samples per round (RFC 9406 §4.3).
const LATE_IN_A_ROW: u32 = 8;
/// They must also exceed the base by this share. That is twice HyStart++'s (RFC 9406 §4.2), since packets behind one that is late by chance
/// look like a queue, and Delay will find a small queue, too.
const LATE_SHARE: f64 = 0.25;
/// Loss is heavy if a round loses this share and the rate has not grown: corruption takes its share of a rate that still grows. Two such
/// rounds in a row are no chance.
const HEAVY_LOSS: f64 = 0.2;
const HEAVY_ROUNDS: u32 = 2;
/// A round with no more packets than this cannot show heavy loss.
const HEAVY_OF: f64 = 10.0;
/// A rate that has not grown by a quarter in three rounds has reached its plateau (draft-ietf-ccwg-bbr §5.3.1.2).
const GROWTH: f64 = 1.25;
const PLATEAU_ROUNDS: u32 = 3;

#[derive(Clone, Debug)]
pub struct Start {
    /// ssthresh: Start ends at this window.
    until: f64,
    late: u32,
    heavy: u32,
    highest: f64,
    rounds_without_growth: u32,
}

impl Start {
    pub fn new(until: f64) -> Start {
        Start { until, late: 0, heavy: 0, highest: 0.0, rounds_without_growth: 0 }
    }

    fn has_plateau(&mut self, rate: f64) -> bool {
        if rate > GROWTH * self.highest {
            self.highest = rate;
            self.rounds_without_growth = 0;
        } else {
            self.rounds_without_growth += 1;
        }
        self.rounds_without_growth >= PLATEAU_ROUNDS
    }

    fn loses_heavily(&mut self, round: &Tally) -> bool {
        let is_full = self.rounds_without_growth > 0;
        let is_heavy = is_full && round.sent() > HEAVY_OF && round.lost > HEAVY_LOSS * round.sent();
        self.heavy = if is_heavy { self.heavy + 1 } else { 0 };
        self.heavy >= HEAVY_ROUNDS
    }
}

impl Concord {
    pub fn start_ack(&mut self, mut start: Start, ack: &Ack, news: &News) {
        if ack.is_cwnd_limited {
            self.window += news.delivered;
        }
        let late_s = self.path.threshold_s().max(LATE_SHARE * self.path.base_s());
        if let Some(rtt) = ack.rtt {
            let is_late = self.path.queue_s(rtt.as_secs_f64()) > late_s;
            start.late = if is_late { start.late + 1 } else { 0 };
        }
        if self.window >= start.until {
            self.phase = Phase::Delay(Delay::new());
            self.low_water = self.window;
        } else if start.late >= LATE_IN_A_ROW {
            self.leave_start();
        } else {
            self.phase = Phase::Start(start);
        }
    }

    pub fn start_round(&mut self, mut start: Start, round: &Tally) {
        let is_flat = !round.is_app_limited && start.has_plateau(self.path.latest_rate());
        if start.loses_heavily(round) || is_flat && self.window > 2.0 * self.bdp() + 10.0 {
            self.leave_start();
        } else {
            self.phase = Phase::Start(start);
        }
    }

    fn leave_start(&mut self) {
        self.window = (self.bdp() + MARGIN).max(self.window / 2.0);
        self.enter_delay(Delay::draining());
    }

    /// After a timeout: starts from the loss window (RFC 5681 §3.1), plus what is not lost (RFC 8985 §6.3), up to what CUBIC would leave.
    pub fn start_over(&mut self, event: &Congestion) {
        if !event.is_repeated_timeout {
            let until = match &self.phase {
                Phase::Start(start) => start.until.min(self.window * BETA),
                _ => self.window * BETA,
            };
            self.before = Some((self.phase.clone(), self.window));
            self.phase = Phase::Start(Start::new(until.max(2.0)));
        }
        self.window = 1.0 + event.survivors as f64 / self.mss;
    }
}
