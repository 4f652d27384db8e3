//! What both versions control: the pacing rate, and the window around loss episodes and probes for the minimum RTT.

use super::model::Rounds;
use crate::cc::{Ack, Build, Congestion};
use airtcp_wire::{Dur, Rate, Time};

/// The least window: a receiver that acknowledges every other segment must not stall the sender (draft §2.8).
pub const MIN_WINDOW_SEGMENTS: u64 = 4;

/// How long a probe for the minimum RTT keeps little in flight (draft §2.16.2).
const PROBE_RTT_DURATION: Dur = Dur::from_millis(200);

/// The pacing rate (draft §5.6.2).
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    rate: Rate,
    initial_window: u64,
    startup_gain: f64,
    has_rtt: bool,
}

impl Pacing {
    /// Share of the estimate at which to pace, so that queues drain.
    const MARGIN: f64 = 0.99;
    /// The RTT assumed before the first sample.
    const NOMINAL_RTT: Dur = Dur::from_millis(1);

    pub fn new(build: &Build, startup_gain: f64) -> Pacing {
        let initial_window = build.initial_window;
        let rate = Rate::of(initial_window, Self::NOMINAL_RTT).mul_f64(startup_gain);
        Pacing { rate, initial_window, startup_gain, has_rtt: false }
    }

    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    #[inline]
    pub fn observe_rtt(&mut self, srtt: Dur) {
        if !self.has_rtt && srtt > Dur::ZERO {
            self.has_rtt = true;
            self.rate = Rate::of(self.initial_window, srtt).mul_f64(self.startup_gain);
        }
    }

    /// Sets the rate for an estimated bandwidth. Until the pipe has been full once, the rate only rises.
    #[inline]
    pub fn set(&mut self, bw: Rate, gain: f64, is_pipe_full: bool) {
        let rate = bw.mul_f64(gain * Self::MARGIN);
        if is_pipe_full && rate > Rate(0) || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Bytes that a host would send at once at this rate: 1 ms worth, between `least` and 64 KiB (draft §5.6.3).
    #[inline]
    pub fn quantum(&self, least: u64) -> u64 {
        (self.rate.0 / 8000).min(65_536).max(least)
    }
}

/// A loss episode, and the window to return to after it (draft §5.6.4.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// The stream offset whose acknowledgment ends the episode.
    end: Option<u64>,
    good_cwnd: u64,
}

impl Episode {
    #[inline]
    pub fn is_active(&self) -> bool {
        self.end.is_some()
    }

    pub fn begin(&mut self, event: &Congestion) {
        self.end = Some(event.nxt.max(event.una + event.flight_size));
    }

    /// Ends the episode if this ACK does so. Returns whether it did.
    #[inline]
    pub fn ends_with(&mut self, ack: &Ack) -> bool {
        self.end.is_some_and(|end| ack.una >= end) && self.finish()
    }

    /// Returns whether there was an episode to finish.
    pub fn finish(&mut self) -> bool {
        self.end.take().is_some()
    }

    /// Remembers `cwnd`. While an episode or a probe holds the window down, only a larger one is remembered.
    pub fn save(&mut self, cwnd: u64, is_probing_rtt: bool) {
        let is_held_down = self.is_active() || is_probing_rtt;
        self.good_cwnd = if is_held_down { self.good_cwnd.max(cwnd) } else { cwnd };
    }

    pub fn good_cwnd(&self) -> u64 {
        self.good_cwnd
    }
}

/// A probe for the minimum RTT: little is kept in flight, for 200 ms and a round trip, so that queues run empty (draft §5.3.4.3).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LowFlight {
    /// Set once little enough is in flight.
    until: Option<Time>,
    has_round_passed: bool,
}

impl LowFlight {
    /// Takes an ACK. Returns whether the probe has lasted long enough.
    pub fn advance(&mut self, ack: &Ack, target: u64, rounds: &mut Rounds) -> bool {
        match self.until {
            None if ack.in_flight <= target => {
                self.until = Some(ack.now + PROBE_RTT_DURATION);
                rounds.restart(ack.rate.total_delivered);
                false
            }
            None => false,
            Some(_) => {
                self.has_round_passed |= rounds.is_start;
                self.has_round_passed && self.is_past(ack.now)
            }
        }
    }

    pub fn is_past(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}
