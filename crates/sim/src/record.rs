//! The results of a run. Names are stable and end in their unit. Rates, counts and delays exclude the warm-up.

use crate::circuit::Circuit;
use crate::flow::{Flow, Totals};
pub use crate::path_records::{LinkRecord, MediumRecord, TurnRecord};
pub use crate::repairing::RepairRecord;
use crate::scenario::model;
use airtcp_proto::queue::DropCause;
use airtcp_wire::{Dur, Time};
use serde::Serialize;

/// One run: a scenario, a scheme, a seed.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord {
    pub scheme: String,
    pub seed: u64,
    /// Simulated time, and how much of it is warm-up.
    pub duration_s: f64,
    pub warmup_s: f64,
    /// Goodput of the measured flows together.
    pub goodput_bps: f64,
    /// Jain's index over the goodputs of the measured flows: 1 when they are equal, 1/n when one has everything.
    /// Absent when nothing was received.
    pub jain_index: Option<f64>,
    /// What could arrive at best over the links that the first measured flow crosses: see [`crate::bound`].
    pub bound_bps: f64,
    #[allow(clippy::vec_box, reason = "one large block more would be the most memory that a run ever takes")]
    pub flows: Vec<Box<FlowRecord>>,
    /// Each link's way there and way back, in path order.
    pub links: Vec<LinkRecord>,
    /// Media that links share. Absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<MediumRecord>,
    /// TCP circuits; empty where there are none.
    pub circuits: Vec<CircuitRecord>,
    /// Events that the engine handled, and data packets that reached their receiver, warm-up included.
    pub events: u64,
    pub packets_delivered: u64,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRecord {
    pub name: String,
    /// Which of the flows of this name, from 0.
    pub index: u32,
    pub scheme: String,
    pub measured: bool,
    /// Application bytes that arrived in order, over the time from the later of start and warm-up until the transfer
    /// was complete or the run over.
    pub goodput_bps: f64,
    /// All data packets that arrived, headers and duplicates included, over the same time.
    pub throughput_bps: f64,
    pub bytes_received: u64,
    pub data_packets_sent: u64,
    pub data_packets_delivered: u64,
    /// Data packets under way when the run ended. With the delivered and the lost ones they are all that were sent, but
    /// for what a machine at the base station dropped, held or made itself, and what a circuit recovered.
    pub data_packets_under_way: u64,
    pub retransmissions: u64,
    /// Of these, those whose bytes had arrived or were about to: see [`crate::truth`]. Not counted where a proxy splits
    /// the connection; there RTT, retransmissions and timeouts are those between the sender and the proxy.
    pub retransmissions_spurious: u64,
    pub timeouts: u64,
    /// Timeouts whose retransmission was spurious.
    pub timeouts_spurious: u64,
    pub fast_retransmits: u64,
    pub fast_retransmits_spurious: u64,
    pub cwnd_reductions: u64,
    /// Data packets lost to bit errors or a loss model.
    pub losses_corruption: u64,
    /// Data packets that a queue dropped.
    pub losses_congestion: u64,
    /// Data packets lost in outages and hand-offs.
    pub losses_outage: u64,
    /// Packets without data that were lost, in both directions.
    pub acks_lost: u64,
    /// RTT as the sender measures it. Percentiles within 0.4 %. Absent without samples.
    pub rtt_samples: u64,
    pub rtt_min_ms: Option<f64>,
    pub rtt_mean_ms: Option<f64>,
    pub rtt_p50_ms: Option<f64>,
    pub rtt_p95_ms: Option<f64>,
    pub rtt_p99_ms: Option<f64>,
    pub transfers_started: u64,
    /// Connections given up or reset.
    pub resets: u64,
    /// From opening the connection until the receiver had everything, for each transfer that was completed.
    pub completion_times_s: Vec<f64>,
}

/// One TCP circuit.
#[derive(Clone, Debug, Serialize)]
pub struct CircuitRecord {
    /// Its own, or that of the flow which has it alone.
    pub name: String,
    /// Which of the circuits of this name, from 0.
    pub index: u32,
    pub scheme: String,
    /// Data packets that have left its tunnel queue, headers included.
    pub forwarded_packets: u64,
    pub forwarded_bytes: u64,
    /// Data packets that dropped at the full tunnel queue.
    pub tunnel_queue_drops: u64,
    /// Header packets, those of the control TCPs' handshakes included, and how many of them were lost.
    pub header_packets_sent: u64,
    pub header_bytes_sent: u64,
    pub header_packets_lost: u64,
    /// Acknowledgments of header packets, and how many of them were lost.
    pub control_acks_sent: u64,
    pub control_ack_bytes_sent: u64,
    pub control_acks_lost: u64,
    /// Congestion windows of the control TCPs together, in segments of VMSS, over time.
    pub control_window_mean_packets: f64,
    /// Of the control TCPs.
    pub timeouts: u64,
    pub cwnd_reductions: u64,
    /// Absent where no data is repaired.
    #[serde(flatten)]
    pub repairs: Option<RepairRecord>,
}

impl CircuitRecord {
    pub(crate) fn new(circuit: &Circuit, now: Time) -> CircuitRecord {
        let Circuit { site, counts, baseline, .. } = circuit;
        let totals = circuit.totals();
        CircuitRecord {
            name: site.name.clone(),
            index: site.index,
            scheme: site.scheme.clone(),
            forwarded_packets: counts.forwarded_packets,
            forwarded_bytes: counts.forwarded_bytes,
            tunnel_queue_drops: counts.tunnel_queue_drops,
            header_packets_sent: counts.header_packets_sent,
            header_bytes_sent: counts.header_bytes_sent,
            header_packets_lost: counts.header_packets_lost,
            control_acks_sent: counts.acks_sent,
            control_ack_bytes_sent: counts.ack_bytes_sent,
            control_acks_lost: counts.acks_lost,
            control_window_mean_packets: counts.mean_window(now),
            timeouts: totals.timeouts - baseline.timeouts,
            cwnd_reductions: totals.cwnd_reductions - baseline.cwnd_reductions,
            repairs: circuit.repairs_data().then_some(counts.repairs),
        }
    }
}

impl FlowRecord {
    /// `totals` are the sums over the flow's connections. `period` is from the end of the warm-up to the end of the
    /// run.
    pub(crate) fn new(
        spec: &model::Flow,
        flow: &Flow,
        totals: &Totals,
        under_way: u64,
        period: (Time, Time),
    ) -> FlowRecord {
        let since = spec.start_of(flow.instance, &flow.shared.chances).max(period.0);
        let past = flow.past.as_deref();
        let completed = past.and_then(|past| past.completed);
        let seconds = completed.unwrap_or(period.1).since(since).as_secs_f64();
        let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let (counts, rare) = (&flow.counts, flow.counts.rare());
        let baseline = past.map(|past| past.baseline).unwrap_or_default();
        let bytes_received = totals.received - baseline.received + rare.datagram_bytes;
        let millis = |rtt: Option<Dur>| rtt.map(|rtt| rtt.as_secs_f64() * 1e3);
        FlowRecord {
            name: spec.name.clone(),
            index: flow.instance,
            scheme: flow.shared.scheme.label.clone(),
            measured: flow.shared.is_measured,
            goodput_bps: rate(bytes_received),
            throughput_bps: rate(counts.data_bytes_delivered),
            bytes_received,
            data_packets_sent: counts.data_packets_sent,
            data_packets_delivered: counts.data_packets_delivered,
            data_packets_under_way: under_way,
            retransmissions: counts.retransmissions,
            retransmissions_spurious: rare.spurious.retransmissions,
            timeouts: totals.timeouts - baseline.timeouts,
            timeouts_spurious: rare.spurious.timeouts,
            fast_retransmits: totals.fast_retransmits - baseline.fast_retransmits,
            fast_retransmits_spurious: rare.spurious.fast_retransmits,
            cwnd_reductions: totals.cwnd_reductions - baseline.cwnd_reductions,
            losses_corruption: counts.losses(DropCause::Corruption),
            losses_congestion: counts.losses(DropCause::Overflow) + counts.losses(DropCause::Aqm),
            losses_outage: counts.losses(DropCause::Outage),
            acks_lost: rare.acks_lost,
            rtt_samples: flow.rtt.samples(),
            rtt_min_ms: millis(flow.rtt.min()),
            rtt_mean_ms: millis(flow.rtt.mean()),
            rtt_p50_ms: millis(flow.rtt.quantile(0.5)),
            rtt_p95_ms: millis(flow.rtt.quantile(0.95)),
            rtt_p99_ms: millis(flow.rtt.quantile(0.99)),
            transfers_started: counts.transfers_started,
            resets: rare.resets,
            completion_times_s: past
                .iter()
                .flat_map(|past| &past.completions)
                .map(|time| time.as_secs_f64())
                .collect(),
        }
    }
}

/// Jain's fairness index of these rates; `None` if they are all zero.
pub fn jain_index(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for rate in rates {
        n += 1.0;
        sum += rate;
        squares += rate * rate;
    }
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_1_over_n_for_a_monopoly() {
        assert_eq!(jain_index([5.0, 5.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(jain_index([8.0, 0.0, 0.0, 0.0].into_iter()), Some(0.25));
        assert_eq!(jain_index([0.0].into_iter()), None);
    }
}
