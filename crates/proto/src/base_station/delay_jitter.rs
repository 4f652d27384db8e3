//! The delay-jitter algorithm (Klein et al., GLOBECOM 2004): some packets are delayed on purpose, so that RTTVAR, and with
//! it the RTO, grows more than the mean round trip does.

use super::{Machine, MachineBuild, MachineSpec};
use crate::Stream;
use crate::middlebox::{Middlebox, TcpPacket};
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Share of the data packets that are delayed, 0 to 1.
    pub probability: f64,
    /// By how much. With independent choices the mean grows by p·D and the mean deviation by 2·p·(1−p)·D.
    pub delay: Dur,
}

impl Default for Config {
    fn default() -> Config {
        Config { probability: 0.1, delay: Dur::from_millis(200) }
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
        Box::new(DelayJitter { config: self.clone(), stream: build.stream, held: VecDeque::new() })
    }
}

/// A delayed packet holds up those behind it: the algorithm must not reorder.
struct DelayJitter {
    config: Config,
    stream: Stream,
    held: VecDeque<(Time, TcpPacket)>,
}

impl Middlebox for DelayJitter {
    fn handle_packet(&mut self, now: Time, packet: TcpPacket, out: &mut Vec<TcpPacket>) {
        if packet.segment.len == 0 {
            return out.push(packet);
        }
        let is_chosen = self.stream.f64() < self.config.probability;
        let due = if is_chosen { now + self.config.delay } else { now };
        let last = self.held.back().map_or(now, |(due, _)| *due);
        match due.max(last) {
            due if due == now && self.held.is_empty() => out.push(packet),
            due => self.held.push_back((due, packet)),
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<TcpPacket>) {
        while let Some((due, packet)) = self.held.front().copied()
            && due <= now
        {
            out.push(packet);
            self.held.pop_front();
        }
    }

    fn poll_timeout(&self) -> Time {
        self.held.front().map_or(Time::NEVER, |(due, _)| *due)
    }
}
