//! TCP Jersey: the estimator runs on the sender's clock.

use super::{Jersey, SendersClock};
use crate::cc::registry::{ControllerSpec, Values};
use crate::cc::{Build, Composed, CongestionControl};

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "jersey",
    summary: "Reduces to the measured bandwidth when a router warns (congestion-warning queues), never for a loss alone",
    source: "Xu, Tian, Ansari, TCP-Jersey for wireless IP communications, IEEE JSAC 22(4), 2004",
    params: &[],
    ordered: &[],
    changes: &[("ecn", "true")],
    traits: &[],
    build,
};

fn build(build: &Build, _values: &Values) -> Box<dyn CongestionControl> {
    Box::new(Composed::new(build, Jersey::new(SendersClock::default())))
}
