//! Delays that come and go or step, and sums of delays.

use super::jitter::uniform::between;
use super::{DelayModel, Episodes};
use crate::rng::Chance;
use airtcp_wire::{Dur, Time};

/// Delays every packet that departs during an episode by `extra`.
#[derive(Clone, Debug)]
pub struct Spikes {
    pub when: Episodes,
    pub extra: Dur,
}

impl DelayModel for Spikes {
    fn extra_delay(&mut self, now: Time) -> Dur {
        if self.when.covers(now) { self.extra } else { Dur::ZERO }
    }
}

/// A delay that holds for a period, and then steps to another one, drawn uniformly from `low` to `high`. Clones go through the same ones.
#[derive(Clone, Debug)]
pub struct Steps {
    period: Dur,
    low: Dur,
    high: Dur,
    chance: Chance,
    current: Dur,
    /// When it steps next.
    until: Time,
}

impl Steps {
    /// `period` is not zero.
    pub fn new(period: Dur, low: Dur, high: Dur, chance: Chance) -> Steps {
        Steps { period, low, high, chance, current: Dur::ZERO, until: Time::ZERO }
    }
}

impl DelayModel for Steps {
    fn extra_delay(&mut self, now: Time) -> Dur {
        while self.until <= now {
            self.current = between(self.low, self.high, &mut self.chance);
            self.until += self.period;
        }
        self.current
    }
}

/// The sum of several delays.
pub struct SumOfDelays(pub Vec<Box<dyn DelayModel>>);

impl DelayModel for SumOfDelays {
    fn extra_delay(&mut self, now: Time) -> Dur {
        self.0.iter_mut().fold(Dur::ZERO, |sum, model| sum + model.extra_delay(now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Starts;
    use super::super::jitter::{Keys, constant};
    use super::*;
    use crate::rng::Chances;

    const MS: fn(u64) -> Dur = Dur::from_millis;

    #[test]
    fn delays_add_up() {
        let starts = Starts { at: vec![Time(5_000_000)], ..Starts::default() };
        let when = Episodes::new(MS(2), starts, Chances::new(1).chance("spikes"));
        let spikes = Spikes { when, extra: MS(100) };
        let constant = constant::Config { mean: MS(7) }.build(Time::ZERO, Chances::new(1).chance("delay"));
        let mut sum = SumOfDelays(vec![constant, Box::new(spikes)]);
        let ms = [4, 5, 6, 7].map(|at| sum.extra_delay(Time(at * 1_000_000)).as_millis());
        assert_eq!(ms, [7, 107, 107, 7]);
    }

    #[test]
    fn steps_hold_for_a_period_and_do_not_depend_on_who_asks_when() {
        let mut often = Steps::new(MS(10), MS(20), MS(40), Chances::new(1).chance("steps"));
        let mut seldom = often.clone();
        let drawn: Vec<Dur> = (0..20_000).map(|ms| often.extra_delay(Time(ms * 1_000_000))).collect();
        for (number, period) in drawn.chunks(10).enumerate() {
            assert!(period.iter().all(|&delay| delay == period[0] && delay >= MS(20) && delay < MS(40)));
            if number % 7 == 0 {
                assert_eq!(seldom.extra_delay(Time(number as u64 * 10_000_000 + 9_999_999)), period[0]);
            }
        }
        let of_periods = drawn.iter().step_by(10).map(|delay| delay.as_secs_f64() * 1e3);
        let mean = of_periods.sum::<f64>() / 2_000.0;
        let error = 20.0 / f64::sqrt(12.0 * 2_000.0);
        assert!((mean - 30.0).abs() < 4.0 * error, "four standard errors: {mean}");
    }
}
