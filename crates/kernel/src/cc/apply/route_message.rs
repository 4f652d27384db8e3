//! Routes as raw bytes, so that what is not understood here is written back as it was read.

use crate::netlink::Netlink;
use netlink_packet_core::{
    DefaultNla, Emitable, NLA_TYPE_MASK, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE,
    NetlinkDeserializable, NetlinkHeader, NetlinkSerializable, Nla, NlasIterator,
};
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

/// All IPv4 routes of this thread's namespace, without those of the routing cache.
pub fn routes() -> io::Result<Vec<RouteMessage>> {
    let mut header = [0; HEADER];
    header[0] = libc::AF_INET as u8;
    let all = RouteMessage { header, attributes: Vec::new() };
    let request = Message { kind: RTM_GETROUTE, bytes: all.to_bytes() };
    let answers = Netlink::open()?.ask(request, NLM_F_DUMP)?;
    let routes = answers.iter().filter(|answer| answer.kind == RTM_NEWROUTE);
    Ok(routes.filter_map(|answer| RouteMessage::parse(&answer.bytes)).collect())
}

/// Replaces the route with the same prefix, TOS and priority.
pub fn replace(route: &RouteMessage) -> io::Result<()> {
    let flags = NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    let request = Message { kind: RTM_NEWROUTE, bytes: route.to_bytes() };
    Netlink::open()?.ask(request, flags).map(drop)
}

/// The attributes in `bytes`, up to the first broken one.
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
