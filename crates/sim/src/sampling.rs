//! Samples connections and queues for a recorder: at each ACK, or at its interval.

use crate::circuit::Circuit;
use crate::ends::Ends;
use crate::flow::{Phase, RECEIVER, SENDER};
use crate::network::Network;

/// Samples everything.
pub fn sample(network: &mut Network, ends: &Ends, circuits: &[Circuit]) {
    for index in 0..ends.transfers.len() as u32 {
        sample_flow(network, ends, circuits, index);
    }
    network.sample_queues();
    if let Some(recorder) = &mut network.recorder {
        let flows = ends.flows.iter().zip(0..).filter(|(flow, _)| flow.shared.is_measured);
        flows.for_each(|(_, flow)| recorder.on_delivery(network.now, flow));
    }
}

/// Samples a connection whose sender has handled an ACK, if the recorder samples at every change.
pub fn sample_at_ack(network: &mut Network, ends: &Ends, circuits: &[Circuit], index: u32) {
    if network.keen_recorder().is_none() {
        return;
    }
    sample_flow(network, ends, circuits, index);
    let (now, flow) = (network.now, ends.transfers.get(index).flow);
    if let Some(recorder) = network.keen_recorder()
        && ends.flows[flow as usize].shared.is_measured
    {
        recorder.on_delivery(now, flow);
    }
}

fn sample_flow(network: &mut Network, ends: &Ends, circuits: &[Circuit], index: u32) {
    let transfer = ends.transfers.get(index);
    let flow = &ends.flows[transfer.flow as usize];
    if let Some(recorder) = &mut network.recorder
        && transfer.phase != Phase::Retired
        && flow.shared.is_measured
    {
        let mut view = transfer.ends[SENDER].sender_view();
        // A data TCP's own window is infinite.
        if let Some(circuit) = flow.circuit {
            view.cwnd = circuits[usize::from(circuit)].window_bytes();
        }
        let received = transfer.ends[RECEIVER].received();
        let is_lasting = flow.connection == Some(index);
        recorder.on_flow(network.now, transfer.flow, &view, received, is_lasting);
    }
}
