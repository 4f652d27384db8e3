//! Vegas: keeps a few segments in the bottleneck's queue, whose length it infers from how much the RTT exceeds its minimum.

use super::registry::{ControllerSpec, Exemption, Param, Values};
use super::round::Round;
use super::{Ack, Avoidance, Composed, Congestion, Window};
use airtcp_wire::{Dur, Time};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "vegas",
    summary: "Watches the RTT to keep two to four segments queued; halves on loss",
    source: "Brakmo, O'Malley, Peterson, SIGCOMM 1994; rules and defaults of Linux's tcp_vegas",
    params: &[
        Param {
            name: "alpha",
            default: 2.0,
            min: 0.0,
            max: 1000.0,
            doc: "Segments queued below which the window grows (Linux 2; ns-2 1)",
        },
        Param {
            name: "beta",
            default: 4.0,
            min: 0.0,
            max: 1000.0,
            doc: "Segments queued above which the window shrinks (Linux 4; ns-2 3); not less than alpha",
        },
        Param {
            name: "gamma",
            default: 1.0,
            min: 0.0,
            max: 1000.0,
            doc: "Segments queued above which slow start ends (Linux 1; ns-2 1)",
        },
        Param {
            name: "slow_start_rounds",
            default: 1.0,
            min: 1.0,
            max: 2.0,
            doc: "Round trips per doubling of the window in slow start (Linux 1; the paper and ns-2 2)",
        },
    ],
    ordered: &[("alpha", "beta")],
    changes: &[],
    exemptions: &[Exemption::DelayBased],
    build: |build, values| Box::new(Composed::new(build, Vegas::new(values))),
};

/// A round with fewer RTT samples than this is Reno's: all of them may be of delayed ACKs.
const MIN_SAMPLES: u32 = 3;

#[derive(Clone, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    skips_rounds: bool,
    round: Round,
    min_rtt: Dur,
    samples: u32,
    is_round_skipped: bool,
    is_reno: bool,
}

impl Vegas {
    fn new(values: &Values) -> Vegas {
        Vegas {
            alpha: values.get("alpha"),
            beta: values.get("beta"),
            gamma: values.get("gamma"),
            skips_rounds: values.get("slow_start_rounds") >= 1.5,
            round: Round::default(),
            min_rtt: Dur::MAX,
            samples: 0,
            is_round_skipped: false,
            is_reno: true,
        }
    }

    fn forget_round(&mut self) {
        self.min_rtt = Dur::MAX;
        self.samples = 0;
    }

    fn end_round(&mut self, ack: &Ack, window: &mut Window) {
        self.is_reno = self.samples < MIN_SAMPLES;
        self.is_round_skipped = self.skips_rounds && !self.is_round_skipped;
        if !self.is_reno {
            self.judge(ack, window);
        }
        self.forget_round();
    }

    /// The paper's §3.2: Diff = (expected − actual) rate · base RTT, here in whole segments, as Linux has it.
    fn judge(&self, ack: &Ack, window: &mut Window) {
        let (base, rtt) = (ack.min_rtt.as_secs_f64(), self.min_rtt.as_secs_f64());
        if base <= 0.0 {
            return;
        }
        let queued = (window.segments() * (rtt - base) / base).floor();
        if window.in_slow_start() {
            if queued > self.gamma {
                let actual = window.cwnd as f64 * base / rtt;
                window.cwnd = window.cwnd.min(actual as u64 + window.mss());
                leave_slow_start(window);
            }
        } else if queued > self.beta {
            window.cwnd -= window.mss();
            leave_slow_start(window);
        } else if queued < self.alpha && ack.is_cwnd_limited {
            window.cwnd += window.mss();
        }
    }
}

/// Keeps cwnd at two segments or more, and ssthresh at cwnd or below.
fn leave_slow_start(window: &mut Window) {
    window.cwnd = window.cwnd.max(2 * window.mss());
    window.ssthresh = window.ssthresh.min(window.cwnd);
}

impl Avoidance for Vegas {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if ack.in_recovery {
            // RTTs measured while segments are missing say nothing about a full window.
            self.restart(ack.now, window);
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.samples += 1;
        }
        if !ack.is_duplicate && self.round.begins(ack) {
            self.end_round(ack, window);
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        if self.is_reno {
            window.grow_additively(acked, 1.0);
        }
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        Some(window.ssthresh_for(0.5 * event.flight_size as f64))
    }

    fn slow_start_gain(&self) -> f64 {
        if self.is_round_skipped { 0.0 } else { 1.0 }
    }

    fn restart(&mut self, _now: Time, _window: &mut Window) {
        self.round = Round::default();
        self.forget_round();
    }
}
