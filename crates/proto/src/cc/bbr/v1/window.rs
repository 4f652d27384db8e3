//! The window: a multiple of the estimated bandwidth-delay product, and what replaces it during recovery
//! (draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3).

use super::{Bbr1, Phase, STARTUP_GAIN};
use crate::cc::Ack;
use crate::cc::bbr::control::MIN_WINDOW_SEGMENTS;
use airtcp_wire::{Dur, Rate};

/// The window allows for ACKs that are held back and bunched, up to the data of this time.
const MAX_AGGREGATION: Dur = Dur::from_millis(100);

/// Below this rate, a host sends segments one by one.
const SINGLE_SEGMENT_RATE: Rate = Rate(1_200_000);

/// A maximum over the last five to ten rounds, as Linux keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TenRounds {
    latest: u64,
    before: u64,
    rounds: u32,
}

impl TenRounds {
    pub fn update(&mut self, is_round_start: bool, value: u64) {
        self.rounds += u32::from(is_round_start);
        if self.rounds == 5 {
            *self = TenRounds { latest: 0, before: self.latest, rounds: 0 };
        }
        self.latest = self.latest.max(value);
    }

    fn get(&self) -> u64 {
        self.latest.max(self.before)
    }
}

/// What cwnd approaches, and what that was computed from: most ACKs change nothing of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    of: Option<TargetOf>,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct TargetOf {
    bw: Rate,
    min_rtt: Dur,
    extra_acked: u64,
    pacing_rate: Rate,
    gain: f64,
    is_probing: bool,
    is_pipe_full: bool,
}

impl Bbr1 {
    pub(super) fn update_window(&mut self, ack: &Ack) {
        if ack.delivered > 0 {
            self.cwnd = self.cwnd.saturating_sub(self.newly_lost).max(self.mss);
            if self.episode.ends_with(ack) {
                self.restore_window();
            }
            if self.is_conserving {
                // Packet conservation: one leaves, one enters.
                self.cwnd = self.cwnd.max(ack.in_flight + ack.delivered);
            } else {
                self.approach_target(ack);
            }
        }
        if matches!(self.phase, Phase::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
    }

    fn approach_target(&mut self, ack: &Ack) {
        let target = self.target();
        if self.full_pipe.is_full {
            self.cwnd = (self.cwnd + ack.delivered).min(target);
        } else if self.cwnd < target || ack.rate.total_delivered < self.initial_window {
            self.cwnd += ack.delivered;
        }
        self.cwnd = self.cwnd.max(MIN_WINDOW_SEGMENTS * self.mss);
    }

    fn target(&mut self) -> u64 {
        let of = TargetOf {
            bw: self.bw(),
            min_rtt: self.min_rtt.value(),
            extra_acked: self.extra_acked.get(),
            pacing_rate: self.pacing.rate(),
            gain: self.cwnd_gain(),
            is_probing: self.is_probing(),
            is_pipe_full: self.full_pipe.is_full,
        };
        if self.target.of != Some(of) {
            let bytes = self.quantized(self.bdp(of.bw, of.gain) + self.aggregation_allowance());
            self.target = Target { of: Some(of), bytes };
        }
        self.target.bytes
    }

    fn cwnd_gain(&self) -> f64 {
        match self.phase {
            Phase::Startup | Phase::Drain => STARTUP_GAIN,
            // Leaves room for delayed and bunched ACKs.
            Phase::ProbeBw(_) => 2.0,
            Phase::ProbeRtt(_) => 1.0,
        }
    }

    /// Bytes in flight at `gain` times the bandwidth-delay product at the highest recent delivery rate.
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        self.quantized(self.bdp(self.max_bw(), gain))
    }

    fn bdp(&self, bw: Rate, gain: f64) -> u64 {
        match self.min_rtt.value() {
            Dur::MAX => self.initial_window,
            // Signed numbers are converted in one instruction.
            min_rtt => (bw.bytes_in(min_rtt) as i64 as f64 * gain) as i64 as u64,
        }
    }

    pub(super) fn quantum(&self) -> u64 {
        let least = if self.pacing.rate() < SINGLE_SEGMENT_RATE { 1 } else { 2 };
        self.pacing.quantum(least * self.mss)
    }

    /// Adds three quanta (one leaving, one on the wire, one waiting for its ACK) and rounds up to pairs of segments, for receivers that
    /// acknowledge every other one. While probing, adds another pair, which matters for small windows.
    fn quantized(&self, bytes: u64) -> u64 {
        let pair = 2 * self.mss;
        let pairs = (bytes + 3 * self.quantum()).div_ceil(pair);
        (pairs + u64::from(self.is_probing())) * pair
    }

    #[inline]
    fn is_probing(&self) -> bool {
        matches!(self.phase, Phase::ProbeBw(cycle) if cycle.is_probing())
    }

    fn aggregation_allowance(&self) -> u64 {
        if !self.full_pipe.is_full {
            return 0;
        }
        self.extra_acked.get().min(self.bw().bytes_in(MAX_AGGREGATION))
    }
}
