//! rtnetlink, with routes as the bytes they are: what is not understood here is written back as it was read.

use netlink_packet_core::{
    DefaultNla, Emitable, NLA_TYPE_MASK, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE, NLM_F_REQUEST,
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable, Nla,
    NlasIterator,
};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::convert::Infallible;
use std::io;

/// linux/rtnetlink.h.
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
/// Bytes of struct rtmsg.
const HEADER: usize = 12;

/// A message about a route: struct rtmsg, then attributes.
#[derive(Clone, Debug)]
pub struct RouteMessage {
    pub header: [u8; HEADER],
    pub attributes: Vec<DefaultNla>,
}

/// All IPv4 routes of this thread's namespace, those of the routing cache left out.
pub fn routes() -> io::Result<Vec<RouteMessage>> {
    let mut header = [0; HEADER];
    header[0] = libc::AF_INET as u8;
    let all = RouteMessage { header, attributes: Vec::new() };
    ask(Message { kind: RTM_GETROUTE, bytes: all.to_bytes() }, NLM_F_DUMP)
}

/// Puts `route` in the place of the one with the same prefix, TOS and priority.
pub fn replace(route: &RouteMessage) -> io::Result<()> {
    let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    ask(Message { kind: RTM_NEWROUTE, bytes: route.to_bytes() }, flags).map(drop)
}

/// The attributes that lie in `bytes`, up to the first that is broken.
pub fn attributes(bytes: &[u8]) -> Vec<DefaultNla> {
    let found = NlasIterator::new(bytes).map_while(Result::ok);
    found
        .map(|attribute| DefaultNla::new(attribute.kind() & NLA_TYPE_MASK, attribute.value().to_vec()))
        .collect()
}

pub fn value(attribute: &DefaultNla) -> Vec<u8> {
    let mut value = vec![0; attribute.value_len()];
    attribute.emit_value(&mut value);
    value
}

pub fn to_bytes(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

impl RouteMessage {
    /// The value of an attribute.
    pub fn attribute(&self, kind: u16) -> Option<Vec<u8>> {
        self.attributes.iter().find(|attribute| attribute.kind() == kind).map(value)
    }

    fn parse(bytes: &[u8]) -> Option<RouteMessage> {
        let (header, rest) = bytes.split_first_chunk()?;
        Some(RouteMessage { header: *header, attributes: attributes(rest) })
    }

    fn to_bytes(&self) -> Vec<u8> {
        [&self.header[..], &to_bytes(&self.attributes)].concat()
    }
}

/// Any rtnetlink message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    kind: u16,
    bytes: Vec<u8>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.bytes);
    }
}

impl NetlinkDeserializable for Message {
    type Error = Infallible;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Message, Infallible> {
        Ok(Message { kind: header.message_type, bytes: payload.to_vec() })
    }
}

/// Sends a request and gathers the routes that are answered, up to the acknowledgement or the end of the dump.
fn ask(message: Message, flags: u16) -> io::Result<Vec<RouteMessage>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let mut routes = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full()?;
        if gather(&datagram, &mut routes)? {
            return Ok(routes);
        }
    }
}

/// Takes the messages of a datagram. Is it the last one?
fn gather(mut datagram: &[u8], routes: &mut Vec<RouteMessage>) -> io::Result<bool> {
    while !datagram.is_empty() {
        let message = NetlinkMessage::<Message>::deserialize(datagram)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        // RFC 3549 §2.3.2: messages are aligned to 4 bytes.
        let len = (message.header.length as usize).next_multiple_of(4).min(datagram.len());
        datagram = &datagram[len..];
        match message.payload {
            NetlinkPayload::InnerMessage(answer) if answer.kind == RTM_NEWROUTE => {
                routes.extend(RouteMessage::parse(&answer.bytes));
            }
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
            NetlinkPayload::Error(_) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}
