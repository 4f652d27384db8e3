//! The gateways of a circuit as daemons.

use super::counters::{ReceivingCounters, SendingCounters};
use super::counting::{Counted, DataCounter};
use super::gateway::{HandOn, ReceivingGateway, SendingGateway};
use super::serve::serve;
use super::socket::Socket;
use super::{ReceivingNode, SendingNode};
use crate::daemon::{Metrics, Service, Stop};
use crate::emulate::{Clock, PacketSocket, Prefix};
use crate::namespace::detour::{Detour, PASS_MARK};
use crate::namespace::leftovers::{Change, RecordedChange};
use crate::namespace::{link_mtu, sysctl};
use crate::stack::random;
use crate::tun::{DUMMY, LONGEST_MTU, OffloadTun, PacketDevice};
use crate::warn;
use airtcp_proto::circuit::{Config, REPAIR_ROOM};
use airtcp_proto::tcp::TcpConfig;
use airtcp_proto::{Chance, Chances};
use airtcp_wire::circuit::{Key, Mark};
use airtcp_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN};
use anyhow::ensure;
use caps::Capability;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// The daemons' name.
pub const NAME: &str = "circuit";

const UDP_HEADER_LEN: usize = 8;

/// Less than an IPv4 device must have (RFC 791 §3.2) is of no use.
const LEAST_MTU: u16 = 576;

/// The sending gateway.
pub struct SendingService {
    /// The receiving gateway.
    pub to: SocketAddr,
    /// Packets for these prefixes go through the circuit.
    pub prefixes: Vec<Prefix>,
    pub device: String,
    /// Packets that may wait for room in the tunnel queue.
    pub queue: u32,
    pub circuit: Config,
    pub tcp: TcpConfig,
    /// Of header packets.
    pub mark: Mark,
    pub key: Key,
    pub counters: Arc<SendingCounters>,
}

/// The receiving gateway.
pub struct ReceivingService {
    pub listen: SocketAddr,
    /// Data that has been rebuilt comes in by this device.
    pub device: String,
    /// Packets for these come through the circuit, on the link that has the address of `listen`, and are counted. If
    /// empty, nothing is counted.
    pub prefixes: Vec<Prefix>,
    pub tcp: TcpConfig,
    pub key: Key,
    pub counters: Arc<ReceivingCounters>,
}

/// What the sending worker serves with.
pub struct SendingDoors {
    device: OffloadTun,
    /// Of the link towards the receiving gateway, in bytes.
    mtu: u16,
    socket: Socket,
    chance: Chance,
}

/// What the receiving worker serves with.
pub struct ReceivingDoors {
    socket: Socket,
    /// The link on which data is counted.
    counts: Option<PacketSocket>,
    /// Where data goes that has been rebuilt.
    outlet: Option<HandOn>,
    chance: Chance,
}

/// What routes packets into the device. Undone when this value is dropped.
pub struct SendingRules {
    _detour: RecordedChange,
    _reverse_path: Option<RecordedChange>,
}

impl Service for SendingService {
    const NAME: &'static str = NAME;
    type Doors = SendingDoors;
    type Rules = SendingRules;

    fn set_up(&self) -> anyhow::Result<(SendingDoors, SendingRules)> {
        let (local, link) = way_to(self.to)?;
        let socket = bind(any_port(local))?;
        let mtu = link_mtu(&link)?;
        let room = if self.circuit.fec.repairs_data() { REPAIR_ROOM as u16 } else { 0 };
        let device = open_device(&self.device, mtu.saturating_sub(room).max(LEAST_MTU))?;
        device.limit_queue(self.queue)?;
        let reverse_path = loosen(&link)?;
        let detour = Detour::new(&self.device, &self.prefixes)?;
        let record = RecordedChange::of(Change::Detour(detour.clone()))?;
        detour.add(local)?;
        let doors = SendingDoors { device, mtu, socket, chance: chance()? };
        Ok((doors, SendingRules { _detour: record, _reverse_path: reverse_path }))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        Ok(vec![])
    }

    fn metrics(&self) -> Arc<dyn Metrics> {
        Arc::clone(&self.counters) as Arc<dyn Metrics>
    }

    fn serve(&self, doors: SendingDoors, stop: Stop) -> io::Result<()> {
        let clock = Clock::start();
        let SendingDoors { device, mtu, socket, chance } = doors;
        let (config, tcp, key) = (self.circuit.clone(), self.tcp.clone(), self.key.clone());
        let vmss = config.vmss.0 as usize;
        let node = SendingNode::new(config, tcp, key, chance, clock.now()).map_err(io::Error::other)?;
        let node = node.with_repairs_within(payload_within(mtu, self.to.ip()));
        let mut gateway = SendingGateway::new(node, vmss, device, socket, self.to).marking(self.mark);
        serve(&mut gateway, &clock, stop, &self.counters)
    }
}

impl Service for ReceivingService {
    const NAME: &'static str = NAME;
    type Doors = ReceivingDoors;
    type Rules = ();

    fn set_up(&self) -> anyhow::Result<(Self::Doors, ())> {
        let socket = bind(self.listen)?;
        let counts = (!self.prefixes.is_empty()).then(|| open_link(self.listen.ip())).transpose()?;
        let outlet = counts.as_ref().and_then(|_| self.outlet());
        Ok((ReceivingDoors { socket, counts, outlet, chance: chance()? }, ()))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        Ok(vec![])
    }

    fn metrics(&self) -> Arc<dyn Metrics> {
        Arc::clone(&self.counters) as Arc<dyn Metrics>
    }

    fn serve(&self, doors: ReceivingDoors, stop: Stop) -> io::Result<()> {
        let ReceivingDoors { socket, counts, outlet, chance } = doors;
        let clock = Clock::start();
        let node = ReceivingNode::new(self.tcp.clone(), self.key.clone(), chance);
        let mut gateway = ReceivingGateway::new(node, socket);
        if let Some(link) = counts {
            let (prefixes, gateways) = (self.prefixes.clone(), self.listen.port());
            gateway =
                gateway.counting(DataCounter::new(link, Counted { prefixes, port: None, gateway: gateways }));
        }
        if let Some(outlet) = outlet {
            gateway = gateway.rebuilding(outlet);
        }
        serve(&mut gateway, &clock, stop, &self.counters)
    }
}

impl ReceivingService {
    /// Where rebuilt data goes. A host without TUN serves circuits whose data is not repaired.
    fn outlet(&self) -> Option<HandOn> {
        let opened = open_outlet(&self.device);
        opened
            .inspect_err(|error| {
                warn!("warning: {}: {error}; lost data will not be rebuilt here", self.device)
            })
            .ok()
    }
}

pub fn chance() -> io::Result<Chance> {
    Ok(Chances::new(u64::from_ne_bytes(random()?)).chance("circuit"))
}

/// Opens a device that data enters and leaves, in the network namespace of the calling thread. `mtu` in bytes.
///
/// # Errors
/// The kernel's.
pub fn open_device(name: &str, mtu: u16) -> io::Result<OffloadTun> {
    let device = OffloadTun::open(name, DUMMY, 32, mtu)?;
    // Packets from the device have addresses of other hosts, or this host's own.
    for (key, value) in [("rp_filter", "2"), ("accept_local", "1"), ("forwarding", "1")] {
        sysctl::set(&format!("net.ipv4.conf.{name}.{key}"), value)?;
    }
    Ok(device)
}

/// Opens a device by which rebuilt packets reach the kernel, in the network namespace of the calling thread.
///
/// # Errors
/// The kernel's.
pub fn open_outlet(name: &str) -> io::Result<HandOn> {
    let mut device = open_device(name, LONGEST_MTU)?;
    Ok(Box::new(move |packet| {
        // What the kernel does not take is lost, as on any link.
        let _ = device.send(packet);
    }))
}

/// The longest payload in bytes of a datagram to `peer` that fits a packet of `mtu` bytes.
pub fn payload_within(mtu: u16, peer: IpAddr) -> usize {
    let headers = if peer.is_ipv4() { IPV4_HEADER_LEN } else { IPV6_HEADER_LEN } + UDP_HEADER_LEN;
    usize::from(mtu).saturating_sub(headers)
}

/// Routes a prefix into a device, as a sending gateway does, and undoes all of it, in the network namespace of the
/// calling thread, which must have no device of this name.
///
/// # Errors
/// The kernel's.
pub fn try_detour() -> io::Result<()> {
    let device = "airctry";
    let _device = open_device(device, 1500)?;
    let prefix: Prefix = "192.0.2.0/24".parse().expect("a prefix (RFC 5737)");
    let detour = Detour::new(device, &[prefix])?;
    detour.add(Ipv4Addr::LOCALHOST.into())?;
    detour.remove()
}

/// Any address and port of this address's family.
pub fn any_port(like: IpAddr) -> SocketAddr {
    let any = if like.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    SocketAddr::new(any, 0)
}

/// Opens a socket whose datagrams no circuit takes for data.
///
/// # Errors
/// The kernel's.
pub fn bind(at: SocketAddr) -> io::Result<Socket> {
    let in_context = |error: io::Error| io::Error::new(error.kind(), format!("{at}: {error}"));
    let socket = Socket::bind(at).map_err(in_context)?;
    setsockopt(&socket, sockopt::Mark, &PASS_MARK)?;
    Ok(socket)
}

/// Returns this host's address on the route to `peer`, and the interface that has it.
pub fn way_to(peer: SocketAddr) -> io::Result<(IpAddr, String)> {
    let socket = UdpSocket::bind(any_port(peer.ip()))?;
    let in_context = |error: io::Error| io::Error::new(error.kind(), format!("no route to {peer}: {error}"));
    setsockopt(&socket, sockopt::Mark, &PASS_MARK)?;
    socket.connect(peer).map_err(in_context)?;
    let local = socket.local_addr()?.ip();
    Ok((local, interface_of(local)?))
}

/// Returns the interface that has this address.
fn interface_of(local: IpAddr) -> io::Result<String> {
    let interface = getifaddrs()?.find(|found| {
        let v4 =
            found.address.as_ref().and_then(|address| address.as_sockaddr_in()).map(|at| IpAddr::V4(at.ip()));
        let v6 = found
            .address
            .as_ref()
            .and_then(|address| address.as_sockaddr_in6())
            .map(|at| IpAddr::V6(at.ip()));
        v4.or(v6) == Some(local)
    });
    let interface = interface.ok_or_else(|| io::Error::other(format!("no interface has {local}")))?;
    Ok(interface.interface_name)
}

/// Opens the link that has this address.
fn open_link(local: IpAddr) -> anyhow::Result<PacketSocket> {
    ensure!(
        !local.is_unspecified(),
        "to count packets, listen on the address of the link they arrive on, not on {local}"
    );
    let name = interface_of(local)?;
    let is_ethernet = getifaddrs()?.any(|found| {
        let link = found.address.as_ref().and_then(|address| address.as_link_addr());
        found.interface_name == name && link.is_some_and(|link| link.hatype() == libc::ARPHRD_ETHER)
    });
    ensure!(
        is_ethernet,
        "packets can be counted only on Ethernet links, and {name} is not one: leave out --prefix"
    );
    Ok(PacketSocket::open(if_nametoindex(name.as_str())?)?)
}

/// Packets from the prefixes come in on this link, but the route to them leads to the device. Strict reverse path
/// filtering would drop them, and is loosened here.
fn loosen(link: &str) -> io::Result<Option<RecordedChange>> {
    let name = |whose: &str| format!("net.ipv4.conf.{}.rp_filter", whose.replace('.', "/"));
    let is_strict = sysctl::get(&name("all"))?.max(sysctl::get(&name(link))?) == "1";
    if is_strict { RecordedChange::of_sysctl(&name(link), "2") } else { Ok(None) }
}
