//! Reno's congestion avoidance (RFC 5681 §3.1).

use super::registry::ControllerSpec;
use super::{Ack, Avoidance, Composed, Congestion, PlainAck, Window, WindowRules};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "reno",
    summary: "Additive increase of one segment per round trip; halves on loss",
    source: "RFC 5681",
    params: &[],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build: |build, _| Box::new(Composed::new(build, Reno)),
};

#[derive(Clone, Copy, Debug)]
pub struct Reno;

impl Avoidance for Reno {
    const TAKES_PLAIN_ACKS: bool = true;

    #[inline]
    fn increase_plain(&mut self, _ack: &PlainAck, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    #[inline]
    fn try_count(&mut self, _ack: &PlainAck, acked: u64, window: &mut Window) -> bool {
        window.try_count(acked)
    }

    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window) {
        self.increase_plain(&ack.into(), acked, window);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let outstanding = match window.rules {
            WindowRules::Linux => window.cwnd,
            // RFC 5681 §3.1 eq. (4).
            _ => event.flight_size,
        };
        Some(window.ssthresh_for(0.5 * outstanding as f64))
    }
}
