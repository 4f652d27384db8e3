//! Snoop (Balakrishnan, Seshan, Amir, Katz, MobiCom 1995): the base station keeps copies of the data that it sends to the mobile host,
//! resends what is lost, and withholds the duplicate ACKs for it from the fixed host.
//!
//! It serves data that goes forward from the base station, over the wireless link. Data of the mobile host passes untouched: if it is lost
//! before it reaches the base station, only the mobile host can resend it.
//!
//! Beyond the paper: SACK blocks say which copies have arrived, so that all holes below are filled at once; a copy that PAWS
//! (RFC 7323 §5) would refuse gets a newer timestamp; and a segment that the base station's own queue drops is forgotten, so that the
//! fixed host learns of this congestion.

mod cache;
mod flow;

use super::flows::Flows;
use super::{Machine, MachineBuild, MachineSpec, check_counts};
use crate::middlebox::{Direction, Middlebox, SeenPacket};
use airtcp_wire::{Dur, Time};
use flow::{FlowState, Visit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Packets cached per flow. Further ones pass uncached, and the fixed host must repair their loss.
    pub cache: u32,
    /// Minimum of the local timer; above it, SRTT + 4·RTTVAR of the wireless side.
    pub local_timeout: Dur,
    /// Local retransmissions of a packet before its loss is left to the fixed host.
    pub local_retries: u32,
    /// Maximum flows remembered. A further one replaces the flow silent for longest.
    pub max_flows: u32,
}

impl Default for Config {
    /// ns-2's constants, but for the number of flows.
    fn default() -> Config {
        Config { cache: 100, local_timeout: Dur::from_millis(100), local_retries: 10, max_flows: 4096 }
    }
}

impl Machine for Config {
    const SPEC: MachineSpec = MachineSpec {
        name: "snoop",
        summary: "The base station resends what the wireless link lost and hides the duplicate ACKs",
        source: "Balakrishnan et al., MobiCom 1995",
        changes: &[],
        has_tcp: false,
    };

    fn check(&self) -> Result<(), String> {
        check_counts(&[
            ("cache", self.cache),
            ("local_retries", self.local_retries),
            ("max_flows", self.max_flows),
        ])?;
        match self.local_timeout {
            Dur::ZERO => Err("local_timeout = 0s: must be above zero".to_owned()),
            _ => Ok(()),
        }
    }

    fn build(&self, _build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        Box::new(Snoop { config: self.clone(), flows: Flows::new(self.max_flows) })
    }
}

struct Snoop {
    config: Config,
    flows: Flows<FlowState>,
}

impl Middlebox for Snoop {
    fn resends(&self) -> bool {
        true
    }

    fn holds(&self) -> bool {
        self.flows.states().any(|flow| !flow.deadline(&self.config).is_never())
    }

    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool {
        // Data towards the mobile host makes a flow known, at whatever point of the flow's life.
        let begins = packet.direction == Direction::Forward && packet.segment.len > 0;
        let new = || FlowState::new(&packet.segment);
        let Some(flow) = self.flows.of_packet(now, packet, begins, new) else { return true };
        let goes_on = flow.handle_packet(Visit { now, packet, config: &self.config, out });
        let (is_over, deadline) = (flow.ending.is_over(), flow.deadline(&self.config));
        match is_over {
            true => self.flows.remove(packet.flow),
            false => self.flows.set_deadline(packet.flow, deadline),
        }
        goes_on
    }

    fn handle_drop(&mut self, now: Time, packet: &SeenPacket) {
        if packet.direction == Direction::Forward
            && let Some(flow) = self.flows.get(now, packet.flow)
        {
            flow.handle_drop(&packet.segment);
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<SeenPacket>) {
        while let Some((id, flow)) = self.flows.pop_due(now) {
            flow.handle_timeout(now, &self.config, out);
            let deadline = flow.deadline(&self.config);
            self.flows.set_deadline(id, deadline);
        }
    }

    fn poll_timeout(&self) -> Time {
        self.flows.next_deadline()
    }
}
