//! The original TCP Westwood: one sample per ACK, through a low-pass filter of constant cut-off frequency.

use super::{Estimator, Interval, LowPass, Westwood};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Build, Composed, CongestionControl};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood",
    summary: "Sets the window after a loss to the bandwidth measured by every ACK; the original filter",
    source: "Mascolo, Casetti, Gerla, Sanadidi, Wang, MobiCom 2001, §2",
    params: &[
        Param {
            name: "tau_s",
            default: 1.0,
            min: 0.01,
            max: 100.0,
            doc: "Time constant τ of the filter in s (the authors' ns-2 code: 1)",
        },
        Param {
            name: "virtual_samples",
            default: 2.0,
            min: 2.0,
            max: 10.0,
            doc: "m: without an ACK for τ/m, a sample of zero is taken (§2.2: m ≥ 2; the authors' ns-2 code: 2)",
        },
    ],
    ordered: &[],
    changes: &[],
    traits: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let tau = values.get("tau_s");
    let estimator = EveryAck {
        tau,
        silence: tau / values.get("virtual_samples"),
        interval: Interval::default(),
        filter: LowPass::default(),
    };
    Box::new(Composed::new(build, Westwood::new(estimator, Dur::MAX, Dur::ZERO)))
}

/// If the rest of a silence is shorter than this, the last virtual sample is left out and its time goes to the ACK: the sample of an
/// ACK just after a virtual one would be huge (the authors' ns-2 code).
const SHORTEST_REST_S: f64 = 0.01;

/// More virtual samples in a row than this do not change the estimate, which is then zero.
const MAX_VIRTUAL_SAMPLES: u32 = 512;

/// Times in seconds.
#[derive(Clone, Debug)]
struct EveryAck {
    tau: f64,
    /// τ/m.
    silence: f64,
    interval: Interval,
    filter: LowPass,
}

impl EveryAck {
    /// Takes a virtual sample of zero for each whole period of `length`. Returns the rest.
    fn filter_silence(&mut self, length: f64) -> f64 {
        let mut periods = (length / self.silence) as u32;
        let mut rest = length - f64::from(periods) * self.silence;
        if periods > 0 && rest < SHORTEST_REST_S.min(self.silence) {
            periods -= 1;
            rest = self.silence;
        }
        for _ in 0..periods.min(MAX_VIRTUAL_SAMPLES) {
            self.filter.filter(0.0, self.tau / self.silence);
        }
        rest
    }
}

impl Estimator for EveryAck {
    fn sample(&mut self, ack: &Ack, acked: u64, _mss: u64) {
        if let Some((bytes, length)) = self.interval.close(ack.now, acked, Dur::ZERO) {
            let rest = self.filter_silence(length);
            self.filter.filter(bytes / rest, self.tau / rest);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.filter.output
    }
}
