//! Reno's congestion avoidance (RFC 5681 §3.1).

use super::registry::{ControllerSpec, Values};
use super::{Ack, Avoidance, Build, Composed, Congestion, CongestionControl, Window};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "reno",
    summary: "Additive increase of one segment a round trip, halving on loss",
    source: "RFC 5681",
    params: &[],
    build,
};

fn build(build: &Build, _values: &Values) -> Box<dyn CongestionControl> {
    Box::new(Composed::new(build, Reno))
}

#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl Avoidance for Reno {
    fn increase(&mut self, _ack: &Ack, window: &mut Window) {
        // RFC 5681 §3.1 eq. (3): SMSS·SMSS/cwnd per ACK that acknowledges new data.
        window.grow((window.mss * window.mss) as f64 / window.cwnd as f64);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        // RFC 5681 §3.1 eq. (4).
        Some((event.flight_size / 2).max(2 * window.mss))
    }
}
