//! HyStart (Ha, Rhee, Computer Networks 55(9), 2011), with the constants of Linux's CUBIC: slow start ends when a train of
//! closely spaced ACKs is half an RTT long, or when the RTT has grown.

use crate::cc::round::Round;
use crate::cc::{Ack, Window};
use airtcp_wire::{Dur, Time};

/// Below this window, in segments, slow start goes on in any case.
const LOW_WINDOW: f64 = 16.0;
/// ACKs at most this far apart are one train.
const ACK_DELTA: Dur = Dur::from_millis(2);
/// RTT samples at the beginning of a round that are looked at.
const MIN_SAMPLES: u32 = 8;
const DELAY_MIN: Dur = Dur::from_millis(4);
const DELAY_MAX: Dur = Dur::from_millis(16);

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
        if self.round.begins(ack) {
            (self.round_start, self.last_ack) = (ack.now, ack.now);
            (self.round_min_rtt, self.samples) = (Dur::MAX, 0);
        }
        let Some(rtt) = ack.rtt else { return false };
        if self.samples < MIN_SAMPLES {
            self.round_min_rtt = self.round_min_rtt.min(rtt);
            self.samples += 1;
        }
        let is_train_long = self.is_train_long(ack);
        window.segments() >= LOW_WINDOW && (is_train_long || self.has_delay_grown(ack.min_rtt))
    }

    /// A train as long as half an RTT took as many bottleneck times as the path holds one way. A paced sender spreads its
    /// segments itself, so that only a whole RTT says anything (Linux).
    fn is_train_long(&mut self, ack: &Ack) -> bool {
        if ack.now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = ack.now;
        let threshold = if self.is_paced { ack.min_rtt } else { ack.min_rtt / 2 };
        ack.now.since(self.round_start) > threshold
    }

    fn has_delay_grown(&self, min_rtt: Dur) -> bool {
        self.samples >= MIN_SAMPLES
            && self.round_min_rtt > min_rtt + (min_rtt / 8).clamp(DELAY_MIN, DELAY_MAX)
    }
}
