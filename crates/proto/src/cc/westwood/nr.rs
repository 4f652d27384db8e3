//! WestwoodNR: the authors' ns-2 code on NewReno, with its filters.

use super::filter::Filter;
use super::{Estimator, Interval, Westwood};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Cause, Composed, Congestion, Window};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood-nr",
    summary: "Westwood as its authors ran it in ns-2, on NewReno: the baseline of WestwoodVT",
    source: "M. Valla, tcp-westwood-nr.cc for ns-2, 2001",
    params: &PARAMS,
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build: |build, values| Box::new(Composed::new(build, westwood_nr(values))),
};

/// Parameters of the estimator and of the reaction to congestion, which [`super::vt`] has, too.
pub(super) const PARAMS: [Param; 8] = [
    Param {
        name: "filter_type",
        default: 1.0,
        min: 0.0,
        max: 9.0,
        doc: "The module's filter by its number: on every ACK 0 (a weighted mean), 1 and 2 (constant coefficients), 3 (time constant τ, \
              zeros during silence; as in the paper of 2001) and 8 (exponential in τ); once a round trip 4 to 7 and 9, which \
              are 3, 0, the same over two samples, 3 interpolated, and 8",
    },
    Param {
        name: "tau_s",
        default: 1.0,
        min: 0.01,
        max: 100.0,
        doc: "τ of the filter types 3, 4 and 7 to 9, in s",
    },
    Param {
        name: "filter_ratio",
        default: 10.0,
        min: 0.5,
        max: 1000.0,
        doc: "τ/Δ of filter type 1, of which the coefficients are (2r−1)/(2r+1) and 1/(2r+1): 10 gives 19/21 and 1/21 (the \
              code's 0.9047 and 0.0476), 15 is filter type 2",
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
pub(super) fn westwood_nr(values: &Values) -> Westwood<NrEstimator> {
    let number = values.get("filter_type").round() as u8;
    let estimator = NrEstimator {
        filter: Filter::new(number, values.get("filter_ratio"), values.get("tau_s")),
        acked_max: values.get("acked_max"),
        timeout_step: values.get("timeout_step"),
        timeout_max: values.get("timeout_max"),
        timeout_factor: 1.0,
        interval: Interval::default(),
        rtt: Dur::ZERO,
    };
    let tick = Dur::from_secs_f64(values.get("rtt_min_tick_s"));
    Westwood::new(estimator, Dur::from_secs_f64(values.get("rtt_min_initial_s")), tick)
}

#[derive(Clone, Debug)]
pub(super) struct NrEstimator {
    filter: Filter,
    /// Segments.
    acked_max: f64,
    timeout_step: f64,
    timeout_max: f64,
    timeout_factor: f64,
    interval: Interval,
    /// The latest RTT sample.
    rtt: Dur,
}

impl Estimator for NrEstimator {
    fn sample(&mut self, ack: &Ack, acked: u64, mss: u64) {
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        let most = self.acked_max * mss as f64;
        if self.filter.samples_round_trips() {
            // Without an RTT there is no round trip to take a sample of.
            let at_least = if self.rtt == Dur::ZERO { Dur::MAX } else { self.rtt };
            if let Some((bytes, length)) = self.interval.close(ack.now, acked.min(most as u64), at_least) {
                self.filter.take(bytes, length);
            }
        } else if let Some((bytes, length)) = self.interval.close(ack.now, acked, Dur::ZERO) {
            self.filter.take(bytes.min(most), length);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.filter.output()
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
