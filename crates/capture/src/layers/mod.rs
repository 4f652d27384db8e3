//! Finds the TCP packet in a frame, through the link layer and whatever tunnels it is in.
//!
//! Each step reads one header and says what follows it. No header is read beyond the captured bytes, and there are at
//! most [`DEEPEST`] of them.

mod link;
mod tunnel;
mod wireless;

pub use link::{COOKED_V2, name as link_name, unread_name};
pub use wireless::Air;

use crate::file::Frame;
use airtcp_wire::ip::{Addresses, Found, TCP};
use std::fmt;
use wireless::Monitored;

/// Limit on the headers of one frame in front of TCP's.
const DEEPEST: usize = 24;

/// What follows a header, at an offset of the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Link(u16),
    Ethernet,
    /// What an EtherType says.
    Type(u16),
    Llc,
    Ppp,
    PppoeSession,
    Mpls,
    Ip,
    /// What IP's protocol field says.
    Protocol(u8),
}

/// Why a frame is not followed further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The captured bytes end within a header.
    Cut,
    /// At something else than TCP, or at what cannot be read.
    Other(Content),
}

type Step = Result<(Next, usize), End>;

/// What a packet that is not TCP is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Content {
    Named(&'static str),
    EtherType(u16),
    Protocol(u8),
    Damaged,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Named(name) => f.write_str(name),
            Content::EtherType(kind) => write!(f, "EtherType 0x{kind:04x}"),
            Content::Protocol(protocol) => write!(f, "IP protocol {protocol}"),
            Content::Damaged => f.write_str("damaged"),
        }
    }
}

/// A wrapping of the packet between the link layer and its own IP header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wrapping {
    Vlan,
    Pppoe,
    Ppp,
    Mpls,
    Gre,
    Erspan,
    IpInIp,
    Vxlan,
    Geneve,
    Gtp,
    Ah,
    OtherTunnel,
}

impl Wrapping {
    fn name(self) -> &'static str {
        match self {
            Wrapping::Vlan => "VLAN",
            Wrapping::Pppoe => "PPPoE",
            Wrapping::Ppp => "PPP",
            Wrapping::Mpls => "MPLS",
            Wrapping::Gre => "GRE",
            Wrapping::Erspan => "ERSPAN",
            Wrapping::IpInIp => "IP in IP",
            Wrapping::Vxlan => "VXLAN",
            Wrapping::Geneve => "Geneve",
            Wrapping::Gtp => "GTP-U",
            Wrapping::Ah => "AH",
            Wrapping::OtherTunnel => "a tunnel",
        }
    }
}

/// The wrappings of a packet, outermost first; of many, the first ones. Two of a kind count once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wrappings([Option<Wrapping>; 4]);

impl Wrappings {
    fn add(&mut self, wrapping: Wrapping) {
        for slot in &mut self.0 {
            if *slot == Some(wrapping) {
                return;
            }
            if slot.is_none() {
                *slot = Some(wrapping);
                return;
            }
        }
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().flatten().map(|wrapping| wrapping.name()).collect()
    }
}

/// The outcome of a walk through a frame.
pub struct Walked {
    pub inside: Inside,
    pub through: Wrappings,
    pub air: Option<Air>,
}

pub enum Inside {
    /// TCP behind the IP header at this offset.
    Tcp {
        at: usize,
        ip: Found,
    },
    Cut,
    Other(Content),
}

/// Walks through a frame.
pub fn walk(frame: &Frame) -> Walked {
    let mut walk = Walk {
        data: frame.data,
        ip: None,
        through: Wrappings::default(),
        monitored: Monitored::default(),
        air: None,
    };
    let inside = match walk.run(frame.link_type) {
        Ok((at, ip)) => Inside::Tcp { at, ip },
        Err(End::Other(content)) => Inside::Other(content),
        Err(End::Cut) if frame.data.len() < frame.original_len as usize => Inside::Cut,
        Err(End::Cut) => Inside::Other(Content::Damaged),
    };
    Walked { inside, through: walk.through, air: walk.air }
}

struct Walk<'a> {
    data: &'a [u8],
    /// The innermost IP header so far, and its offset.
    ip: Option<(usize, Found)>,
    through: Wrappings,
    monitored: Monitored,
    air: Option<Air>,
}

impl Walk<'_> {
    fn run(&mut self, link_type: u16) -> Result<(usize, Found), End> {
        let (mut next, mut at) = (Next::Link(link_type), 0);
        for _ in 0..DEEPEST {
            if let (Next::Protocol(TCP), Some(found)) = (next, self.ip) {
                return Ok(found);
            }
            (next, at) = match next {
                Next::Link(link_type) => self.link(link_type, at)?,
                Next::Ethernet => self.ethernet(at)?,
                Next::Type(kind) => self.by_type(kind, at)?,
                Next::Llc => self.llc(at)?,
                Next::Ppp => self.ppp(at)?,
                Next::PppoeSession => self.pppoe_session(at)?,
                Next::Mpls => self.mpls(at)?,
                Next::Ip => self.ip(at)?,
                Next::Protocol(protocol) => self.by_protocol(protocol, at)?,
            };
        }
        Err(End::Other(Content::Named("more headers than can be meant")))
    }

    fn ip(&mut self, at: usize) -> Step {
        let bytes = self.data.get(at..).ok_or(End::Cut)?;
        if !matches!(bytes.first().map(|first| first >> 4), Some(4 | 6) | None) {
            return Err(End::Other(Content::Damaged));
        }
        let found = Found::read(bytes).map_err(|_| End::Cut)?;
        self.ip = Some((at, found));
        if found.is_fragment && self.is_later_fragment(at, &found)? {
            return named("later fragments");
        }
        Ok((Next::Protocol(found.protocol), at + found.header_len))
    }

    /// Behind the header of a later fragment is no other header (RFC 791 §3.1, RFC 8200 §4.5).
    fn is_later_fragment(&self, at: usize, ip: &Found) -> Result<bool, End> {
        const EIGHTHS: u16 = 0x1fff;
        Ok(match ip.addresses {
            Addresses::V4 { .. } => self.be16(at + 6)? & EIGHTHS != 0,
            Addresses::V6 { .. } => self.be16(at + ip.header_len - 6)? & !7 != 0,
        })
    }

    fn be16(&self, at: usize) -> Result<u16, End> {
        Ok(u16::from_be_bytes(self.array(at)?))
    }

    fn byte(&self, at: usize) -> Result<u8, End> {
        self.data.get(at).copied().ok_or(End::Cut)
    }

    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N], End> {
        self.data.get(at..).and_then(<[u8]>::first_chunk).copied().ok_or(End::Cut)
    }
}

fn named<T>(name: &'static str) -> Result<T, End> {
    Err(End::Other(Content::Named(name)))
}
