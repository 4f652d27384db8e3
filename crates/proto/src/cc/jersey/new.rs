//! TCP New Jersey: the estimator runs on the receiver's clock, so that lost or bunched ACKs do not bend it.
//!
//! Our reading of its abstract: tₙ is when the receiver sent the ACK, by the timestamp that it carries. Without timestamps
//! it is Jersey.

use super::{AckClock, Jersey, SendersClock};
use crate::cc::registry::{ControllerSpec, Param, Values};
use crate::cc::{Ack, Build, Composed, CongestionControl};
use airtcp_wire::Dur;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "new-jersey",
    summary: "Jersey with arrival times from the receiver's timestamps, so that lost or bunched ACKs do not mislead it",
    source: "Xu, Tian, Ansari, Improving TCP performance in integrated wireless communications networks, Computer Networks \
             47(2), 2005",
    params: &[Param {
        name: "timestamp_tick_ms",
        default: 1.0,
        min: 0.001,
        max: 1000.0,
        doc: "One tick of the receiver's timestamp clock, in ms (RFC 7323 §5.4: 1 ms to 1 s)",
    }],
    ordered: &[],
    changes: &[("ecn", "true"), ("timestamps", "true")],
    traits: &[],
    build,
};

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    let tick_s = values.get("timestamp_tick_ms") / 1000.0;
    let clock = ReceiversClock { tick_s, last: None, without_timestamps: SendersClock::default() };
    Box::new(Composed::new(build, Jersey::new(clock)))
}

/// When the receiver sent the ACK, in ticks of its timestamp clock.
#[derive(Clone, Debug)]
struct ReceiversClock {
    tick_s: f64,
    last: Option<u32>,
    without_timestamps: SendersClock,
}

impl AckClock for ReceiversClock {
    fn tick(&mut self, ack: &Ack) -> Option<Dur> {
        let Some(timestamp) = ack.peer_timestamp else { return self.without_timestamps.tick(ack) };
        let Some(last) = self.last else {
            self.last = Some(timestamp);
            return None;
        };
        let ticks = timestamp.wrapping_sub(last) as i32;
        // An ACK that another has overtaken carries an older one.
        if ticks > 0 {
            self.last = Some(timestamp);
        }
        Some(Dur::from_secs_f64(f64::from(ticks.max(0)) * self.tick_s))
    }
}
