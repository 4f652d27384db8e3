//! Westwood+: one sample a round trip, so that compressed ACKs do not inflate it.

use super::{Estimator, Interval, Westwood};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Build, Composed, CongestionControl};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood-plus",
    summary: "Westwood with one bandwidth sample a round trip, as in Linux",
    source: "Grieco, Mascolo, ACM CCR 34(2), 2004; defaults of Linux's tcp_westwood",
    params: &[
        Param {
            name: "filter_gain",
            default: 0.875,
            min: 0.0,
            max: 0.999,
            doc: "What a sample leaves of the estimate (Linux 7/8; the paper 0.9)",
        },
        Param {
            name: "filter_stages",
            default: 2.0,
            min: 1.0,
            max: 2.0,
            doc: "How often the filter is applied, one after another (Linux 2; the paper 1)",
        },
        Param {
            name: "interval_min_ms",
            default: 50.0,
            min: 0.0,
            max: 10_000.0,
            doc: "A sample spans one RTT, but at least this, in ms (Linux 50; the paper 0)",
        },
    ],
    ordered: &[],
    changes: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let estimator = EveryRoundTrip {
        gain: values.get("filter_gain"),
        has_two_stages: values.get("filter_stages") >= 1.5,
        interval_min: Dur::from_secs_f64(values.get("interval_min_ms") / 1e3),
        interval: Interval::default(),
        first_stage: 0.0,
        bandwidth: 0.0,
    };
    Box::new(Composed::new(build, Westwood::new(estimator, Dur::MAX)))
}

/// Bandwidths in bytes per second.
#[derive(Clone, Debug)]
struct EveryRoundTrip {
    gain: f64,
    has_two_stages: bool,
    interval_min: Dur,
    interval: Interval,
    first_stage: f64,
    bandwidth: f64,
}

impl EveryRoundTrip {
    fn filter(&mut self, sample: f64) {
        if self.bandwidth == 0.0 {
            (self.first_stage, self.bandwidth) = (sample, sample);
            return;
        }
        self.first_stage = self.gain * self.first_stage + (1.0 - self.gain) * sample;
        self.bandwidth = if self.has_two_stages {
            self.gain * self.bandwidth + (1.0 - self.gain) * self.first_stage
        } else {
            self.first_stage
        };
    }
}

impl Estimator for EveryRoundTrip {
    fn sample(&mut self, ack: &Ack, acked: u64, _mss: u64) {
        let at_least = ack.srtt.max(self.interval_min);
        if let Some((bytes, length)) = self.interval.close(ack.now, acked, at_least) {
            self.filter(bytes / length);
        }
    }

    fn bandwidth(&self) -> f64 {
        self.bandwidth
    }
}
