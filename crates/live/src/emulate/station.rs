//! The station in front of the path's wireless link: a base-station machine that only holds packets.

use super::slab::HeldPacket;
use airtcp_proto::Chances;
use airtcp_proto::base_station::{self, BaseStation, MachineBuild};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::scheme::{AtBaseStation, Scheme, keys_of};
use airtcp_sim::scenario::model::Scenario;
use airtcp_wire::ip::{Found, TCP};
use airtcp_wire::{Segment, Time, spelling, tcp};
use std::str::FromStr;

/// A base-station machine with its keys, as a term of a scheme names it. It passes each packet on as it came, now or
/// later: a path of links has no TCP that could do more.
#[derive(Clone, Debug)]
pub struct HoldingMachine {
    term: Box<AtBaseStation>,
}

impl FromStr for HoldingMachine {
    type Err = String;

    fn from_str(text: &str) -> Result<HoldingMachine, String> {
        let name = text.split(':').next().unwrap_or_default().trim();
        let machine = base_station::find(name).filter(|_| !text.contains(['+', '@']));
        let machine = machine.ok_or("name one base-station machine, for example delay-jitter:delay=100ms")?;
        only_holds(&machine)?;
        only_its_own_keys(text, &machine)?;
        let scheme = Scheme::parse(text, "linux").map_err(|error| error.to_string())?;
        let term = scheme.base_station.ok_or("no base-station machine")?;
        Ok(HoldingMachine { term: Box::new(term) })
    }
}

fn only_holds(machine: &BaseStation) -> Result<(), String> {
    let why = match machine {
        BaseStation::DelayJitter(_) => return Ok(()),
        BaseStation::PacketControl(_) => {
            "answers packets itself; `airtcpd filter attach` runs it on a router"
        }
        BaseStation::Split(_) => "ends connections; `airtcpd proxy run` runs it on a router",
        BaseStation::Snoop(_) => "resends data by itself; it runs only in the simulator",
        BaseStation::Eln(_) => "changes packets; it runs only in the simulator",
    };
    Err(format!("{} {why}; here a machine may only hold packets: use delay-jitter", machine.spec().name))
}

/// Refuses keys of the end hosts' stack, which a scheme's term may have.
fn only_its_own_keys(text: &str, machine: &BaseStation) -> Result<(), String> {
    let keys: Vec<String> = keys_of(&machine.schema()).into_iter().map(|key| key.name).collect();
    let keys = || keys.iter().map(String::as_str);
    let mut given = text.split(':').skip(1).filter_map(|pair| pair.split_once('='));
    let Some((key, _)) = given.find(|(key, _)| keys().all(|own| own != key.trim())) else { return Ok(()) };
    let hint = spelling::hint(&spelling::nearest(key.trim(), keys()));
    let allowed = keys().collect::<Vec<_>>().join(", ");
    Err(format!("{}: unknown key `{}`{hint}; allowed: {allowed}", machine.spec().name, key.trim()))
}

/// A machine at its node.
pub struct Station {
    node: u16,
    machine: Box<dyn Middlebox>,
}

impl Station {
    /// Puts `machine` where the scenario has its base station. Its random numbers are those of the simulator's.
    pub fn new(machine: &HoldingMachine, scenario: &Scenario, seed: u64) -> Station {
        let AtBaseStation { machine, tcp } = &*machine.term;
        let chance = Chances::new(seed).chance("base-station.0");
        let machine = machine.build(MachineBuild { tcp, hosts: tcp, chance });
        Station { node: scenario.base_station_node() as u16, machine }
    }

    /// Where it stands.
    pub fn node(&self) -> u16 {
        self.node
    }

    /// Shows the machine a packet, which the emulator knows as `id`. Returns whether the machine holds it. What is no
    /// TCP packet, or a fragment of one, is not shown.
    pub fn holds(&mut self, now: Time, id: u32, packet: &HeldPacket, direction: Direction) -> bool {
        let Some(segment) = segment(packet) else { return false };
        let seen = SeenPacket {
            // Flows that share a hash would only wait for each other.
            flow: FlowId(u64::from(packet.header.flow)),
            direction,
            ecn: packet.header.ecn,
            bytes: packet.header.bytes,
            segment,
            origin: Origin { order: id, ..Origin::default() },
        };
        let mut out = Vec::new();
        let goes_on = self.machine.handle_packet(now, &seen, &mut out);
        debug_assert!(out.is_empty(), "it only holds packets");
        !goes_on
    }

    /// The packets that the machine has held until now.
    pub fn released(&mut self, now: Time) -> impl Iterator<Item = u32> + use<> {
        let mut out = Vec::new();
        self.machine.handle_timeout(now, &mut out);
        out.into_iter().map(|packet| packet.origin.order)
    }

    /// When it will release the next packet.
    pub fn poll_timeout(&self) -> Time {
        self.machine.poll_timeout()
    }
}

/// A station passes on what it cannot vouch for, so checksums do not matter, and nor do options.
fn segment(packet: &HeldPacket) -> Option<Segment> {
    let (_, at) = packet.header.ip?;
    let ip = &packet.bytes[at..];
    let found = Found::read(ip).ok().filter(|found| found.protocol == TCP && !found.is_fragment)?;
    let transport = found.payload(ip)?;
    let (_, segment, header_len) = tcp::decode_captured(transport).ok()?;
    let len = transport.len().checked_sub(header_len)? as u32;
    Some(Segment { len, ..segment })
}
