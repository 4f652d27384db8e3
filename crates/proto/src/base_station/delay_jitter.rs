//! The delay-jitter algorithm (Klein, Leung, Parkinson and Samuel, GLOBECOM 2004): some packets are delayed on purpose, so that RTTVAR,
//! and with it the RTO, grows more than the mean round trip does.
//!
//! Of the ways to inject delay, this is the simplest: each data packet to the mobile host is chosen independently with probability p and
//! delayed by D. On a path of constant delay, the mean round trip then grows by p·D and its mean deviation by 2·p·(1−p)·D (our
//! derivation). That holds if packets are further apart than D, or with `overtaking`. Otherwise a packet waits for the delayed one before
//! it, so that the mean grows more and the deviation less. But if the base station reorders packets, the fixed host sees losses.

use super::{Machine, MachineBuild, MachineSpec};
use crate::Chance;
use crate::middlebox::{Direction, FlowId, Middlebox, SeenPacket};
use airtcp_wire::{Dur, Flags, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Share of the data packets towards the mobile host that are delayed, 0 to 1: p.
    pub probability: f64,
    /// By how much: D.
    pub delay: Dur,
    /// Whether packets may overtake a delayed one of their flow. Otherwise they wait for it.
    pub overtaking: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { probability: 0.1, delay: Dur::from_millis(200), overtaking: false }
    }
}

impl Machine for Config {
    const SPEC: MachineSpec = MachineSpec {
        name: "delay-jitter",
        summary: "The base station delays some packets, so that the RTO absorbs the link's own variation",
        source: "Klein et al., GLOBECOM 2004",
        changes: &[],
        has_tcp: false,
    };

    fn check(&self) -> Result<(), String> {
        match (0.0..=1.0).contains(&self.probability) {
            true => Ok(()),
            false => Err(format!("probability = {}: must be 0 to 1", self.probability)),
        }
    }

    fn build(&self, build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        Box::new(DelayJitter {
            config: self.clone(),
            chance: build.chance,
            held: BTreeMap::new(),
            arrivals: 0,
            flows: BTreeMap::new(),
        })
    }
}

/// Packets of one flow leave in the order in which they came, unless `overtaking`.
struct DelayJitter {
    config: Config,
    chance: Chance,
    /// Held packets by the time at which they leave, then by order of arrival.
    held: BTreeMap<(Time, u64), SeenPacket>,
    arrivals: u64,
    /// For each flow with held packets: their number, and when the last of them leaves.
    flows: BTreeMap<FlowId, (u32, Time)>,
}

impl Middlebox for DelayJitter {
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, _out: &mut Vec<SeenPacket>) -> bool {
        // The FIN must not come before the data.
        let is_data = packet.segment.len > 0 || packet.segment.flags.contains(Flags::FIN);
        if packet.direction == Direction::Reverse || !is_data {
            return true;
        }
        let is_chosen = self.chance.happens(self.config.probability);
        let own = if is_chosen { now + self.config.delay } else { now };
        let due = match self.flows.get(&packet.flow) {
            Some((_, last)) if !self.config.overtaking => own.max(*last),
            _ => own,
        };
        // A packet that is due now may have to wait behind another one that is.
        if due == now && (self.config.overtaking || !self.flows.contains_key(&packet.flow)) {
            return true;
        }
        let (held, last) = self.flows.entry(packet.flow).or_default();
        *held += 1;
        *last = due.max(*last);
        self.held.insert((due, self.arrivals), *packet);
        self.arrivals += 1;
        false
    }

    fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<SeenPacket>) {
        while let Some(entry) = self.held.first_entry()
            && entry.key().0 <= now
        {
            let packet = entry.remove();
            out.push(packet);
            if let Entry::Occupied(mut flow) = self.flows.entry(packet.flow) {
                flow.get_mut().0 -= 1;
                if flow.get().0 == 0 {
                    flow.remove();
                }
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.held.first_key_value().map_or(Time::NEVER, |((due, _), _)| *due)
    }
}
