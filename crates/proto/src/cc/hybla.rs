//! Hybla: on a long path, the window grows over time as it would on a short reference path.

use super::registry::{ControllerSpec, Exemption, Param, Values};
use super::{Ack, Avoidance, Build, Composed, Congestion, CongestionControl, Window};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "hybla",
    summary: "Reno whose growth does not depend on the RTT; designed for satellites",
    source: "Caini, Firrincieli, Int. J. Satellite Communications 22(5), 2004; ρ as in Linux's tcp_hybla",
    params: &[
        Param {
            name: "rtt0_ms",
            default: 25.0,
            min: 1.0,
            max: 10_000.0,
            doc: "RTT of the reference path in ms, whose growth it imitates: RTT₀ (the paper and Linux 25)",
        },
        Param {
            name: "rho_max",
            default: 16.0,
            min: 1.0,
            max: 32.0,
            doc: "Bound on ρ = RTT/RTT₀ in slow start, where one ACK brings 2^ρ − 1 segments (newer Linux 16)",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[Exemption::Gain(gain)],
    build,
};

/// An ACK brings 2^ρ − 1 segments in slow start and ρ² later. This bounds both for all permitted parameters.
fn gain(srtt: Dur) -> f64 {
    if srtt > Dur::from_millis(1) { 1e10 } else { 1.0 }
}

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    Box::new(Composed::new(
        build,
        Hybla {
            rtt0: values.get("rtt0_ms") / 1e3,
            rho_max: values.get("rho_max"),
            min_srtt: Dur::MAX,
            slow_start_gain: 1.0,
            avoidance_gain: 1.0,
        },
    ))
}

#[derive(Clone, Debug)]
pub struct Hybla {
    /// Seconds.
    rtt0: f64,
    rho_max: f64,
    /// The smallest SRTT seen, so that queueing does not count as a longer path.
    min_srtt: Dur,
    /// 2^ρ − 1.
    slow_start_gain: f64,
    /// ρ².
    avoidance_gain: f64,
}

impl Avoidance for Hybla {
    fn observe(&mut self, ack: &Ack, _window: &mut Window) {
        if ack.srtt > Dur::ZERO && ack.srtt < self.min_srtt {
            self.min_srtt = ack.srtt;
            // On a path shorter than the reference, growth is Reno's.
            let rho = (ack.srtt.as_secs_f64() / self.rtt0).max(1.0);
            self.slow_start_gain = libm::exp2(rho.min(self.rho_max)) - 1.0;
            self.avoidance_gain = rho * rho;
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, self.avoidance_gain);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        Some(window.ssthresh_for(0.5 * event.flight_size as f64))
    }

    fn slow_start_gain(&self) -> f64 {
        self.slow_start_gain
    }
}
