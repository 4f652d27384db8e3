//! SpecTCP: takes every loss for corruption, unless ECN-Echo says that the network is congested.

use super::registry::{ControllerSpec, Exemption, Param, Values};
use super::slow_start::SlowStart;
use super::{Ack, Avoidance, Cause, Composed, Congestion, Window};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "spectcp",
    summary: "Reno that keeps its window on packet loss and halves it on ECN-Echo; for paths where every router marks",
    source: "SpecTCP (paper 002), §II",
    params: &[Param {
        name: "repair_growth",
        default: 0.0,
        min: 0.0,
        max: 1.0,
        doc: "Segments by which cwnd grows a round trip while corruption is repaired: 0 is mechanism (i) of paper 002 §II, which keeps \
              cwnd, 1 is (ii), which lets congestion avoidance raise it; in the repair after a timeout, it takes the place of slow start",
    }],
    ordered: &[],
    changes: &[("ecn", "true")],
    exemptions: &[Exemption::EcnOnly],
    build: |build, values| Box::new(Composed::new(build, SpecTcp::new(values))),
};

/// Without ECN on the whole path, nothing ever slows it down.
#[derive(Clone, Debug)]
pub struct SpecTcp {
    /// Segments per round trip while corruption is repaired.
    repair_growth: f64,
    /// The last ECN-Echo concerns what was sent before this stream offset.
    echoed_until: u64,
}

impl SpecTcp {
    fn new(values: &Values) -> SpecTcp {
        SpecTcp { repair_growth: values.get("repair_growth"), echoed_until: 0 }
    }

    /// Paper 002 §II: the speculation holds as long as no ECN-Echo has come; here, none for what is outstanding.
    fn is_speculation_wrong(&self, una: u64) -> bool {
        una < self.echoed_until
    }

    /// Paper 002 §II (ii).
    fn grows_in_repair(&self, ack: &Ack) -> bool {
        self.repair_growth > 0.0 && !ack.ece && !self.is_speculation_wrong(ack.una)
    }
}

impl Avoidance for SpecTcp {
    fn increase(&mut self, ack: &Ack, acked: u64, window: &mut Window) {
        let is_repair = ack.in_loss && self.grows_in_repair(ack);
        window.grow_additively(acked, if is_repair { self.repair_growth } else { 1.0 });
    }

    fn slow_start(&mut self, ack: &Ack, acked: u64, window: &mut Window, slow_start: &mut SlowStart) -> u64 {
        let is_repair = ack.in_loss && self.grows_in_repair(ack);
        if is_repair { acked } else { slow_start.increase(acked, window, self.slow_start_gain()) }
    }

    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if ack.in_recovery && ack.is_cwnd_limited && self.grows_in_repair(ack) {
            window.grow_additively(ack.delivered, self.repair_growth);
        }
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        let halved = || window.ssthresh_for(0.5 * event.flight_size as f64);
        match event.cause {
            Cause::Ecn => {
                self.echoed_until = event.nxt;
                Some(halved())
            }
            Cause::Timeout => self.is_speculation_wrong(event.una).then(halved),
            // Corruption: §II keeps cwnd at "the previous value". Congestion: ECN-Echo has halved it in this window.
            Cause::Loss => None,
        }
    }

    fn loss_window(&self, event: &Congestion, window: &Window) -> u64 {
        if self.is_speculation_wrong(event.una) { window.loss_window() } else { window.cwnd }
    }
}
