//! rtnetlink: links, addresses and routes of the calling thread's network namespace.
//!
//! Requests are typed. Answers stay bytes ([`Message`]), of which only what is needed is read: a host may have routes,
//! links and attributes that nobody here knows, and none of them may keep anything from working.

mod attributes;
mod link;
mod message;
pub mod route;

pub use attributes::Attributes;
pub use link::{Link, Qdisc};
pub use message::{Message, kind};
pub use route::Route;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::net::if_::if_nametoindex;
use std::io;
use std::net::Ipv4Addr;

/// The index that loopback has in every namespace.
pub const LOOPBACK: u32 = 1;

/// A socket to the namespace in which the calling thread is when it opens it.
pub struct Netlink(Socket);

impl Netlink {
    /// # Errors
    /// The kernel's.
    pub fn open() -> io::Result<Netlink> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink(socket))
    }

    /// Sets flags of the link with this index, such as up.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set(&self, index: u32, flags: LinkFlags) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = flags;
        link.header.change_mask = flags;
        self.change(RouteNetlinkMessage::SetLink(link))
    }

    /// Waits until a link that has found its carrier sends, rather than drops. Before the kernel answers, it
    /// does work on the link that it would otherwise do later (since Linux 6.8).
    ///
    /// # Errors
    /// The kernel's.
    pub fn await_carrier(&self, index: u32) -> io::Result<()> {
        self.link(index).map(|_| ())
    }

    /// The link with this index.
    ///
    /// # Errors
    /// The kernel's.
    pub fn link(&self, index: u32) -> io::Result<Link> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        let answers = self.ask(RouteNetlinkMessage::GetLink(link), NLM_F_ACK)?;
        let found = answers.into_iter().find(|answer| answer.kind == kind::NEWLINK);
        found.map(Link).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "an answer without a link"))
    }

    /// The name of the link with this index.
    ///
    /// # Errors
    /// The kernel's.
    pub fn name(&self, index: u32) -> io::Result<String> {
        let name = self.link(index)?.name();
        name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a link without a name"))
    }

    /// The IPv4 addresses of all links.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&self) -> io::Result<Vec<Ipv4Addr>> {
        let mut all = AddressMessage::default();
        all.header.family = AddressFamily::Inet;
        let answers = self.dump(RouteNetlinkMessage::GetAddress(all))?;
        let addresses = answers.iter().filter(|answer| answer.kind == kind::NEWADDR);
        Ok(addresses.filter_map(own_address).collect())
    }

    /// Routes everything that has no other route out of the link with this name.
    ///
    /// # Errors
    /// The kernel's.
    pub fn route_all(&self, device: &str) -> io::Result<()> {
        let mut route = RouteMessage::default();
        route.header.address_family = AddressFamily::Inet;
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.header.protocol = RouteProtocol::Static;
        route.header.scope = RouteScope::Link;
        route.header.kind = RouteType::Unicast;
        route.attributes = vec![RouteAttribute::Oif(if_nametoindex(device)?)];
        self.change(RouteNetlinkMessage::NewRoute(route))
    }

    /// Requests a change. What is to be added must not exist.
    ///
    /// # Errors
    /// The kernel's.
    pub fn change(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.ask(message, flags).map(|_| ())
    }

    /// Replaces the route with the same prefix, TOS and priority.
    ///
    /// # Errors
    /// The kernel's.
    pub fn replace(&self, mut route: Route) -> io::Result<()> {
        route.ask_for();
        self.ask(route.0, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE).map(drop)
    }

    /// Requests a removal.
    ///
    /// # Errors
    /// The kernel's.
    pub fn remove(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        self.ask(message, NLM_F_REQUEST | NLM_F_ACK).map(|_| ())
    }

    /// All entries of a table.
    ///
    /// # Errors
    /// The kernel's.
    pub fn dump(&self, message: RouteNetlinkMessage) -> io::Result<Vec<Message>> {
        self.ask(message, NLM_F_DUMP)
    }

    /// Sends a request, and gathers the answers up to the acknowledgment or the end of the dump.
    ///
    /// # Errors
    /// The kernel's; invalid data for an answer that is cut short.
    fn ask<M: NetlinkSerializable>(&self, message: M, flags: u16) -> io::Result<Vec<Message>> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let mut answers = Vec::new();
        loop {
            let (datagram, _) = self.0.recv_from_full()?;
            if message::gather(&datagram, &mut answers)? {
                return Ok(answers);
            }
        }
    }
}

/// IFA_LOCAL: this end's address, where IFA_ADDRESS may be the peer's.
fn own_address(address: &Message) -> Option<Ipv4Addr> {
    const IFA_LOCAL: u16 = 2;
    let bytes: [u8; 4] = address.attributes.get(IFA_LOCAL)?.try_into().ok()?;
    Some(bytes.into())
}
