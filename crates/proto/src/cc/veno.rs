//! Veno: distinguishes random losses from congestion by Vegas's measure of the queue.

use super::registry::{ControllerSpec, Param, Values};
use super::{Ack, Avoidance, Build, Cause, Composed, Congestion, CongestionControl, Window};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "veno",
    summary: "Reno that gives up a fifth of the window instead of half when the queue was short at the loss",
    source: "Fu, Liew, IEEE JSAC 21(2), 2003",
    params: &[
        Param {
            name: "beta",
            default: 3.0,
            min: 0.0,
            max: 1000.0,
            doc: "Segments queued from which the path counts as congested (the paper's β)",
        },
        Param {
            name: "random_loss_factor",
            default: 0.8,
            min: 0.5,
            max: 1.0,
            doc: "Share of the window kept after a loss when the path is not congested (the paper's 4/5)",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    Box::new(Composed::new(
        build,
        Veno {
            beta: values.get("beta"),
            random_loss_factor: values.get("random_loss_factor"),
            base_rtt: Dur::MAX,
            srtt: Dur::ZERO,
        },
    ))
}

#[derive(Clone, Debug)]
pub struct Veno {
    beta: f64,
    random_loss_factor: f64,
    /// The smallest RTT since the last loss: begins anew there, since the path may have changed.
    base_rtt: Dur,
    srtt: Dur,
}

impl Veno {
    /// Is N = (cwnd/BaseRTT − cwnd/RTT)·BaseRTT at least β? RTT is the smoothed one.
    fn is_congested(&self, window: &Window) -> bool {
        let (base, rtt) = (self.base_rtt.as_secs_f64(), self.srtt.as_secs_f64());
        rtt > base && window.segments() * (rtt - base) / rtt >= self.beta
    }
}

impl Avoidance for Veno {
    fn observe(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.srtt = ack.srtt;
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        // On a congested path the window grows half as fast, by one segment every other round trip.
        window.grow_additively(acked, if self.is_congested(window) { 0.5 } else { 1.0 });
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let is_random = event.cause == Cause::Loss && !self.is_congested(window);
        if event.cause != Cause::Ecn {
            self.base_rtt = Dur::MAX;
        }
        let factor = if is_random { self.random_loss_factor } else { 0.5 };
        Some(window.ssthresh_for(factor * event.flight_size as f64))
    }
}
