//! Yield: for a few round trips, no more is in flight than the path holds, to see what happens to the queue.

use super::compete::Compete;
use super::cubic::BETA;
use super::delay::Delay;
use super::rounds::Tally;
use super::{Concord, LEAST_WINDOW, Phase};
use airtcp_wire::{Dur, Time};

/// A queue was ours if it has fallen to this share of what it was, or of the threshold.
const OURS: f64 = 0.4;
/// A queue is a rival's, and not one of flows that yield, too, if it exceeds this many thresholds for this many rounds.
const RIVAL: f64 = 1.5;
const RIVAL_ROUNDS: u32 = 3;
/// Rounds until what was sent before has gone, and the queue with it.
const WATCH_ROUNDS: u32 = 4;
/// Rounds after which a queue that neither drains nor stands is nobody's.
const MOST_ROUNDS: u32 = 12;
/// A queue that falls to this share of itself per round is waited for, up to this many rounds.
const FALLING: f64 = 0.85;
const FALLING_ROUNDS: u32 = 10;
/// Rate or delay fell with the window if it lost at least this share of what the window lost.
const FELL_WITH: f64 = 0.5;
/// A rate must fall by this many standard deviations more, because corruption makes it vary.
const RATE_DEVIATIONS: f64 = 1.0;
/// If it falls by this many, delay need not confirm it.
const RATE_DEVIATIONS_ALONE: f64 = 3.0;
/// Share of the window that remains after a yield that gained nothing.
const GAINED_NOTHING: f64 = 0.97;
/// A yield that kept this share of the window gained nothing unless delay fell.
const GIVEN_UP: f64 = 0.95;
/// After a yield of our own queue, growth returns to this point between the new window and the old one.
const MIDDLE: f64 = 0.5;

/// Seconds for which delay is ignored after a yield that gained nothing: at first, and at most. Each such yield doubles them, and each
/// successful one halves them.
const FIRST_DOUBT_S: f64 = 0.5;
const LAST_DOUBT_S: f64 = 16.0;

/// Seconds between yields in competition: at first, and at most.
pub const FIRST_TEST_S: f64 = 1.0;
const LAST_TEST_S: f64 = 30.0;

/// When to yield in competition, and when queues were seen.
#[derive(Clone, Debug)]
pub struct Tests {
    pub gap_s: f64,
    pub last: Time,
    /// When a queue was last seen.
    pub last_queue: Time,
    /// Delay is ignored until then.
    pub doubt_until: Time,
    /// How long delay will be ignored next time.
    pub doubt_s: f64,
}

impl Default for Tests {
    fn default() -> Tests {
        Tests {
            gap_s: FIRST_TEST_S,
            last: Time::ZERO,
            last_queue: Time::ZERO,
            doubt_until: Time::ZERO,
            doubt_s: FIRST_DOUBT_S,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Yield {
    began: Time,
    rounds: u32,
    /// Was delay the reason?
    is_late: bool,
    /// Window, queue, rate and mean RTT before the yield.
    window: f64,
    queue_s: f64,
    rate: f64,
    mean_s: f64,
    /// The highest rate and the least mean RTT since.
    rate_after: f64,
    mean_after_s: f64,
    last_queue_s: f64,
    rival_rounds: u32,
    /// The competition that the yield interrupted.
    from: Option<Compete>,
}

impl Concord {
    pub fn start_yield(&mut self, from: Option<Compete>, queue_s: f64, now: Time) {
        self.phase = Phase::Yield(Yield {
            began: now,
            rounds: 0,
            is_late: queue_s > self.path.threshold_s(),
            window: self.window,
            queue_s,
            rate: self.path.rate_of(3),
            mean_s: self.path.mean_s,
            rate_after: 0.0,
            mean_after_s: f64::INFINITY,
            last_queue_s: f64::INFINITY,
            rival_rounds: 0,
            from,
        });
        self.goal = self.window;
        self.give_up();
        self.corruption.forget_loaded();
    }

    /// Yields because of more losses than corruption explains: to no more than CUBIC's answer would leave.
    pub fn yield_to_losses(&mut self, queue_s: f64, now: Time) {
        self.start_yield(None, queue_s, now);
        self.window = self.window.min(BETA * self.goal).max(LEAST_WINDOW);
        self.low_water = self.window;
    }

    fn give_up(&mut self) {
        self.window = self.window.min(self.drained());
        self.low_water = self.window;
    }

    pub fn yield_round(&mut self, mut yielding: Yield, round: &Tally, queue_s: f64, now: Time) {
        yielding.rounds += 1;
        if yielding.rounds < 2 {
            self.phase = Phase::Yield(yielding);
            return;
        }
        yielding.rate_after = yielding.rate_after.max(round.rate(now).unwrap_or(0.0));
        yielding.mean_after_s = yielding.mean_after_s.min(round.mean_s());
        let threshold_s = self.path.threshold_s();
        let is_ours = queue_s < OURS * yielding.queue_s.max(threshold_s);
        if is_ours {
            self.tests.gap_s = FIRST_TEST_S;
        }
        if is_ours || yielding.from.is_none() && yielding.rounds >= MOST_ROUNDS {
            self.end_yield(&yielding, now);
            return;
        }
        if yielding.rounds == 2 {
            self.give_up();
        }
        yielding.rival_rounds = if queue_s > RIVAL * threshold_s { yielding.rival_rounds + 1 } else { 0 };
        let is_falling = queue_s < FALLING * yielding.last_queue_s;
        yielding.last_queue_s = queue_s;
        self.judge_rival(yielding, is_falling, now);
    }

    fn judge_rival(&mut self, yielding: Yield, is_falling: bool, now: Time) {
        if yielding.rounds < WATCH_ROUNDS || !self.parts.compete {
            self.phase = Phase::Yield(yielding);
            return;
        }
        match yielding.from.clone() {
            Some(_) if is_falling && yielding.rounds < FALLING_ROUNDS => self.phase = Phase::Yield(yielding),
            Some(compete) => {
                self.tests.gap_s = LAST_TEST_S.min(2.0 * self.tests.gap_s);
                self.tests.last = now;
                self.window = yielding.window;
                self.phase = Phase::Compete(compete.after(now.since(yielding.began)));
            }
            None if yielding.rival_rounds >= RIVAL_ROUNDS => self.compete(yielding.window, now),
            None => self.phase = Phase::Yield(yielding),
        }
    }

    /// Ends a yield. If the queue was ours, growth returns to a window between the two; if there was none, the old window returns.
    fn end_yield(&mut self, yielding: &Yield, now: Time) {
        if self.parts.doubt && self.is_in_vain(yielding) {
            self.window = GAINED_NOTHING * yielding.window;
            self.goal = yielding.window;
            if yielding.is_late {
                self.tests.doubt_until = now + Dur::from_secs_f64(self.tests.doubt_s);
                self.tests.doubt_s = LAST_DOUBT_S.min(2.0 * self.tests.doubt_s);
            }
        } else {
            self.tests.doubt_s = FIRST_DOUBT_S.max(self.tests.doubt_s / 2.0);
            self.goal = self.window + MIDDLE * (yielding.window - self.window);
        }
        self.enter_delay(Delay::new());
    }

    /// Was there no queue? What was taken out of flight had either been waiting, so that delay fell, or been on its way, so that the rate fell.
    /// Corruption blurs a rate, but not a delay; varying round trips blur a delay.
    fn is_in_vain(&self, yielding: &Yield) -> bool {
        let left = self.window / yielding.window;
        let half = 1.0 - FELL_WITH * (1.0 - left);
        let noise = self.path.rate_noise(self.corruption.lost_share());
        let fell = |deviations| yielding.rate_after < yielding.rate * (half - deviations * noise);
        let delay_stayed = yielding.mean_after_s > yielding.mean_s * half;
        fell(RATE_DEVIATIONS_ALONE) || delay_stayed && (fell(RATE_DEVIATIONS) || left >= GIVEN_UP)
    }
}

/// Time without a queue that ends a competition, whatever was lost: without a rival, competing finds out nothing about losses.
pub fn calm(base_s: f64) -> Dur {
    Dur::from_secs_f64((20.0 * base_s).max(3.0))
}
