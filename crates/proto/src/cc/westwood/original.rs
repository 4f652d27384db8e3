//! The original TCP Westwood: one sample per ACK, through a low-pass filter of constant cut-off frequency.

use super::{Estimator, Interval, TimedLowPass, Westwood};
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
    exemptions: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let filter = TimedLowPass::new(values.get("tau_s"), values.get("virtual_samples"));
    let estimator = EveryAck { interval: Interval::default(), filter };
    Box::new(Composed::new(build, Westwood::new(estimator, Dur::MAX, Dur::ZERO)))
}

#[derive(Clone, Debug)]
struct EveryAck {
    interval: Interval,
    filter: TimedLowPass,
}

impl Estimator for EveryAck {
    fn sample(&mut self, ack: &Ack, acked: u64, _mss: u64) {
        if let Some((bytes, length)) = self.interval.close(ack.now, acked, Dur::ZERO) {
            self.filter.take(bytes, length);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.filter.filter.output
    }
}
