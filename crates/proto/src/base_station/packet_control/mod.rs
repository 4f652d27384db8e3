//! TCP packet control (Zeng and Trajković 2005, paper 001): two filters at the base station keep delay variation on the
//! wireless link from making the fixed host retransmit.
//!
//! The ACK filter drops old ACKs and passes only some duplicates, so that what is reordered on the wireless link does not
//! look like a loss. The data filter drops what has been acknowledged already, so that a spurious timeout does not load
//! the wireless link.
//!
//! The filters judge what the fixed host sends and the mobile host acknowledges, as in §V: data that goes forward from
//! the base station. Data of the mobile host passes, and so do the ACKs that it carries: nothing is cut out of a packet.
//! The ACKs that the fixed host's data carries are not lost either: see `data_filter`.
//!
//! A duplicate ACK with SACK blocks is a duplicate as any other. The next one that passes reports what those dropped had
//! reported, as far as its three or four blocks reach; a DSACK block stands on one ACK only and is lost with it. A sender
//! that finds losses by SACK (RFC 6675) counts segments and not ACKs: the first duplicate that passes shows it
//! `threshold`/3 segments above the hole, so that a threshold of 9 or less delays its verdict by nothing.

mod ack_filter;
mod data_filter;
mod flow;
#[cfg(test)]
mod tests;

use super::flows::Flows;
use super::{Machine, MachineBuild, MachineSpec};
use crate::middlebox::{Direction, Middlebox, SeenPacket};
use airtcp_wire::{Flags, Time};
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
        match self.max_flows {
            0 => Err("max_flows = 0: must be at least 1".to_owned()),
            _ => Ok(()),
        }
    }

    fn build(&self, _build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        Box::new(PacketControl { config: self.clone(), flows: Flows::new(self.max_flows) })
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    Drop,
    /// Drop it, and answer with an ACK.
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
        let flags = packet.segment.flags;
        if flags.contains(Flags::SYN) || flags.contains(Flags::RST) {
            self.flows.remove(packet.flow);
            return true;
        }
        let Some(flow) = self.flow(now, packet) else { return true };
        let verdict = flow.judge(packet);
        let is_over = flow.ending.is_over();
        if verdict == Verdict::Pass && !is_over {
            return true;
        }
        let answer = (verdict == Verdict::Answer).then(|| flow.answer(packet.flow)).flatten();
        if is_over {
            self.flows.remove(packet.flow);
        }
        let is_filtered = match packet.direction {
            Direction::Forward => self.config.data_filter,
            Direction::Reverse => self.config.ack_filter,
        };
        let goes_on = verdict == Verdict::Pass || !is_filtered;
        if !goes_on {
            out.extend(answer);
        }
        goes_on
    }
}

impl PacketControl {
    /// What is known of the packet's flow. Only the fixed host's data makes a flow known, wherever in its life that is.
    fn flow(&mut self, now: Time, packet: &SeenPacket) -> Option<&mut FlowState> {
        if packet.direction == Direction::Reverse || packet.segment.len == 0 {
            return self.flows.get(now, packet.flow);
        }
        let begun = || FlowState::new(self.config.threshold, &packet.segment);
        Some(self.flows.get_or_insert_with(now, packet.flow, begun))
    }
}
