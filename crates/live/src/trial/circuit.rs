//! The gateways of a run's TCP circuits. Each serves on a thread of its own.

use super::circuit_book::CircuitBook;
use super::forms::Circuit;
use super::meter::MeteredPacket;
pub use crate::circuit::GatewayThread;
use crate::circuit::{
    Counted, DataCounter, Gateway, ReceivingGateway, ReceivingNode, SendingGateway, SendingNode, Socket,
    bind, chance, open_device, open_outlet,
};
use crate::emulate::{Clock, PacketSocket, Prefix};
use crate::namespace::Namespace;
use crate::namespace::detour::Detour;
use crate::proxy::Outgoing;
use crate::tun::PacketDevice;
use airtcp_proto::circuit::REPAIR_ROOM;
use airtcp_wire::Time;
use airtcp_wire::circuit::{Key, PORTS};
use nix::net::if_::if_nametoindex;
use nix::poll::PollFd;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The key does not matter: both ends are this run's, and nobody else is on its path.
fn key() -> Key {
    Key::new([0; 16])
}

/// Most circuits of a run.
pub const MOST: u64 = 1 + (*PORTS.end() - *PORTS.start()) as u64;

/// Number of the circuit that a port belongs to.
pub fn number_at(port: u16) -> Option<usize> {
    PORTS.contains(&port).then(|| usize::from(port - PORTS.start()))
}

/// A circuit from one address to another.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Number among the run's circuits.
    pub number: usize,
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
}

impl Route {
    fn gateway(&self) -> SocketAddr {
        SocketAddr::new(self.to.into(), PORTS.start() + self.number as u16)
    }

    fn caller(&self) -> SocketAddr {
        SocketAddr::new(self.from.into(), 0)
    }
}

/// Sends a data TCP's packets through a circuit.
///
/// # Errors
/// The kernel's.
pub fn send(
    namespace: &Namespace,
    outgoing: Outgoing,
    circuit: &Circuit,
    route: Route,
    book: &CircuitBook,
) -> io::Result<GatewayThread> {
    let socket = namespace.run(|| Socket::bind(route.caller()))??;
    let clock = Clock::start();
    let node = node(circuit, clock)?.for_data_tcps();
    let window = outgoing.window();
    let mut gateway = SendingGateway::new(node, vmss(circuit), outgoing, socket, route.gateway());
    if circuit.config.repeats_first() {
        gateway = gateway.telling(window, circuit.tcp.packet_size);
    }
    serve_watched(gateway, clock, book)
}

/// Sends packets for these prefixes through a circuit. Those that find the tunnel queue full are lost.
///
/// # Errors
/// The kernel's.
pub fn send_trunk(
    namespace: &Namespace,
    circuit: &Circuit,
    route: Route,
    prefixes: &[Prefix],
    mtu_bytes: u32,
    book: &CircuitBook,
) -> io::Result<GatewayThread> {
    let name = format!("airc{}", route.number);
    let (device, socket) = namespace.run(|| -> io::Result<_> {
        let room = if circuit.config.fec.repairs_data() { REPAIR_ROOM } else { 0 };
        let device = open_device(&name, (mtu_bytes - room) as u16)?;
        Detour::new(&name, prefixes)?.add(route.from.into())?;
        Ok((device, bind(route.caller())?))
    })??;
    let clock = Clock::start();
    let node = node(circuit, clock)?;
    let told = book.clone();
    let gateway = SendingGateway::new(node, vmss(circuit), device, socket, route.gateway()).shedding(
        Box::new(move |packet| MeteredPacket::read(packet).into_iter().for_each(|it| told.shed(it))),
    );
    serve_watched(gateway, clock, book)
}

/// Answers, and counts packets for these prefixes on a device of the namespace, only those to one port if it is
/// named.
///
/// # Errors
/// The kernel's.
pub fn receive(
    namespace: &Namespace,
    circuit: &Circuit,
    route: Route,
    device: &str,
    (prefixes, port): (Vec<Prefix>, Option<u16>),
) -> io::Result<GatewayThread> {
    let (socket, link, outlet) = namespace.run(|| -> io::Result<_> {
        let outlet = open_outlet(&format!("airr{}", route.number))?;
        Ok((Socket::bind(route.gateway())?, PacketSocket::open(if_nametoindex(device)?)?, outlet))
    })??;
    let node = ReceivingNode::new(circuit.tcp.as_ref().clone(), key(), chance()?);
    let counted = Counted { prefixes, port, gateway: route.gateway().port() };
    let counter = DataCounter::new(link, counted);
    let gateway = ReceivingGateway::new(node, socket).counting(counter).rebuilding(outlet);
    let clock = Clock::start();
    GatewayThread::begin(gateway, clock, Arc::default())
}

fn node(circuit: &Circuit, clock: Clock) -> io::Result<SendingNode> {
    let (config, tcp) = (circuit.config.clone(), circuit.tcp.as_ref().clone());
    SendingNode::new(config, tcp, key(), chance()?, clock.now()).map_err(io::Error::other)
}

fn vmss(circuit: &Circuit) -> usize {
    circuit.config.vmss.0 as usize
}

fn serve_watched<D: PacketDevice + Send + 'static>(
    gateway: SendingGateway<D, Socket>,
    clock: Clock,
    book: &CircuitBook,
) -> io::Result<GatewayThread> {
    GatewayThread::begin(Watched { gateway, clock }, clock, Arc::new(book.clone()))
}

/// A sending gateway that reports to a book.
struct Watched<D> {
    gateway: SendingGateway<D, Socket>,
    clock: Clock,
}

impl<D: PacketDevice> Gateway for Watched<D> {
    type Counters = CircuitBook;

    fn turn(&mut self, clock: &Clock) -> io::Result<bool> {
        Gateway::turn(&mut self.gateway, clock)
    }

    fn poll_timeout(&self) -> Time {
        self.gateway.poll_timeout()
    }

    fn waits_for(&self) -> Vec<PollFd<'_>> {
        self.gateway.waits_for()
    }

    fn publish(&self, book: &CircuitBook) {
        book.record(self.clock.now(), &self.gateway.counts, self.gateway.node.controls());
    }
}
