//! Interfaces whose other end the emulator holds.
//!
//! A host sees one end of a veth pair. The other end is alone in a namespace that lasts as long as the packet socket
//! there. When the process ends, killed or not, the kernel removes the pair.

use super::ethtool;
use crate::emulate::PacketSocket;
use airtcp_kernel::namespace::{Namespace, sysctl, with_context};
use airtcp_kernel::netlink::Netlink;
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::net::if_::if_nametoindex;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};

/// All hosts' ends have this locally administered address, and use no ARP. A host sends to its own address, and the
/// frame is for whichever host it reaches. So only the hosts' own packets are on the path.
const ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// Name of the end that no host sees.
const FAR_END: &str = "end0";

/// A host's interface.
#[derive(Clone, Copy, Debug)]
pub struct Veth<'a> {
    pub name: &'a str,
    pub address: Ipv4Addr,
    /// Prefix length of the subnet that is reached through the interface.
    pub prefix: u8,
    /// In bytes.
    pub mtu: u16,
}

impl Veth<'_> {
    /// Makes this interface in `namespace`, up and for IPv4 alone. The returned socket receives what the host sends
    /// there, and the host receives what the socket sends. The interface is gone soon after the socket is dropped.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_ADMIN and CAP_NET_RAW, permission denied.
    pub fn make_in(&self, namespace: &Namespace) -> io::Result<PacketSocket> {
        let make = || -> io::Result<PacketSocket> {
            let alone = Namespace::new()?;
            without_ipv6(&alone, "default")?;
            namespace.run(|| self.make(&alone))??;
            without_ipv6(namespace, self.name)?;
            // The end that comes up last sends at once. The other one has to wait for its carrier.
            let end = alone.run(far_end)??;
            namespace.run(|| self.set_up())??;
            alone.run(|| Netlink::open()?.await_carrier(if_nametoindex(FAR_END)?))??;
            Ok(end)
        };
        make().map_err(|error| {
            let hint = match error.raw_os_error() {
                Some(libc::EOPNOTSUPP) => " (modprobe veth)",
                _ => "",
            };
            with_context(error, &format!("the veth pair {}{hint}", self.name))
        })
    }

    fn make(&self, alone: &Namespace) -> io::Result<()> {
        let mtu = LinkAttribute::Mtu(self.mtu.into());
        let mut far = LinkMessage::default();
        let place = LinkAttribute::NetNsFd(alone.as_fd().as_raw_fd());
        far.attributes = vec![LinkAttribute::IfName(FAR_END.to_owned()), mtu.clone(), place];
        let mut near = LinkMessage::default();
        near.attributes = vec![
            LinkAttribute::IfName(self.name.to_owned()),
            LinkAttribute::Address(ADDRESS.to_vec()),
            mtu,
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
            ]),
        ];
        Netlink::open()?.change(RouteNetlinkMessage::NewLink(near))
    }

    fn set_up(&self) -> io::Result<()> {
        let netlink = Netlink::open()?;
        let index = if_nametoindex(self.name)?;
        let mut address = AddressMessage::default();
        address.header.family = AddressFamily::Inet;
        address.header.prefix_len = self.prefix;
        address.header.index = index;
        // Before Linux 6.2 a packet socket cannot describe such a datagram, so that the kernel is to cut it.
        ethtool::turn_off(self.name, "tx-udp-segmentation")?;
        let own = self.address.into();
        address.attributes = vec![AddressAttribute::Local(own), AddressAttribute::Address(own)];
        netlink.change(RouteNetlinkMessage::NewAddress(address))?;
        netlink.set(index, LinkFlags::Up | LinkFlags::Noarp)
    }
}

/// Adds an IPv6 address to an interface of this thread's namespace, without announcing it to neighbours. Returns
/// whether there is IPv6 here.
///
/// # Errors
/// The kernel's.
pub fn add_ipv6(device: &str, address: Ipv6Addr, prefix: u8) -> io::Result<bool> {
    // No link-local address, no router solicitations, and finally IPv6.
    for (name, value) in
        [("addr_gen_mode", "1"), ("accept_ra", "0"), ("router_solicitations", "0"), ("disable_ipv6", "0")]
    {
        match sysctl::set(&format!("net.ipv6.conf.{device}.{name}"), value) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            done => done?,
        }
    }
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet6;
    message.header.prefix_len = prefix;
    message.header.flags = AddressHeaderFlags::Nodad;
    message.header.index = if_nametoindex(device)?;
    message.attributes =
        vec![AddressAttribute::Local(address.into()), AddressAttribute::Address(address.into())];
    Netlink::open()?.change(RouteNetlinkMessage::NewAddress(message))?;
    Ok(true)
}

fn far_end() -> io::Result<PacketSocket> {
    let index = if_nametoindex(FAR_END)?;
    let socket = PacketSocket::open(index)?;
    Netlink::open()?.set(index, LinkFlags::Up)?;
    Ok(socket)
}

/// IPv6's own packets to neighbours would be on the path.
fn without_ipv6(namespace: &Namespace, interface: &str) -> io::Result<()> {
    match namespace.run(|| sysctl::set(&format!("net.ipv6.conf.{interface}.disable_ipv6"), "1"))? {
        // This kernel has no IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::socket::{setsockopt, sockopt};
    use std::net::UdpSocket;

    #[test]
    fn datagrams_that_are_to_be_cut_arrive_in_pieces() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let veth = Veth { name: "airtcp0", address: [10, 77, 0, 1].into(), prefix: 24, mtu: 1500 };
        let mut end = veth.make_in(&namespace).unwrap();
        let send = || {
            let socket = UdpSocket::bind("10.77.0.1:0").unwrap();
            setsockopt(&socket, sockopt::UdpGsoSegment, &1200).unwrap();
            socket.send_to(&[0; 6000], "10.77.0.2:9").unwrap();
        };
        namespace.run(send).unwrap();
        let mut pieces = 0;
        while pieces < 5 {
            poll(&mut [PollFd::new(end.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).unwrap();
            let Some(uncut) = end.recv_uncut().unwrap() else { continue };
            let (len, packets) = (uncut.frame.len(), uncut.packets());
            assert!(len < 1300 && packets == 1, "{len} bytes, {packets} packets");
            pieces += i32::from(len > 1200);
        }
    }
}
