//! WestwoodVT: WestwoodNR that takes a loss for corruption while few segments are queued, by Vegas's measure of the queue.

use super::Westwood;
use super::nr::{self, NrEstimator};
use crate::cc::registry::{ControllerSpec, Param};
use crate::cc::{Ack, Avoidance, Cause, Composed, Congestion, Window};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "westwood-vt",
    summary: "WestwoodNR that takes a loss for corruption, and keeps its window, while few segments are queued",
    source: "Koo, Mun, Choo, ICCS 2007, §2",
    params: &[
        Param {
            name: "alpha",
            default: 14.0,
            min: 0.0,
            max: 100_000.0,
            doc: "Segments queued below which a loss is corruption (§3: 14, from queues of 20). It changes no window: from alpha to \
                  beta, §2 keeps it, too, and leaves the verdict to the next three duplicate ACKs, which are judged anyway. In \
                  the kernel, the losses between are counted as undecided",
        },
        Param {
            name: "beta",
            default: 16.0,
            min: 0.0,
            max: 100_000.0,
            doc: "Segments queued above which a loss is congestion (§3: 16); not less than alpha",
        },
        nr::PARAMS[0],
        nr::PARAMS[1],
        nr::PARAMS[2],
        nr::PARAMS[3],
        nr::PARAMS[4],
        nr::PARAMS[5],
        nr::PARAMS[6],
        nr::PARAMS[7],
    ],
    ordered: &[("alpha", "beta")],
    changes: &[],
    exemptions: &[],
    build: |build, values| {
        let (nr, beta) = (nr::westwood_nr(values), values.get("beta"));
        Box::new(Composed::new(build, WestwoodVt { nr, beta, rtt: None }))
    },
};

#[derive(Clone, Debug)]
struct WestwoodVt {
    nr: Westwood<NrEstimator>,
    /// β in segments. Between α and β, §2 leaves the verdict to the next three duplicate ACKs and keeps the window meanwhile, as it
    /// does below α. So α decides nothing.
    beta: f64,
    /// The latest RTT sample.
    rtt: Option<Dur>,
}

impl WestwoodVt {
    fn is_congestion(&self, event: &Congestion, mss: u64) -> bool {
        let Some(rtt) = self.rtt else { return true };
        queued_bytes(event.flight_size, event.min_rtt, rtt) / mss as f64 > self.beta
    }
}

/// Eq. (2): Δ = (WindowSize/BaseRTT − WindowSize/RTT)·BaseRTT. WindowSize is "equal to the number of bytes in transit", which is less
/// than cwnd where the receiver's window limits the sender.
fn queued_bytes(window_size: u64, base_rtt: Dur, rtt: Dur) -> f64 {
    let (base_rtt, rtt) = (base_rtt.as_secs_f64(), rtt.as_secs_f64());
    window_size as f64 * (1.0 - base_rtt / rtt)
}

impl Avoidance for WestwoodVt {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        self.rtt = ack.rtt.or(self.rtt);
        self.nr.observe(ack, window);
    }

    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window) {
        self.nr.increase(ack, acked, window);
    }

    /// §2 distinguishes the causes of three duplicate ACKs in congestion avoidance. It says nothing about slow start, timeouts and
    /// ECN-Echo, where WestwoodNR's reaction stays.
    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let is_judged = event.cause == Cause::Loss && !window.in_slow_start();
        if is_judged && !self.is_congestion(event, window.mss()) {
            return None;
        }
        self.nr.reduce(event, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eq. (2) by hand: 30 segments in 100 ms of which 40 ms are queueing are 300 a second against 500 expected.
    #[test]
    fn delta_is_expected_less_actual_times_base_rtt() {
        let delta = queued_bytes(30_000, Dur::from_millis(60), Dur::from_millis(100));
        assert!((delta - (30_000.0 / 0.06 - 30_000.0 / 0.1) * 0.06).abs() < 1e-6);
        assert!((delta - 12_000.0).abs() < 1e-6);
        assert_eq!(queued_bytes(30_000, Dur::from_millis(60), Dur::from_millis(60)), 0.0);
    }
}
