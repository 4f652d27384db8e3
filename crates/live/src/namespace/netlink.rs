//! rtnetlink: links, addresses and routes of the calling thread's network namespace.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;

/// The index that loopback has in every namespace.
pub const LOOPBACK: u32 = 1;

/// A socket to the namespace in which the calling thread was when it opened it.
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

    /// Switches the link of this index on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&self, index: u32) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.change(RouteNetlinkMessage::SetLink(link))
    }

    /// Asks for one change. What is to be added must not be there.
    ///
    /// # Errors
    /// The kernel's.
    pub fn change(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
        self.ask(message, flags).map(|_| ())
    }

    /// All entries of a table.
    ///
    /// # Errors
    /// The kernel's.
    pub fn dump(&self, message: RouteNetlinkMessage) -> io::Result<Vec<RouteNetlinkMessage>> {
        self.ask(message, NLM_F_REQUEST | NLM_F_DUMP)
    }

    /// Sends a request and gathers what is answered, up to the acknowledgement or the end of the dump.
    fn ask(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let mut answers = Vec::new();
        loop {
            let (datagram, _) = self.0.recv_from_full()?;
            if gather(&datagram, &mut answers)? {
                return Ok(answers);
            }
        }
    }
}

/// Takes the messages of a datagram. Is it the last one?
fn gather(mut datagram: &[u8], answers: &mut Vec<RouteNetlinkMessage>) -> io::Result<bool> {
    while !datagram.is_empty() {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(datagram)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        // RFC 3549 §2.3.2: messages are aligned to 4 bytes.
        let len = (message.header.length as usize).next_multiple_of(4).min(datagram.len());
        datagram = &datagram[len..];
        match message.payload {
            NetlinkPayload::InnerMessage(answer) => answers.push(answer),
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
            NetlinkPayload::Error(_) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}
