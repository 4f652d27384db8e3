//! WestwoodNR: the authors' ns-2 code on NewReno, with a filter of constant coefficients.

use super::{Estimator, Interval, LowPass, Westwood};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Cause, Composed, Congestion, Window};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood-nr",
    summary: "Westwood as its authors ran it in ns-2, on NewReno: the baseline of WestwoodVT",
    source: "M. Valla, tcp-westwood-nr.cc for ns-2, 2001, filter type 1",
    params: &PARAMS,
    ordered: &[],
    changes: &[],
    traits: &[],
    build: |build, values| Box::new(Composed::new(build, westwood_nr(values))),
};

/// Parameters of the estimator and of the reaction to congestion, which [`super::vt`] has, too.
pub(super) const PARAMS: [Param; 6] = [
    Param {
        name: "filter_ratio",
        default: 10.0,
        min: 0.5,
        max: 1000.0,
        doc: "τ/Δ of the filter, of which the coefficients are (2r−1)/(2r+1) and 1/(2r+1): 10 gives 19/21 and 1/21 (the \
              code's 0.9047 and 0.0476), 15 its filter type 2",
    },
    Param {
        name: "acked_max",
        default: 2.0,
        min: 1.0,
        max: 1000.0,
        doc: "Maximum segments that one ACK may count for",
    },
    Param {
        name: "rtt_min_initial_s",
        default: 5.0,
        min: 0.0,
        max: 100.0,
        doc: "RTTmin before the first measurement, in s",
    },
    Param {
        name: "rtt_min_tick_s",
        default: 0.0,
        min: 0.0,
        max: 1.0,
        doc: "RTTmin is known in whole ticks of a clock, in s: an RTT spans at least so many as fit into it (ns-2's sender, on \
              which the code relies: its tcpTick_, 0.01); 0: exactly",
    },
    Param {
        name: "timeout_step",
        default: 0.25,
        min: 0.0,
        max: 4.0,
        doc: "A timeout in slow start adds this to the factor by which its ssthresh is divided; one in congestion \
              avoidance sets the factor to 1",
    },
    Param { name: "timeout_max", default: 4.0, min: 1.0, max: 100.0, doc: "Bound on that factor" },
];

/// `values` holds those of [`PARAMS`].
pub(super) fn westwood_nr(values: &Values) -> Westwood<EveryAckAlike> {
    let estimator = EveryAckAlike {
        ratio: values.get("filter_ratio"),
        acked_max: values.get("acked_max"),
        timeout_step: values.get("timeout_step"),
        timeout_max: values.get("timeout_max"),
        timeout_factor: 1.0,
        interval: Interval::default(),
        filter: LowPass::default(),
    };
    let tick = Dur::from_secs_f64(values.get("rtt_min_tick_s"));
    Westwood::new(estimator, Dur::from_secs_f64(values.get("rtt_min_initial_s")), tick)
}

/// The estimator: every ACK's sample has the same weight, however long the interval before it was.
#[derive(Clone, Debug)]
pub(super) struct EveryAckAlike {
    ratio: f64,
    /// Segments.
    acked_max: f64,
    timeout_step: f64,
    timeout_max: f64,
    timeout_factor: f64,
    interval: Interval,
    filter: LowPass,
}

impl Estimator for EveryAckAlike {
    fn sample(&mut self, ack: &Ack, acked: u64, mss: u64) {
        if let Some((bytes, length)) = self.interval.close(ack.now, acked, Dur::ZERO) {
            let counted = bytes.min(self.acked_max * mss as f64);
            self.filter.filter(counted / length, self.ratio);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.filter.output
    }

    /// Whole segments, as in the authors' code; fewer after a timeout.
    fn ssthresh(&mut self, pipe: f64, event: &Congestion, window: &Window) -> f64 {
        let mss = window.mss() as f64;
        if event.cause != Cause::Timeout {
            return (pipe / mss).floor() * mss;
        }
        self.timeout_factor = if window.in_slow_start() {
            (self.timeout_factor + self.timeout_step).min(self.timeout_max)
        } else {
            1.0
        };
        (pipe / mss / self.timeout_factor).floor() * mss
    }
}
