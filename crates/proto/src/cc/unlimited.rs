//! No congestion control, for the data TCP of a circuit, whose window "is always set to infinity" (paper 000 §5): the circuit decides
//! when packets leave. No scheme can name it.

use super::{Ack, Congestion, CongestionControl, ControllerSpec, Limits, PlainAck};
use airtcp_wire::Time;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "unlimited",
    summary: "No congestion control",
    source: "Wang & Kung 2001 (paper 000) §5",
    params: &[],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build: |_, _| Box::new(Unlimited),
};

/// More than can be in flight, yet far from overflow.
const INFINITE: u64 = 1 << 62;

pub struct Unlimited;

impl CongestionControl for Unlimited {
    fn cwnd(&self) -> u64 {
        INFINITE
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_plain_ack(&mut self, _ack: &PlainAck, _limits: &mut Limits) -> bool {
        true
    }

    fn on_congestion(&mut self, _event: &Congestion) {}

    fn on_spurious(&mut self, _now: Time, _cwnd: u64, _ssthresh: u64) {}

    fn hears_sends(&self) -> bool {
        false
    }

    fn reads_rate(&self) -> bool {
        false
    }
}
