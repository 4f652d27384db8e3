//! What both versions set: the pacing rate, and the window around loss episodes and low-rate probes.

use super::model::Rounds;
use crate::cc::{Ack, Build, Congestion};
use airtcp_wire::{Dur, Rate, Time};

/// Least window, so that a receiver that acknowledges every other segment never stalls the sender (draft §2.8).
pub const MIN_WINDOW_SEGMENTS: u64 = 4;

/// How long a probe for the minimum RTT keeps little in flight (draft §2.16.2).
pub const PROBE_RTT_DURATION: Dur = Dur::from_millis(200);

/// How long a minimum RTT remains valid (draft §2.16.1).
pub const MIN_RTT_WINDOW: Dur = Dur::from_secs(10);

/// The pacing rate (draft §5.6.2).
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    rate: Rate,
    initial_window: u64,
    startup_gain: f64,
    has_rtt: bool,
    /// What it was set by last: most ACKs change nothing.
    set_by: Option<(Rate, f64, bool)>,
}

impl Pacing {
    /// Paces this much below the estimate, so that queues drain.
    const MARGIN: f64 = 0.99;
    /// Assumed before the first RTT sample.
    const NOMINAL_RTT: Dur = Dur::from_millis(1);

    pub fn new(build: &Build, startup_gain: f64) -> Pacing {
        let initial_window = build.initial_window;
        let rate = Rate::of(initial_window, Self::NOMINAL_RTT).mul_f64(startup_gain);
        Pacing { rate, initial_window, startup_gain, has_rtt: false, set_by: None }
    }

    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    #[inline]
    pub fn observe_rtt(&mut self, srtt: Dur) {
        if !self.has_rtt && srtt > Dur::ZERO {
            self.has_rtt = true;
            self.set_by = None;
            self.rate = Rate::of(self.initial_window, srtt).mul_f64(self.startup_gain);
        }
    }

    /// Until the pipe has been full once, the rate only rises.
    #[inline]
    pub fn set(&mut self, bw: Rate, gain: f64, is_pipe_full: bool) {
        let set_by = Some((bw, gain, is_pipe_full));
        if self.set_by == set_by {
            return;
        }
        self.set_by = set_by;
        let rate = bw.mul_f64(gain * Self::MARGIN);
        if is_pipe_full && rate > Rate(0) || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Bytes that a host would hand over at once at this rate: 1 ms worth within `least` and 64 KiB (draft §5.6.3).
    #[inline]
    pub fn quantum(&self, least: u64) -> u64 {
        (self.rate.0 / 8000).min(65_536).max(least)
    }
}

/// A loss episode, and the window to go back to when it is over (draft §5.6.4.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Episode {
    /// Stream position that must be acknowledged.
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

    /// Is this the ACK that ends it?
    #[inline]
    pub fn ends_with(&mut self, ack: &Ack) -> bool {
        self.end.is_some_and(|end| ack.una >= end) && self.finish()
    }

    /// Returns whether there was an episode to finish.
    pub fn finish(&mut self) -> bool {
        self.end.take().is_some()
    }

    /// Remembers `cwnd`; while it is held down by an episode or a probe, only if it is the larger.
    pub fn save(&mut self, cwnd: u64, is_probing_rtt: bool) {
        let is_held_down = self.is_active() || is_probing_rtt;
        self.good_cwnd = if is_held_down { self.good_cwnd.max(cwnd) } else { cwnd };
    }

    pub fn good_cwnd(&self) -> u64 {
        self.good_cwnd
    }
}

/// Little is kept in flight, for [`PROBE_RTT_DURATION`] and a round trip, so that queues run empty (draft §5.3.4.3).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LowFlight {
    /// Set when what is in flight has come down.
    until: Option<Time>,
    has_round_passed: bool,
}

impl LowFlight {
    /// Returns whether it has lasted long enough.
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
