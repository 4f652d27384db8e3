//! The measured flows of a run together: a row of a sweep.

use crate::record::{FlowRecord, RunRecord};

/// A value of [`RunRecord::totals`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Total {
    Count(u64),
    /// Absent where there is nothing to measure.
    Measure(Option<f64>),
}

impl RunRecord {
    /// Sums over the measured flows, by the names of the records' fields; RTTs are means weighted by samples.
    pub fn totals(&self) -> Vec<(&'static str, Total)> {
        let flows = self.flows.iter().map(Box::as_ref);
        let measured: Vec<&FlowRecord> = flows.filter(|flow| flow.measured).collect();
        let count = |of: fn(&FlowRecord) -> u64| Total::Count(measured.iter().map(|flow| of(flow)).sum());
        let times = || measured.iter().flat_map(|flow| &flow.completion_times_s);
        let completed = times().count() as u64;
        let mean = |sum: f64, number: u64| Total::Measure((number > 0).then(|| sum / number as f64));
        let samples = measured.iter().map(|flow| flow.rtt_samples).sum();
        let rtt = |of: fn(&FlowRecord) -> Option<f64>| {
            let weighted = |flow: &&FlowRecord| of(flow).unwrap_or(0.0) * flow.rtt_samples as f64;
            mean(measured.iter().map(weighted).sum(), samples)
        };
        let throughput_bps = measured.iter().fold(0.0, |sum, flow| sum + flow.throughput_bps);
        let rtt_min_ms = measured.iter().filter_map(|flow| flow.rtt_min_ms).reduce(f64::min);
        vec![
            ("goodput_bps", Total::Measure(Some(self.goodput_bps))),
            ("bound_bps", Total::Measure(Some(self.bound_bps))),
            ("jain_index", Total::Measure(self.jain_index)),
            ("throughput_bps", Total::Measure(Some(throughput_bps))),
            ("rtt_min_ms", Total::Measure(rtt_min_ms)),
            ("rtt_p50_ms", rtt(|flow| flow.rtt_p50_ms)),
            ("rtt_p95_ms", rtt(|flow| flow.rtt_p95_ms)),
            ("completion_mean_s", mean(times().sum(), completed)),
            ("completed_transfers", Total::Count(completed)),
            ("data_packets_sent", count(|flow| flow.data_packets_sent)),
            ("retransmissions", count(|flow| flow.retransmissions)),
            ("retransmissions_spurious", count(|flow| flow.retransmissions_spurious)),
            ("timeouts", count(|flow| flow.timeouts)),
            ("timeouts_spurious", count(|flow| flow.timeouts_spurious)),
            ("fast_retransmits", count(|flow| flow.fast_retransmits)),
            ("cwnd_reductions", count(|flow| flow.cwnd_reductions)),
            ("losses_corruption", count(|flow| flow.losses_corruption)),
            ("losses_congestion", count(|flow| flow.losses_congestion)),
            ("losses_outage", count(|flow| flow.losses_outage)),
            ("packets_delivered", Total::Count(self.packets_delivered)),
        ]
    }
}
