//! Delay: nobody queues. The window grows gently, quickly back to a known window, and faster and faster as long as no queue builds.

use super::cubic::ALPHA;
use super::rounds::Tally;
use super::{Concord, LEAST_WINDOW, MARGIN, Phase};
use airtcp_wire::Time;

/// Share of the way to the goal that the window grows per quiet round at least.
const WAY_BACK: f64 = 0.25;
/// Quiet rounds after which growth doubles each round, up to this share of the window, on the way back, too: the last packets of the way
/// would otherwise take ten rounds, and a goal set too low would hold the window for as long.
const QUIET_ROUNDS: u32 = 3;
const FASTEST: f64 = 0.25;
/// The most that may be in flight, in BDPs and packets: enough to find a path whose rate has risen by a quarter, and for small windows.
const MOST_BDP: f64 = 1.5;
const MOST_PACKETS: f64 = 8.0;
/// Rounds until the excess that Start has sent is gone.
const DRAIN_ROUNDS: u32 = 2;

#[derive(Clone, Debug)]
pub struct Delay {
    draining: u32,
    /// Packets per round.
    growth: f64,
    quiet: u32,
}

impl Delay {
    pub fn new() -> Delay {
        Delay { draining: 0, growth: ALPHA, quiet: 0 }
    }

    pub fn draining() -> Delay {
        Delay { draining: DRAIN_ROUNDS, ..Delay::new() }
    }

    pub fn is_draining(&self) -> bool {
        self.draining > 0
    }
}

impl Concord {
    pub fn enter_delay(&mut self, delay: Delay) {
        self.corruption.forget_loaded();
        self.phase = Phase::Delay(delay);
    }

    pub fn delay_round(&mut self, mut delay: Delay, round: &Tally, queue_s: f64, now: Time) {
        if delay.draining > 0 {
            delay.draining -= 1;
            self.window = (self.bdp() + MARGIN).max(LEAST_WINDOW);
            self.low_water = self.window;
            self.enter_delay(delay);
        } else if self.is_time_to_look(now) {
            self.start_look();
        } else if self.corruption.is_exceeded() {
            self.answer_losses(queue_s, now);
        } else if queue_s > self.path.threshold_s() && now >= self.tests.doubt_until {
            self.start_yield(None, queue_s, now);
        } else if round.is_limited {
            self.grow_gently(delay, queue_s);
        } else {
            self.phase = Phase::Delay(delay);
        }
    }

    /// Competes if corruption is ruled out, since then there is nothing to find out. Otherwise yields.
    fn answer_losses(&mut self, queue_s: f64, now: Time) {
        if self.corruption.is_ruled_out() && self.parts.compete {
            self.compete_after_losses(now);
        } else {
            self.yield_to_losses(queue_s, now);
        }
    }

    fn grow_gently(&mut self, mut delay: Delay, queue_s: f64) {
        if queue_s < self.path.quiet_s() {
            delay.quiet += 1;
            delay.growth = self.quiet_growth(&delay);
        } else {
            delay.quiet = 0;
            delay.growth = ALPHA;
        }
        let most = MOST_BDP * self.bdp() + MOST_PACKETS;
        self.window = (self.window + delay.growth).min(most.max(self.window));
        self.phase = Phase::Delay(delay);
    }

    /// Packets by which the window grows in a quiet round: on the way back to the goal, no more than is left of it.
    fn quiet_growth(&self, delay: &Delay) -> f64 {
        let growth = if delay.quiet > QUIET_ROUNDS {
            (2.0 * delay.growth).max(1.0).min(FASTEST * self.window)
        } else {
            ALPHA
        };
        let way = self.goal - self.window;
        if way > 0.0 { growth.clamp(WAY_BACK * way, way).max(ALPHA) } else { growth }
    }
}
