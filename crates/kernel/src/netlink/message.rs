//! Messages of rtnetlink as the kernel sends them. Only what is asked for is read, so that whatever else a host has
//! cannot hurt.

use super::attributes::Attributes;
use netlink_packet_core::NetlinkSerializable;
use std::io;

/// linux/netlink.h.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const FIRST_OF_RTNETLINK: u16 = 16;
/// Bytes of struct nlmsghdr.
const HEADER: usize = 16;

/// Types of messages (linux/rtnetlink.h).
pub mod kind {
    pub const NEWLINK: u16 = 16;
    pub const NEWADDR: u16 = 20;
    pub const NEWROUTE: u16 = 24;
    pub const GETROUTE: u16 = 26;
    pub const NEWQDISC: u16 = 36;
    pub const NEWTFILTER: u16 = 44;
    pub const NEWNEXTHOP: u16 = 104;
    pub const GETNEXTHOP: u16 = 106;
}

/// A header that depends on the kind, then attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: u16,
    pub header: Vec<u8>,
    pub attributes: Attributes,
}

impl Message {
    /// `None` if it is too short, or of a kind that nobody here reads.
    fn parse(kind: u16, payload: &[u8]) -> Option<Message> {
        let (header, attributes) = payload.split_at_checked(header_len(kind)?)?;
        Some(Message { kind, header: header.to_vec(), attributes: Attributes::new(attributes.to_vec()) })
    }

    /// The 4 bytes of the header at this offset.
    pub(super) fn word(&self, at: usize) -> u32 {
        self.header[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.header.len() + self.attributes.as_bytes().len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        let (header, attributes) = buffer.split_at_mut(self.header.len());
        header.copy_from_slice(&self.header);
        attributes.copy_from_slice(self.attributes.as_bytes());
    }
}

/// Bytes between struct nlmsghdr and the attributes. Each object has four kinds of messages: new, del, get and set.
fn header_len(kind: u16) -> Option<usize> {
    Some(match kind & !3 {
        kind::NEWLINK => 16,
        kind::NEWADDR | kind::NEWNEXTHOP => 8,
        kind::NEWROUTE => 12,
        kind::NEWQDISC | kind::NEWTFILTER => 20,
        _ => return None,
    })
}

/// Gathers the messages of a datagram. Returns whether it is the last one.
///
/// # Errors
/// The kernel's; invalid data if a message is cut short.
pub(super) fn gather(mut datagram: &[u8], answers: &mut Vec<Message>) -> io::Result<bool> {
    while !datagram.is_empty() {
        let (kind, payload, rest) = split(datagram).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer about the network is cut short")
        })?;
        datagram = rest;
        let code = payload.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
        match kind {
            NLMSG_ERROR | NLMSG_DONE if code < 0 => return Err(io::Error::from_raw_os_error(-code)),
            NLMSG_ERROR | NLMSG_DONE => return Ok(true),
            FIRST_OF_RTNETLINK.. => answers.extend(Message::parse(kind, payload)),
            _ => {}
        }
    }
    Ok(false)
}

/// The first message's kind and payload, and what follows.
fn split(datagram: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let header = datagram.first_chunk::<HEADER>()?;
    let len = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
    let payload = datagram.get(HEADER..len)?;
    // RFC 3549 §2.3.2: messages are aligned to 4 bytes.
    let rest = &datagram[len.next_multiple_of(4).min(datagram.len())..];
    Some((u16::from_ne_bytes([header[4], header[5]]), payload, rest))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A datagram with these messages.
    pub fn datagram(messages: &[Message]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            let len = HEADER + message.buffer_len();
            bytes.extend((len as u32).to_ne_bytes());
            bytes.extend(message.kind.to_ne_bytes());
            bytes.extend([0; 10]);
            let start = bytes.len();
            bytes.resize(start + message.buffer_len(), 0);
            message.serialize(&mut bytes[start..]);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    /// A message of this kind with attributes that nobody knows, then what it is given.
    pub fn odd(kind: u16) -> impl Strategy<Value = Message> {
        let header = header_len(kind).unwrap();
        let strange = (0u16..0x4000, any::<bool>(), vec(any::<u8>(), 0..33));
        (vec(any::<u8>(), header), vec(strange, 0..8)).prop_map(move |(header, strangers)| {
            let mut attributes = Attributes::default();
            for (kind, is_nested, value) in strangers {
                attributes.set(kind | (u16::from(is_nested) << 15), &value);
            }
            Message { kind, header, attributes }
        })
    }

    proptest! {
        #[test]
        fn no_bytes_are_fatal(bytes in vec(any::<u8>(), 0..200)) {
            let _ = gather(&bytes, &mut Vec::new());
        }

        #[test]
        fn each_message_is_found_whatever_the_others_are(
            kinds in vec(prop_oneof![Just(kind::NEWLINK), Just(kind::NEWADDR), Just(kind::NEWROUTE), Just(kind::NEWQDISC)], 0..6)
                .prop_flat_map(|kinds| kinds.into_iter().map(odd).collect::<Vec<_>>()),
            unknown in vec(any::<u8>(), 0..40),
        ) {
            let stranger = Message { kind: 0x3fc, header: unknown, attributes: Attributes::default() };
            let mut told = kinds.clone();
            told.insert(told.len() / 2, stranger);
            let mut answers = Vec::new();
            prop_assert!(!gather(&datagram(&told), &mut answers).unwrap());
            prop_assert_eq!(answers, kinds);
        }
    }

    #[test]
    fn the_kernels_errors_are_told_and_a_cut_answer_is_one() {
        let mut bytes = datagram(&[Message {
            kind: NLMSG_DONE,
            header: (-libc::ENOBUFS).to_ne_bytes().to_vec(),
            attributes: Attributes::default(),
        }]);
        let code = |bytes: &[u8]| gather(bytes, &mut Vec::new()).unwrap_err().raw_os_error();
        assert_eq!(code(&bytes), Some(libc::ENOBUFS));
        bytes.pop();
        let cut = gather(&bytes, &mut Vec::new()).unwrap_err();
        assert!(cut.to_string().contains("cut short"), "{cut}");
    }
}
