//! Westwood+: one sample per round trip, so that compressed ACKs do not inflate the estimate.

use super::{AckedCount, Interval};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::reno::Reno;
use crate::cc::{Ack, Avoidance, Build, Cause, Composed, Congestion, CongestionControl, Window, WindowRules};
use airtcp_wire::{Dur, Time};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood-plus",
    summary: "Westwood with one bandwidth sample per round trip, as in Linux",
    source: "Grieco, Mascolo, ACM CCR 34(2), 2004; defaults of Linux's tcp_westwood",
    params: &[
        Param {
            name: "filter_gain",
            default: 0.875,
            min: 0.0,
            max: 0.999,
            doc: "Weight of the old estimate at each sample (Linux 7/8; the paper 0.9)",
        },
        Param {
            name: "filter_stages",
            default: 2.0,
            min: 1.0,
            max: 2.0,
            doc: "Number of filter stages in series (Linux 2; the paper 1)",
        },
        Param {
            name: "interval_min_ms",
            default: 50.0,
            min: 0.0,
            max: 10_000.0,
            doc: "Minimum span of a sample, in ms; otherwise one RTT (Linux 50; the paper 0)",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let estimate = Estimate {
        gain: values.get("filter_gain"),
        has_two_stages: values.get("filter_stages") >= 1.5,
        first_stage: 0.0,
        bandwidth: 0.0,
    };
    let interval_min = Dur::from_secs_f64(values.get("interval_min_ms") / 1e3);
    Box::new(Composed::new(build, WestwoodPlus::new(interval_min, estimate)))
}

/// By Linux's rules, the window is Reno's while a loss is repaired, and then B·RTTmin, although that may be larger than the window in
/// which the loss happened. By other rules it is B·RTTmin at once.
#[derive(Clone, Debug)]
struct WestwoodPlus {
    interval_min: Dur,
    estimate: Estimate,
    count: AckedCount,
    interval: Interval,
    /// The latest RTT sample.
    rtt: Dur,
    min_rtt: Dur,
    /// After a timeout the path may have changed, and the next RTT sample replaces RTTmin.
    is_min_rtt_old: bool,
    is_repairing: bool,
}

impl WestwoodPlus {
    fn new(interval_min: Dur, estimate: Estimate) -> WestwoodPlus {
        WestwoodPlus {
            interval_min,
            estimate,
            count: AckedCount::default(),
            interval: Interval::default(),
            rtt: Dur::ZERO,
            min_rtt: Dur::ZERO,
            is_min_rtt_old: true,
            is_repairing: false,
        }
    }

    /// ssthresh for B·RTTmin.
    fn pipe(&self, window: &Window) -> u64 {
        window.ssthresh_for(self.estimate.bandwidth * self.min_rtt.as_secs_f64())
    }
}

impl Avoidance for WestwoodPlus {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            let is_old = std::mem::take(&mut self.is_min_rtt_old);
            self.min_rtt = if is_old { rtt } else { self.min_rtt.min(rtt) };
        }
        let acked = self.count.count(ack, window.mss());
        if let Some((bytes, length)) = self.interval.close(ack.now, acked, self.rtt.max(self.interval_min)) {
            self.estimate.add(bytes / length);
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        self.is_repairing = event.cause == Cause::Loss && window.rules == WindowRules::Linux;
        if self.is_repairing { Reno.reduce(event, window) } else { Some(self.pipe(window)) }
    }

    fn timed_out(&mut self) {
        self.is_repairing = false;
        self.is_min_rtt_old = true;
    }

    fn recovered(&mut self, _now: Time, window: &mut Window) {
        if std::mem::take(&mut self.is_repairing) {
            window.ssthresh = self.pipe(window);
            window.cwnd = window.ssthresh;
        }
    }
}

/// Bandwidths in bytes per second.
#[derive(Clone, Debug)]
struct Estimate {
    gain: f64,
    has_two_stages: bool,
    first_stage: f64,
    bandwidth: f64,
}

impl Estimate {
    fn add(&mut self, sample: f64) {
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
