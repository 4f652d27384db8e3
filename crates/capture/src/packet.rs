//! Parses TCP packets from captured frames, which may be truncated.

use crate::file::Frame;
use crate::layers::{Air, COOKED_V2, Content, Inside, Walked, Wrappings, link_name, unread_name, walk};
use airtcp_wire::ip::{Addresses, Found, IPV6_HEADER_LEN};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Ecn, Segment, Time, tcp};

/// Longest plausible TCP segment, in bytes. Offload engines produce shorter ones.
const LONGEST: usize = 1 << 20;

/// A TCP packet as the tap saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TappedPacket {
    pub time: Time,
    /// Where it was captured.
    pub interface: u64,
    pub endpoints: Endpoints,
    pub ecn: Ecn,
    /// IPv4's identification field; zero carries no information.
    pub id: u16,
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    pub segment: Segment,
    pub options: Options,
    pub through: Wrappings,
}

/// What the TCP options show beside those in the segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// In bytes.
    pub len: u8,
    /// Not all of them were captured.
    pub are_cut: bool,
    /// One is of Multipath TCP (RFC 8684 §3): the segment may tell of the whole connection, not of this subflow.
    pub multipath: bool,
}

impl Options {
    /// `bytes` are the options, as far as they were captured; `len` is their whole length.
    fn read(mut bytes: &[u8], len: usize) -> Options {
        const END_OF_LIST: u8 = 0;
        const NOP: u8 = 1;
        const MULTIPATH: u8 = 30;

        let mut options = Options { len: len as u8, are_cut: bytes.len() < len, multipath: false };
        while let Some((&kind, rest)) = bytes.split_first() {
            let len = match (kind, rest.first()) {
                (END_OF_LIST, _) => break,
                (NOP, _) => 1,
                (_, Some(&len)) if len >= 2 => usize::from(len),
                _ => break,
            };
            options.multipath |= kind == MULTIPATH;
            bytes = bytes.get(len..).unwrap_or_default();
        }
        options
    }
}

/// What a frame contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dissected {
    Tcp(TappedPacket),
    /// A valid packet of another protocol, or one that cannot be read.
    Other(Content),
    Skipped(String),
}

/// Parses the TCP packet in a frame. Also returns what the frame shows of an 802.11 link.
pub fn dissect(frame: &Frame) -> (Dissected, Option<Air>) {
    let Walked { inside, through, air } = walk(frame);
    let dissected = match inside {
        Inside::Tcp { at, ip } => transport(frame, at, &ip, through),
        Inside::Cut => {
            Dissected::Skipped("cut short before its TCP header: capture 128 bytes or more".to_owned())
        }
        Inside::Other(_) if link_name(frame.link_type).is_none() => {
            Dissected::Skipped(unsupported(frame.link_type))
        }
        Inside::Other(content) => Dissected::Other(content),
    };
    (dissected, air)
}

fn unsupported(link_type: u16) -> String {
    let name = unread_name(link_type).map_or(String::new(), |name| format!(" ({name})"));
    format!("link type {link_type}{name} is not supported")
}

/// `at`: offset of the IP packet in the frame.
fn transport(frame: &Frame, at: usize, ip: &Found, through: Wrappings) -> Dissected {
    if ip.is_fragment {
        return Dissected::Skipped("a fragment; fragments are not reassembled".to_owned());
    }
    let claimed = claimed_len(frame, at, ip);
    let present = &frame.data[at..][..claimed.min(frame.data.len() - at)];
    let present = present.get(ip.header_len..).unwrap_or_default();
    let (ports, mut segment, header_len) = match tcp::decode_captured(present) {
        Ok(decoded) => decoded,
        Err(error) => return Dissected::Skipped(error.to_string()),
    };
    let len = claimed.saturating_sub(ip.header_len);
    if len < header_len || len > LONGEST {
        return Dissected::Skipped(format!("a TCP header of {header_len} bytes in a segment of {len}"));
    }
    segment.len = (len - header_len) as u32;
    let options = present.get(tcp::MIN_HEADER_LEN..header_len.min(present.len())).unwrap_or_default();
    Dissected::Tcp(TappedPacket {
        time: frame.time,
        interface: interface(frame),
        endpoints: Endpoints { addresses: ip.addresses, ports },
        ecn: ip.ecn,
        id: ip.id,
        bytes: claimed as u32,
        segment,
        through,
        options: Options::read(options, header_len - tcp::MIN_HEADER_LEN),
    })
}

/// Returns the capture's interface or, where it was taken on all of a host's interfaces, the host's.
fn interface(frame: &Frame) -> u64 {
    let of_host = match frame.link_type {
        COOKED_V2 => {
            frame.data.get(4..).and_then(<[u8]>::first_chunk).map_or(0, |&index| u32::from_be_bytes(index))
        }
        _ => 0,
    };
    u64::from(frame.interface) << 32 | u64::from(of_host)
}

/// Returns the length of the packet in bytes. The length field is zero if an offload engine was to fill it in; the
/// length is then the frame's, less the link-layer header.
fn claimed_len(frame: &Frame, at: usize, ip: &Found) -> usize {
    let is_open = match ip.addresses {
        Addresses::V4 { .. } => ip.claimed == 0,
        Addresses::V6 { .. } => ip.claimed == IPV6_HEADER_LEN,
    };
    if is_open { (frame.original_len as usize).saturating_sub(at) } else { ip.claimed }
}
