//! HyStart (Ha, Rhee, Computer Networks 55(9), 2011), with the rules and constants of Linux's CUBIC: slow start ends when a
//! train of closely spaced ACKs is half an RTT long, or when the RTT has grown.

use crate::cc::round::Round;
use crate::cc::{Ack, Window};
use airtcp_wire::{Dur, Rate, Time};

/// Below this window, in segments, slow start goes on in any case.
const LOW_WINDOW: f64 = 16.0;
/// ACKs at most this far apart are one train.
const ACK_DELTA: Dur = Dur::from_millis(2);
/// RTT samples of a round before another one may show that the delay has grown.
const MIN_SAMPLES: u32 = 8;
const DELAY_MIN: Dur = Dur::from_millis(4);
const DELAY_MAX: Dur = Dur::from_millis(16);
/// What the largest bursts and ACK aggregates may add to a train: four full offloaded packets, but at most a millisecond.
const AGGREGATE_BYTES: u64 = 4 * 65_536;
const AGGREGATE_MOST: Dur = Dur::from_millis(1);

#[derive(Clone, Debug)]
pub(super) struct Hystart {
    is_paced: bool,
    round: Round,
    round_start: Time,
    last_ack: Time,
    round_min_rtt: Dur,
    samples: u32,
}

impl Hystart {
    pub fn new(is_paced: bool) -> Hystart {
        Hystart {
            is_paced,
            round: Round::default(),
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            round_min_rtt: Dur::MAX,
            samples: 0,
        }
    }

    /// Has the window reached what the path holds?
    pub fn finds_exit(&mut self, ack: &Ack, window: &Window) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if self.round.begins(ack) {
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.round_min_rtt, self.samples) = (Dur::MAX, 0);
        }
        if window.segments() < LOW_WINDOW {
            return false;
        }
        let is_train_long = self.is_train_long(ack, window);
        is_train_long | self.has_delay_grown(rtt, ack.min_rtt)
    }

    /// Is the train as long as the path holds one way, half an RTT? A paced sender spreads its segments itself, so that only a whole
    /// RTT is meaningful.
    fn is_train_long(&mut self, ack: &Ack, window: &Window) -> bool {
        if ack.now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = ack.now;
        let threshold = ack.min_rtt + aggregation(ack, window);
        ack.now.since(self.round_start) > if self.is_paced { threshold } else { threshold / 2 }
    }

    /// Is the smallest RTT of this round an eighth longer than the smallest ever? Asked once there are enough samples.
    fn has_delay_grown(&mut self, rtt: Dur, min_rtt: Dur) -> bool {
        self.round_min_rtt = self.round_min_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_min_rtt > min_rtt + (min_rtt / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}

/// How long an aggregate takes at slow start's rate, twice cwnd per round trip.
fn aggregation(ack: &Ack, window: &Window) -> Dur {
    match ack.srtt {
        Dur::ZERO => Dur::ZERO,
        srtt => Rate::of(2 * window.cwnd, srtt).time_for(AGGREGATE_BYTES).min(AGGREGATE_MOST),
    }
}
