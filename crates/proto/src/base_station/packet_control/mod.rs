//! TCP packet control (Zeng and Trajković 2005, paper 001): two filters at the base station keep delay variation on the wireless link
//! from causing retransmissions by the fixed host.
//!
//! The ACK filter drops old ACKs and passes only some duplicates, so that reordering on the wireless link does not look like a loss. The
//! data filter drops data that has been acknowledged already, so that a spurious timeout does not load the wireless link.
//!
//! As in §V, the filters judge data that goes forward from the base station, sent by the fixed host and acknowledged by the mobile host.
//! Data of the mobile host passes, with the ACKs that it carries: nothing is cut out of a packet. The ACKs that the fixed host's data
//! carries are not lost either: see `data_filter`.
//!
//! A duplicate ACK with SACK blocks counts as any other duplicate. The next one that passes reports what the dropped ones reported, as far
//! as its three or four blocks reach. A DSACK block belongs to one ACK only and is lost with it. A sender that finds losses by SACK
//! (RFC 6675) counts segments, not ACKs: the first duplicate that passes reports `threshold`/3 segments above the hole, so that a
//! threshold of 9 or less does not delay its verdict.

mod ack_filter;
mod data_filter;
mod flow;
#[cfg(test)]
mod tests;

use super::flows::Flows;
use super::{Machine, MachineBuild, MachineSpec, check_counts};
use crate::middlebox::{Direction, Middlebox, SeenPacket};
use airtcp_wire::Time;
use flow::FlowState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// redefine3DupAck (paper 001 §VI): duplicate ACKs from the mobile host before the fixed host sees three. A
    /// multiple of 3; with 3 all pass.
    pub threshold: u32,
    /// Drop old and duplicate ACKs.
    pub ack_filter: bool,
    /// Drop data that has already been acknowledged.
    pub data_filter: bool,
    /// Maximum flows remembered, a few dozen bytes each. A further one replaces the flow silent for longest, which is
    /// then treated as new.
    pub max_flows: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { threshold: 9, ack_filter: true, data_filter: true, max_flows: 4096 }
    }
}

impl Machine for Config {
    const SPEC: MachineSpec = MachineSpec {
        name: "packet-control",
        summary: "The base station thins out duplicate ACKs and drops data that has been acknowledged",
        source: "Zeng & Trajković 2005 (paper 001)",
        changes: &[],
        has_tcp: false,
    };

    fn check(&self) -> Result<(), String> {
        if self.threshold == 0 || !self.threshold.is_multiple_of(3) {
            return Err(format!("threshold = {}: must be a multiple of 3: 3, 6, 9, 12 …", self.threshold));
        }
        check_counts(&[("max_flows", self.max_flows)])
    }

    fn build(&self, _build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        Box::new(PacketControl { config: self.clone(), flows: Flows::new(self.max_flows) })
    }
}

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    Drop,
    /// Drop the packet and answer with an ACK.
    Answer,
}

struct PacketControl {
    config: Config,
    flows: Flows<FlowState>,
}

impl Middlebox for PacketControl {
    fn acts_at_once(&self) -> bool {
        true
    }

    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool {
        // Only the fixed host's data makes a flow known, at whatever point of the flow's life.
        let begins = packet.direction == Direction::Forward && packet.segment.len > 0;
        let new = || FlowState::new(self.config.threshold, &packet.segment);
        let Some(flow) = self.flows.of_packet(now, packet, begins, new) else { return true };
        let verdict = flow.judge(packet);
        let is_over = flow.ending.is_over();
        if verdict == Verdict::Pass && !is_over {
            return true;
        }
        let is_filtered = match packet.direction {
            Direction::Forward => self.config.data_filter,
            Direction::Reverse => self.config.ack_filter,
        };
        let goes_on = verdict == Verdict::Pass || !is_filtered;
        if !goes_on && verdict == Verdict::Answer {
            out.extend(flow.answer(packet.flow));
        }
        if is_over {
            self.flows.remove(packet.flow);
        }
        goes_on
    }
}
