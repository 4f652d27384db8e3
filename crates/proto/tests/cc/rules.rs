//! Each controller's rules, one by one.

mod concord;
mod cubic;
mod delay;
mod jersey;
mod reno;
mod slow_start;
mod westwood;
mod westwood_vt;

use crate::cc::model::{Sender, plain};
use airtcp_proto::cc::Build;
use airtcp_wire::Dur;

pub const RTT: Dur = Dur::from_millis(100);

/// A build whose controllers begin in congestion avoidance with `segments`.
pub fn avoiding(segments: u64) -> Build {
    Build { initial_window: 1000 * segments, initial_ssthresh: 1000 * segments, ..plain() }
}

/// A sender of default parameters that begins in congestion avoidance with `segments`.
pub fn avoider(name: &str, segments: u64) -> Sender {
    Sender::new(name, &[], &avoiding(segments))
}

#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
}
