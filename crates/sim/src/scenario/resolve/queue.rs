//! Queues: each discipline with its own keys and defaults.

use super::check::Check;
use crate::scenario::file::{self, DisciplineKind};
use crate::scenario::model::{Codel, Discipline, Limit, Queue};
use airtcp_wire::{Bytes, Dur, Rate};

/// What a queue's default room depends on.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// Of this link, averaged.
    pub rate: Rate,
    /// Propagation from end to end of the whole path and back.
    pub rtt: Dur,
}

const LEAST_DEFAULT_PACKETS: u64 = 50;
const FULL_PACKET_BYTES: u64 = 1500;
/// Linux's `sch_codel`.
const CODEL_PACKETS: u32 = 1000;
/// RFC 8290 §5.2.3.
const FQ_CODEL_PACKETS: u32 = 10240;

impl Path {
    /// One bandwidth-delay product, so that a loss-based sender that halves its window still fills the link; never less
    /// than 50 packets, which is what a classic router interface and the papers' simulations hold.
    fn default_packets(self) -> u32 {
        let product = self.rate.bytes_in(self.rtt).div_ceil(FULL_PACKET_BYTES);
        u32::try_from(product.max(LEAST_DEFAULT_PACKETS)).unwrap_or(u32::MAX)
    }
}

pub(super) fn queue(written: &file::Queue, path: Path, check: &mut Check<'_>) -> Queue {
    let (owner, own): (_, &[&str]) = match written.discipline {
        DisciplineKind::Droptail => ("droptail", &[]),
        DisciplineKind::Red => (
            "red",
            &[
                "ecn",
                "min_threshold",
                "max_threshold",
                "max_probability",
                "weight",
                "gentle",
                "wait",
                "count_bytes",
                "mean_packet",
            ],
        ),
        DisciplineKind::CongestionWarning => ("congestion-warning", &["threshold", "weight", "mean_packet"]),
        DisciplineKind::HeaderFirst => ("header-first", &["max_headers"]),
        DisciplineKind::Codel => ("codel", &["ecn", "target", "interval"]),
        DisciplineKind::FqCodel => ("fq-codel", &["ecn", "target", "interval", "flows", "quantum"]),
    };
    check.only(owner, &[&["discipline", "packets", "bytes"], own].concat());
    check.refuse_if(written.packets == Some(0), "packets", "must be at least 1");
    check.refuse_if(written.bytes == Some(Bytes(0)), "bytes", "must be above zero");
    let discipline = match written.discipline {
        DisciplineKind::Droptail => Discipline::DropTail,
        DisciplineKind::Red => red(written, check),
        DisciplineKind::CongestionWarning => congestion_warning(written, check),
        DisciplineKind::HeaderFirst => header_first(written, check),
        DisciplineKind::Codel => Discipline::Codel(codel(written, check)),
        DisciplineKind::FqCodel => fq_codel(written, check),
    };
    Queue { limit: limit(written, path), ecn: written.ecn, discipline }
}

/// Two queues that are written alike may have different room by default.
pub(super) fn limit(written: &file::Queue, path: Path) -> Limit {
    let default = match written.discipline {
        _ if written.bytes.is_some() => None,
        DisciplineKind::Droptail
        | DisciplineKind::Red
        | DisciplineKind::CongestionWarning
        | DisciplineKind::HeaderFirst => Some(path.default_packets()),
        DisciplineKind::Codel => Some(CODEL_PACKETS),
        DisciplineKind::FqCodel => Some(FQ_CODEL_PACKETS),
    };
    Limit { packets: written.packets.or(default), bytes: written.bytes }
}

/// Defaults: ns-2's, with Floyd's recommendation of `gentle` and a maximum threshold of three times the minimum.
fn red(written: &file::Queue, check: &mut Check<'_>) -> Discipline {
    let min_threshold = written.min_threshold.map_or(5.0, |threshold| threshold.get());
    let max_threshold = written.max_threshold.map_or(15.0, |threshold| threshold.get());
    let max_probability = written.max_probability.map_or(0.1, |probability| probability.get());
    let (weight, mean_packet) = averaging(written, 0.002, check);
    let culprit = if written.max_threshold.is_some() { "max_threshold" } else { "min_threshold" };
    check.refuse_if(
        min_threshold >= max_threshold,
        culprit,
        &format!(
            "the maximum threshold, {max_threshold}, must be above the minimum threshold, {min_threshold}"
        ),
    );
    check.refuse_if(max_probability == 0.0, "max_probability", "must be above zero");
    Discipline::Red {
        min_threshold,
        max_threshold,
        max_probability,
        weight,
        gentle: written.gentle.unwrap_or(true),
        wait: written.wait.unwrap_or(true),
        count_bytes: written.count_bytes.unwrap_or(false),
        mean_packet,
    }
}

/// Of the average: weight and mean packet.
fn averaging(written: &file::Queue, default_weight: f64, check: &mut Check<'_>) -> (f64, Bytes) {
    let weight = written.weight.map_or(default_weight, |weight| weight.get());
    let mean_packet = written.mean_packet.unwrap_or(Bytes(1000));
    check.refuse_if(weight == 0.0, "weight", "must be above zero");
    check.refuse_if(mean_packet == Bytes(0), "mean_packet", "must be above zero");
    (weight, mean_packet)
}

/// Our defaults: RED's minimum threshold, and an average over five packets, which rises before a queue of some tens of packets
/// overflows, as a warning must.
fn congestion_warning(written: &file::Queue, check: &mut Check<'_>) -> Discipline {
    let threshold = written.threshold.map_or(5.0, |threshold| threshold.get());
    let (weight, mean_packet) = averaging(written, 0.2, check);
    Discipline::CongestionWarning { threshold, weight, mean_packet }
}

fn header_first(written: &file::Queue, check: &mut Check<'_>) -> Discipline {
    let max_headers = check.required("max_headers", written.max_headers, "header-first").unwrap_or(1);
    check.refuse_if(max_headers == 0, "max_headers", "must be at least 1");
    Discipline::HeaderFirst { max_headers }
}

fn codel(written: &file::Queue, check: &mut Check<'_>) -> Codel {
    // RFC 8289 §4.3 and §4.4.
    let target = written.target.unwrap_or(Dur::from_millis(5));
    let interval = written.interval.unwrap_or(Dur::from_millis(100));
    check.above_zero("target", target);
    let culprit = if written.interval.is_some() { "interval" } else { "target" };
    check.refuse_if(
        target >= interval,
        culprit,
        &format!("the target, {target}, must be less than the interval, {interval}"),
    );
    Codel { target, interval }
}

fn fq_codel(written: &file::Queue, check: &mut Check<'_>) -> Discipline {
    // RFC 8290 §5.2.
    let flows = written.flows.unwrap_or(1024);
    let quantum = written.quantum.unwrap_or(Bytes(1514));
    check.refuse_if(!(1..=65536).contains(&flows), "flows", "must be 1 to 65536");
    check.refuse_if(quantum == Bytes(0), "quantum", "must be above zero");
    Discipline::FqCodel { codel: codel(written, check), flows, quantum }
}
