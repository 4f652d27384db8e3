//! The record of a run: the simulator's, field by field.
//!
//! | field | on Linux it is |
//! |---|---|
//! | `goodput_bps`, `bytes_received` | what the receiving application has read |
//! | `throughput_bps`, `data_packets_*` | packets that enter and leave the emulated path |
//! | `retransmissions` | data packets that enter the path with bytes that were sent before |
//! | `retransmissions_spurious` and its kin | decided as in the simulator ([`airtcp_sim::truth`]), because the path knows the fate of every copy |
//! | `timeouts` | `tcpi_total_rto`, including SYNs'; before Linux 6.7 what `tcpi_retransmits` shows when something sent again enters the path |
//! | `fast_retransmits` | retransmissions that begin a recovery, by `tcpi_ca_state` as it is read when they enter the path |
//! | `cwnd_reductions` | approximate: first timeouts, recoveries whose ssthresh is below what is outstanding, and CWR flags outside recovery |
//! | `losses_*`, `acks_lost` | the path's own verdicts |
//! | `rtt_*` | from the entrance of a data packet to the exit of the ACK that first covers it, at the sender's side of the path; for resent data, only if timestamps distinguish the copies |
//! | `transfers_started`, `resets`, `completion_times_s` | what the applications see |
//! | `losses_congestion` | includes those of a trunk's tunnel queue |
//! | `links` | the path's own counts |
//! | `circuits` | header packets and their ACKs as they enter the path and are lost on it, the rest as the sending gateway counts it |
//! | `events` | packets that entered or left the path |
//!
//! Series: cwnd, ssthresh, SRTT, RTO and in-flight are TCP_INFO's, in segments of `tcpi_snd_mss`; the rest as above.

use super::flows::Flow;
use super::measure::Measured;
use super::trunks::Trunk;
use airtcp_proto::queue::DropCause;
use airtcp_sim::bound::{Bounded, PacketSize, bound_bps};
use airtcp_sim::record::{CircuitRecord, FlowRecord, RunRecord, jain_index};
use airtcp_sim::scenario::model::Scenario;
use airtcp_wire::{Dur, Time};

/// What the measurement does not know. Kept while the applications run.
pub struct Labels {
    flows: Vec<Label>,
    circuits: Vec<CircuitLabel>,
    /// The best goodput of the run.
    bound_bps: f64,
}

/// Labels of a circuit.
struct CircuitLabel {
    number: usize,
    name: String,
    index: u32,
    scheme: String,
    vmss_bytes: u64,
}

impl Labels {
    pub fn new(scenario: &Scenario, flows: &[Flow], trunks: &[Trunk], seed: u64) -> Labels {
        let own = flows.iter().enumerate().filter_map(|(flow, of)| {
            let circuit = of.form.station.as_ref()?.circuit()?;
            Some(CircuitLabel {
                number: trunks.len() + flow,
                name: of.name.clone(),
                index: of.instance,
                scheme: of.scheme.label.clone(),
                vmss_bytes: circuit.config.vmss.0,
            })
        });
        let trunk = |(number, trunk): (usize, &Trunk)| CircuitLabel {
            number,
            name: trunk.name.clone(),
            index: 0,
            scheme: trunk.label.clone(),
            vmss_bytes: trunk.circuit.config.vmss.0,
        };
        let bounded = flows.iter().map(|flow| Bounded {
            spec: flow.spec,
            instance: flow.instance,
            is_measured: flow.is_measured,
            packet: PacketSize::of(&flow.scheme.config),
        });
        Labels {
            bound_bps: bound_bps(&scenario.for_seed(seed), seed, bounded),
            circuits: own.chain(trunks.iter().enumerate().map(trunk)).collect(),
            flows: flows.iter().map(Label::new).collect(),
        }
    }
}

/// Labels of a flow.
struct Label {
    instance: u32,
    name: String,
    scheme: String,
    is_measured: bool,
    start: Time,
}

impl Label {
    fn new(flow: &Flow) -> Label {
        Label {
            instance: flow.instance,
            name: flow.name.clone(),
            scheme: flow.scheme.label.clone(),
            is_measured: flow.is_measured,
            start: flow.start,
        }
    }
}

pub fn record(
    scenario: &Scenario,
    scheme: &str,
    seed: u64,
    labels: &Labels,
    measured: &Measured,
) -> RunRecord {
    let Labels { flows: labels, circuits, bound_bps } = labels;
    let flows: Vec<_> = (0..labels.len())
        .map(|index| Box::new(flow_record(scenario, &labels[index], measured, index)))
        .collect();
    let goodputs = || flows.iter().filter(|flow| flow.measured).map(|flow| flow.goodput_bps);
    RunRecord {
        scheme: scheme.to_owned(),
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        warmup_s: scenario.warmup.as_secs_f64(),
        goodput_bps: goodputs().sum(),
        jain_index: jain_index(goodputs()),
        bound_bps: *bound_bps,
        links: measured.links.clone(),
        media: measured.media.clone(),
        circuits: circuits.iter().map(|label| circuit_record(label, measured)).collect(),
        events: measured.events,
        packets_delivered: measured.packets_delivered,
        flows,
    }
}

fn circuit_record(label: &CircuitLabel, measured: &Measured) -> CircuitRecord {
    let (meter, account) = &measured.circuits[label.number];
    CircuitRecord {
        name: label.name.clone(),
        index: label.index,
        scheme: label.scheme.clone(),
        forwarded_packets: account.forwarded_packets,
        forwarded_bytes: account.forwarded_bytes,
        tunnel_queue_drops: account.shed.values().sum(),
        header_packets_sent: meter.header_packets_sent,
        header_bytes_sent: meter.header_bytes_sent,
        header_packets_lost: meter.header_packets_lost,
        control_acks_sent: meter.control_acks_sent,
        control_ack_bytes_sent: meter.control_ack_bytes_sent,
        control_acks_lost: meter.control_acks_lost,
        control_window_mean_packets: account.mean_window_bytes() / label.vmss_bytes as f64,
        timeouts: account.timeouts,
        cwnd_reductions: account.cwnd_reductions,
        repairs: None,
    }
}

fn flow_record(scenario: &Scenario, label: &Label, measured: &Measured, index: usize) -> FlowRecord {
    let (meter, under_way, account) = &measured.flows[index];
    let since = label.start.max(Time::ZERO + scenario.warmup);
    let end = account.completed.unwrap_or(Time::ZERO + scenario.duration);
    let seconds = end.since(since).as_secs_f64();
    let rate = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
    let millis = |rtt: Option<Dur>| rtt.map(|rtt| rtt.as_secs_f64() * 1e3);
    let losses = |cause: DropCause| meter.losses[cause as usize];
    let shed: u64 = measured.circuits.iter().map(|(_, circuit)| circuit.shed_of(index)).sum();
    let bytes_received = account.received + meter.datagram_bytes;
    FlowRecord {
        name: label.name.clone(),
        index: label.instance,
        scheme: label.scheme.clone(),
        measured: label.is_measured,
        goodput_bps: rate(bytes_received),
        throughput_bps: rate(meter.data_bytes_delivered),
        bytes_received,
        data_packets_sent: meter.data_packets_sent,
        data_packets_delivered: meter.data_packets_delivered,
        data_packets_under_way: *under_way,
        retransmissions: meter.retransmissions,
        retransmissions_spurious: meter.spurious.retransmissions,
        timeouts: account.timeouts,
        timeouts_spurious: meter.spurious.timeouts,
        fast_retransmits: meter.fast_retransmits,
        fast_retransmits_spurious: meter.spurious.fast_retransmits,
        cwnd_reductions: meter.cwnd_reductions,
        losses_corruption: losses(DropCause::Corruption),
        losses_congestion: losses(DropCause::Overflow) + losses(DropCause::Aqm) + shed,
        losses_outage: losses(DropCause::Outage),
        acks_lost: meter.acks_lost,
        rtt_samples: meter.rtt.samples(),
        rtt_min_ms: millis(meter.rtt.min()),
        rtt_mean_ms: millis(meter.rtt.mean()),
        rtt_p50_ms: millis(meter.rtt.quantile(0.5)),
        rtt_p95_ms: millis(meter.rtt.quantile(0.95)),
        rtt_p99_ms: millis(meter.rtt.quantile(0.99)),
        transfers_started: account.transfers_started,
        resets: account.resets,
        completion_times_s: account.completions.iter().map(|took| took.as_secs_f64()).collect(),
    }
}
