//! Delays that come and go, and sums of delays.

use super::{DelayModel, Episodes};
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
}
