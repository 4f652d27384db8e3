//! HyStart++ (RFC 9406): leaves slow start when the RTT grows, by way of a conservative slow start that may be revoked.

use crate::cc::round::Round;
use crate::cc::{Ack, Build};
use airtcp_wire::Dur;

// RFC 9406 §4.3.
const MIN_RTT_THRESH: Dur = Dur::from_millis(4);
const MAX_RTT_THRESH: Dur = Dur::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L of a sender that does not pace. L is infinite for one that does.
const LIMIT_UNPACED_SEGMENTS: u64 = 8;

#[derive(Clone, Debug)]
pub(super) struct HystartPlusPlus {
    /// Bytes that one ACK may count for.
    pub limit: u64,
    round: Round,
    last_round_min_rtt: Dur,
    current_round_min_rtt: Dur,
    rtt_sample_count: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline_min_rtt: Dur,
    rounds_ended: u32,
}

impl HystartPlusPlus {
    pub fn new(build: &Build) -> HystartPlusPlus {
        HystartPlusPlus {
            limit: if build.is_paced { u64::MAX } else { LIMIT_UNPACED_SEGMENTS * build.mss },
            round: Round::default(),
            last_round_min_rtt: Dur::MAX,
            current_round_min_rtt: Dur::MAX,
            rtt_sample_count: 0,
            conservative: None,
        }
    }

    pub fn growth_divisor(&self) -> f64 {
        if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Has conservative slow start lasted its rounds, so that congestion avoidance follows (RFC 9406 §4.2)?
    pub fn is_over(&mut self, ack: &Ack) -> bool {
        if self.round.begins(ack) {
            self.start_round();
        }
        if let Some(rtt) = ack.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.rtt_sample_count += 1;
            self.judge();
        }
        self.conservative.is_some_and(|css| css.rounds_ended >= CSS_ROUNDS)
    }

    /// RFC 9406 §4.2. The round during which conservative slow start begins counts as one of its rounds.
    fn start_round(&mut self) {
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = Dur::MAX;
        self.rtt_sample_count = 0;
        if let Some(css) = &mut self.conservative {
            css.rounds_ended += 1;
        }
    }

    fn judge(&mut self) {
        if self.rtt_sample_count < N_RTT_SAMPLE {
            return;
        }
        match self.conservative {
            None if self.has_delay_grown() => {
                self.conservative =
                    Some(Conservative { baseline_min_rtt: self.current_round_min_rtt, rounds_ended: 0 });
            }
            Some(css) if self.current_round_min_rtt < css.baseline_min_rtt => self.conservative = None,
            _ => {}
        }
    }

    fn has_delay_grown(&self) -> bool {
        if self.last_round_min_rtt == Dur::MAX {
            return false;
        }
        let threshold = (self.last_round_min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        self.current_round_min_rtt >= self.last_round_min_rtt + threshold
    }
}
