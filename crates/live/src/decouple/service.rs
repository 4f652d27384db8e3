//! Decoupling as a daemon.

use super::Counters;
use super::program::{Group, Program};
use super::redirection::{Redirection, first_host};
use crate::circuit::{
    GatewayThread, Sending, SendingGateway, SendingNode, Socket, any_port, bind, chance, payload_within,
    way_to,
};
use crate::daemon::{Metrics, Service, Stop};
use crate::emulate::{Clock, Prefix};
use crate::namespace::link_mtu;
use crate::proxy::{self, Config, Doors, Outgoing};
use airtcp_proto::Chance;
use airtcp_proto::circuit;
use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::circuit::{Key, Mark};
use caps::Capability;
use nix::poll::{PollFd, PollFlags, poll};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;

/// The daemons' name.
pub const NAME: &str = "decouple";

/// Connections wait for the circuit through this many polls, of this many milliseconds each. Then they go without it.
const LOOK_MS: u16 = 5;
const LOOKS: usize = 600;

pub struct Decoupling {
    /// The circuit's receiver.
    pub receiver: SocketAddr,
    /// Connections to these are carried.
    pub prefixes: Vec<Prefix>,
    /// If there is a program, only its connections are carried.
    pub program: Option<Program>,
    pub circuit: circuit::Config,
    /// Configuration of the control TCPs.
    pub tcp: TcpConfig,
    /// Of header packets.
    pub mark: Mark,
    pub key: Key,
    /// Its own machine is the data TCP.
    pub proxy: Config,
    pub counters: Counters,
}

/// What the worker serves with.
pub struct Entrance {
    doors: Doors,
    outgoing: Outgoing,
    /// Of the link towards the circuit's receiver, in bytes.
    mtu: u16,
    /// What the packets leave with as source.
    masks: Vec<IpAddr>,
    socket: Socket,
    chance: Chance,
}

/// What is undone at the end.
pub struct Rules {
    // Dropped first, so that the processes of the group end last.
    way: Redirection,
    group: Option<Group>,
}

impl Service for Decoupling {
    const NAME: &'static str = NAME;
    type Doors = Entrance;
    type Rules = Rules;

    fn set_up(&self) -> anyhow::Result<(Entrance, Rules)> {
        let (local, link) = way_to(self.receiver)?;
        let (socket, mtu) = (bind(any_port(local))?, link_mtu(&link)?);
        let group = self.program.as_ref().map(|_| Group::make()).transpose()?;
        let (way, entrances) = Redirection::install(self.receiver, &self.prefixes, group.as_ref())?;
        let mut doors = Doors::redirected(entrances.listeners, entrances.device, entrances.link);
        doors.circuit = Some(Arc::clone(&self.counters.circuit));
        let outgoing = doors.through_circuit(None)?;
        let masks = masks(local, &self.prefixes);
        Ok((Entrance { doors, outgoing, mtu, masks, socket, chance: chance()? }, Rules { way, group }))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        proxy::kept_rights(&self.proxy)
    }

    fn take_no_more(rules: &mut Rules) {
        rules.way.take_no_more();
    }

    fn command(&self, rules: &Rules) -> anyhow::Result<Option<Command>> {
        self.program
            .as_ref()
            .zip(rules.group.as_ref())
            .map(|(program, group)| program.command(group))
            .transpose()
    }

    fn metrics(&self) -> Arc<dyn Metrics> {
        Arc::new(self.counters.clone())
    }

    fn serve(&self, entrance: Entrance, stop: Stop) -> io::Result<()> {
        let Entrance { doors, outgoing, mtu, masks, socket, chance } = entrance;
        let clock = Clock::start();
        let (config, tcp, key) = (self.circuit.clone(), self.tcp.clone(), self.key.clone());
        let vmss = config.vmss.0 as usize;
        let node = SendingNode::new(config, tcp, key, chance, clock.now()).map_err(io::Error::other)?;
        let node = node.for_data_tcps().with_repairs_within(payload_within(mtu, self.receiver.ip()));
        let gateway = SendingGateway::new(node, vmss, outgoing, socket, self.receiver)
            .marking(self.mark)
            .masked_as(masks);
        let _circuit = GatewayThread::begin(gateway, clock, Arc::clone(&self.counters.circuit))?;
        self.await_circuit(&stop)?;
        proxy::serve(&self.proxy, doors, stop, &self.counters.proxy)
    }
}

/// This host's address of each family on the way to the prefixes. The circuit's receiver sees `local`.
fn masks(local: IpAddr, prefixes: &[Prefix]) -> Vec<IpAddr> {
    let others = prefixes.iter().filter_map(first_host).filter(|host| host.is_ipv4() != local.is_ipv4());
    let other = others.filter_map(|host| Some(way_to(SocketAddr::new(host, 9)).ok()?.0)).next();
    [local].into_iter().chain(other).collect()
}

impl Decoupling {
    fn await_circuit(&self, stop: &Stop) -> io::Result<()> {
        for _ in 0..LOOKS {
            // Interrupted means told, too.
            let is_told = poll(&mut [PollFd::new(stop.as_fd(), PollFlags::POLLIN)], LOOK_MS) != Ok(0);
            if is_told || self.counters.circuit.get(Sending::Open) == 1 {
                return Ok(());
            }
        }
        tracing::warn!("the circuit's receiver at {} does not answer: connections go without", self.receiver);
        Ok(())
    }
}
