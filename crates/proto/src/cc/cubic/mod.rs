//! CUBIC: the window is a cubic function of the time since the last reduction, whatever the RTT.

mod linux;
mod rfc9438;

use super::registry::{ControllerSpec, Param, Values};
use super::slow_start::SlowStartKind;
use super::{Build, Composed, CongestionControl};
use linux::Linux;
use rfc9438::Rfc9438;

pub const SPEC: ControllerSpec = ControllerSpec {
    name: "cubic",
    summary: "Grows with the cube of the time since the last loss; the default of Linux, Windows and macOS",
    source: "RFC 9438",
    params: &[
        Param {
            name: "beta",
            default: 0.7,
            min: 0.1,
            max: 0.95,
            doc: "Share of the window kept after a loss: β_cubic (RFC 9438 §4.6)",
        },
        Param {
            name: "c",
            default: 0.4,
            min: 0.001,
            max: 100.0,
            doc: "C, segments per s³: how fast the window grows back (RFC 9438 §5)",
        },
        Param {
            name: "fast_convergence",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            doc: "1: a flow whose maximum falls gives up more, to make room for new flows (RFC 9438 §4.7)",
        },
    ],
    ordered: &[],
    changes: &[],
    exemptions: &[],
    build,
};

/// Whose rules CUBIC follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicRules {
    /// RFC 9438's.
    Rfc9438,
    /// Those of Linux's `tcp_cubic`, with HyStart and in whole segments: they grow more slowly where windows are small or
    /// round trips short.
    Linux,
}

fn build(build: &Build, values: &Values) -> Box<dyn CongestionControl> {
    match build.cubic {
        CubicRules::Rfc9438 => Box::new(Composed::new(build, Rfc9438::new(values))),
        CubicRules::Linux => {
            let slow_start = build.slow_start.or(Some(SlowStartKind::Hystart));
            Box::new(Composed::new(&Build { slow_start, ..*build }, Linux::new(values)))
        }
    }
}
