//! Split connection: I-TCP (Bakre & Badrinath 1995) as a transparent proxy at the base station, which is how paper 003 §IV would deploy its
//! own methods.
//!
//! The proxy answers the fixed host in the mobile host's name and speaks to the mobile host in the fixed host's name, with one connection
//! each. It answers a SYN at once and sends its own SYN on, so that the two sides negotiate independently. If the other host then refuses
//! or does not answer, the first connection is reset.
//!
//! End-to-end semantics are lost (paper 000 §2.3): an acknowledgment says that the proxy, not the other host, has the data, and what the
//! proxy holds is lost if it fails. The RTTs, windows and losses of the two sides are independent except for the proxy's buffer: one side's
//! window shrinks while the other side has not taken what was received.
//!
//! Data towards the wireless link is sent by the term's own stack, data in the other direction by the hosts' stack. A flow whose SYN was
//! not seen passes end to end, and so does one that finds the proxy full.

mod relay;

use super::flows::Flows;
use super::{Machine, MachineBuild, MachineSpec, check_counts};
use crate::Chance;
use crate::middlebox::{Middlebox, SeenPacket};
use crate::tcp::TcpConfig;
use airtcp_wire::{Bytes, Flags, Seq, Time};
use relay::Relay;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Buffer per flow and direction at the proxy: this much received and not yet passed on, and as much passed on
    /// and not yet acknowledged. The advertised window never exceeds it.
    pub buffer: Bytes,
    /// Maximum flows split. Further ones pass end to end.
    pub max_flows: u32,
}

impl Default for Config {
    fn default() -> Config {
        // The largest send buffer that Linux gives a socket unasked (tcp_wmem).
        Config { buffer: Bytes(4 << 20), max_flows: 4096 }
    }
}

impl Machine for Config {
    const SPEC: MachineSpec = MachineSpec {
        name: "split",
        summary: "A transparent proxy at the base station: a TCP connection on each side. Not end to end",
        source: "I-TCP: Bakre & Badrinath, ICDCS 1995; paper 003 §IV",
        changes: &[],
        has_tcp: true,
    };

    fn check(&self) -> Result<(), String> {
        match self.buffer.0 {
            ..4096 => Err(format!("buffer = {}: must be at least 4096 bytes", self.buffer.0)),
            _ => check_counts(&[("max_flows", self.max_flows)]),
        }
    }

    fn build(&self, build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        let bounded = |config: &TcpConfig| TcpConfig {
            receive_window: Bytes(config.receive_window.0.min(self.buffer.0)),
            // What may be passed on and not yet acknowledged is the buffer's own.
            send_buffer: None,
            receive_buffer: build.hosts.receive_buffer,
            ..config.clone()
        };
        Box::new(Split {
            buffer: self.buffer.0,
            // By the direction in which a connection sends. The wireless link lies forward.
            configs: [bounded(build.tcp), bounded(build.hosts)],
            chance: build.chance,
            flows: Flows::new(self.max_flows),
        })
    }
}

struct Split {
    buffer: u64,
    configs: [TcpConfig; 2],
    chance: Chance,
    flows: Flows<Relay>,
}

impl Middlebox for Split {
    fn holds(&self) -> bool {
        self.flows.states().any(Relay::holds)
    }

    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool {
        let flags = packet.segment.flags;
        let opens = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        if opens && self.flows.get(now, packet.flow).is_none() && !self.flows.is_full() {
            let relay = self.open(now, packet);
            self.flows.get_or_insert_with(now, packet.flow, || relay);
        }
        let Some(relay) = self.flows.get(now, packet.flow) else { return true };
        relay.handle_packet(now, packet);
        relay.pump(now, self.buffer, out);
        let (is_over, deadline) = (relay.is_over(), relay.poll_timeout());
        match is_over {
            true => self.flows.remove(packet.flow),
            false => self.flows.set_deadline(packet.flow, deadline),
        }
        false
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<SeenPacket>) {
        while let Some((id, relay)) = self.flows.pop_due(now) {
            relay.handle_timeout(now);
            relay.pump(now, self.buffer, out);
            let (is_over, deadline) = (relay.is_over(), relay.poll_timeout());
            match is_over {
                true => self.flows.remove(id),
                false => self.flows.set_deadline(id, deadline),
            }
        }
    }

    fn poll_timeout(&self) -> Time {
        self.flows.next_deadline()
    }
}

impl Split {
    fn open(&mut self, now: Time, syn: &SeenPacket) -> Relay {
        let mut draw = || (Seq(self.chance.u32()), self.chance.u64());
        let draws = [draw(), draw()];
        Relay::new(now, syn, &self.configs, draws)
    }
}
