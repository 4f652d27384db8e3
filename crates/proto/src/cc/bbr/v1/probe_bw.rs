//! PROBE_BW: a cycle of eight phases, each about a minimum RTT long: one faster than the path, one slower, six at the path's rate
//! (draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4).

use super::{Bbr1, Phase};
use crate::cc::Ack;
use airtcp_wire::Time;

const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cycle {
    index: usize,
    since: Time,
}

impl Cycle {
    #[inline]
    pub fn pacing_gain(&self) -> f64 {
        GAINS[self.index]
    }

    pub fn is_probing(&self) -> bool {
        self.index == 0
    }
}

impl Bbr1 {
    /// Begins with a random phase other than the slow one, so that flows do not probe together.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        let others = GAINS.len() - 1;
        let drawn = (self.chance.f64() * others as f64) as usize;
        self.phase = Phase::ProbeBw(Cycle { index: (2 + drawn) % GAINS.len(), since: now });
    }

    pub(super) fn advance_cycle(&mut self, ack: &Ack) {
        if let Phase::ProbeBw(cycle) = self.phase
            && self.is_phase_over(&cycle, ack)
        {
            let index = (cycle.index + 1) % GAINS.len();
            self.phase = Phase::ProbeBw(Cycle { index, since: ack.now });
        }
    }

    fn is_phase_over(&self, cycle: &Cycle, ack: &Ack) -> bool {
        let is_long_enough = ack.now.since(cycle.since) > self.min_rtt.value();
        let in_flight = ack.prior_in_flight;
        match self.pacing_gain() {
            // The fast phase lasts until the gain has had its effect on what is in flight, or the queue overflows.
            gain if gain > 1.0 => {
                is_long_enough && (self.newly_lost > 0 || in_flight + self.quantum() >= self.inflight(gain))
            }
            gain if gain < 1.0 => is_long_enough || in_flight <= self.inflight(1.0),
            _ => is_long_enough,
        }
    }
}
