//! SpecTCP: takes every loss for corruption, unless ECN-Echo says that the network is congested.

use super::registry::{ControllerSpec, Trait};
use super::{Ack, Avoidance, Cause, Composed, Congestion, Window};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "spectcp",
    summary: "Reno that keeps its window on packet loss and halves it on ECN-Echo; for paths where every router marks",
    source: "SpecTCP (paper 002), §II",
    params: &[],
    ordered: &[],
    changes: &[("ecn", "true")],
    traits: &[Trait::EcnOnly],
    build: |build, _| Box::new(Composed::new(build, SpecTcp::default())),
};

/// Without ECN on the whole path, nothing ever slows it down.
#[derive(Clone, Debug, Default)]
pub struct SpecTcp {
    /// The last ECN-Echo concerns what was sent before this stream offset.
    echoed_until: u64,
}

impl SpecTcp {
    /// Paper 002 §II: the speculation holds as long as no ECN-Echo has come; here, none for what is outstanding.
    fn is_speculation_wrong(&self, event: &Congestion) -> bool {
        event.una < self.echoed_until
    }
}

impl Avoidance for SpecTcp {
    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let halved = || window.ssthresh_for(0.5 * event.flight_size as f64);
        match event.cause {
            Cause::Ecn => {
                self.echoed_until = event.nxt;
                Some(halved())
            }
            Cause::Timeout => self.is_speculation_wrong(event).then(halved),
            // Corruption: §II keeps cwnd at "the previous value". Congestion: ECN-Echo has halved it in this window.
            Cause::Loss => None,
        }
    }

    fn loss_window(&self, event: &Congestion, window: &Window) -> u64 {
        if self.is_speculation_wrong(event) { window.mss() } else { window.cwnd }
    }
}
