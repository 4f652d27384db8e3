//! Headers of the link layer, and what an EtherType announces.

use super::{Content, End, Next, Step, Walk, Wrapping, named};

/// LINKTYPE_LINUX_SLL2, whose header names the host's interface.
pub const COOKED_V2: u16 = 276;

const ETHERNET_LEN: usize = 14;
/// IEEE 802.3: a smaller value in the place of the EtherType is a length.
const LEAST_TYPE: u16 = 0x0600;

/// Returns the name of a link type that can be read, given its tcpdump.org number.
pub fn name(link_type: u16) -> Option<&'static str> {
    Some(match link_type {
        0 | 108 => "loopback",
        1 => "Ethernet",
        9 | 50 | 166 | 204 => "PPP",
        11 | 100 => "LLC",
        12 | 14 | 101 => "raw IP",
        51 => "PPPoE",
        104 => "Cisco HDLC",
        105 => "802.11",
        109 => "IPsec interface",
        113 => "Linux cooked",
        117 => "pf log",
        119 | 127 | 163 | 192 => "802.11 monitor",
        138 => "IP over FireWire",
        219 => "MPLS",
        228 => "raw IPv4",
        229 => "raw IPv6",
        COOKED_V2 => "Linux cooked v2",
        _ => return None,
    })
}

/// Returns the name of a link type that cannot be read, if it is a common one.
pub fn unread_name(link_type: u16) -> Option<&'static str> {
    Some(match link_type {
        6 => "Token Ring",
        10 => "FDDI",
        107 => "Frame Relay",
        123 | 149 | 187 | 201 | 251 | 254 | 255 | 272 => "Bluetooth",
        147..=162 => "a private link type",
        182 => "multi-link Frame Relay",
        189 | 220 | 249 => "USB",
        195 | 215 | 230 | 283 => "IEEE 802.15.4",
        227 => "CAN",
        239 => "netfilter log",
        252 => "exported PDUs",
        253 => "netlink",
        _ => return None,
    })
}

impl Walk<'_> {
    pub(super) fn link(&mut self, link_type: u16, at: usize) -> Step {
        match link_type {
            0 | 108 => Ok((Next::Ip, at + 4)),
            1 => Ok((Next::Ethernet, at)),
            9 | 50 => Ok((Next::Ppp, at)),
            11 | 100 => Ok((Next::Llc, at)),
            12 | 14 | 101 | 228 | 229 => Ok((Next::Ip, at)),
            51 => Ok((Next::PppoeSession, at)),
            104 => Ok((Next::Type(self.be16(at + 2)?), at + 4)),
            105 => self.wireless(at),
            109 => Ok((Next::Ip, at + 12)),
            113 => self.cooked(self.be16(at + 2)?, self.be16(at + 14)?, at + 16),
            117 => Ok((Next::Ip, at + usize::from(self.byte(at)?).next_multiple_of(4))),
            119 | 127 | 163 | 192 => self.monitor(link_type, at),
            138 => Ok((Next::Type(self.be16(at + 16)?), at + 18)),
            // A direction takes the place of HDLC's address, or stands before it.
            166 => Ok((Next::Ppp, at + 2)),
            204 => Ok((Next::Ppp, at + 1)),
            219 => Ok((Next::Mpls, at)),
            COOKED_V2 => self.cooked(self.be16(at + 8)?, self.be16(at)?, at + 20),
            _ => named(unread_name(link_type).unwrap_or("of an unknown link type")),
        }
    }

    /// A packet of some interface of a host, whose kind is an ARPHRD_ value.
    fn cooked(&mut self, kind: u16, protocol: u16, at: usize) -> Step {
        const IPGRE: u16 = 778;
        const NETLINK: u16 = 824;
        const LLC: u16 = 4;
        match kind {
            801 => self.wireless(at),
            802 => self.monitor(119, at),
            803 => self.monitor(127, at),
            NETLINK => named("netlink"),
            _ if protocol == LLC && kind != IPGRE => Ok((Next::Llc, at)),
            _ => Ok((Next::Type(protocol), at)),
        }
    }

    pub(super) fn ethernet(&self, at: usize) -> Step {
        match self.be16(at + 12)? {
            len if len < LEAST_TYPE => Ok((Next::Llc, at + ETHERNET_LEN)),
            kind => Ok((Next::Type(kind), at + ETHERNET_LEN)),
        }
    }

    pub(super) fn by_type(&mut self, kind: u16, at: usize) -> Step {
        match kind {
            0x0800 | 0x86dd => Ok((Next::Ip, at)),
            // IEEE 802.1Q and 802.1ad tags, and the outer tags that older bridges wrote.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => {
                self.through.add(Wrapping::Vlan);
                match self.be16(at + 2)? {
                    len if len < LEAST_TYPE => Ok((Next::Llc, at + 4)),
                    kind => Ok((Next::Type(kind), at + 4)),
                }
            }
            // IEEE 802.1ah: the service's tag, and the customer's frame.
            0x88e7 => {
                self.through.add(Wrapping::Vlan);
                Ok((Next::Ethernet, at + 4))
            }
            0x8864 => Ok((Next::PppoeSession, at)),
            0x880b => {
                self.through.add(Wrapping::Ppp);
                Ok((Next::Ppp, at))
            }
            0x8847 | 0x8848 => Ok((Next::Mpls, at)),
            0x6558 => Ok((Next::Ethernet, at)),
            0x88be => self.erspan(at, 8),
            0x22eb => self.erspan(at, 12),
            _ => Err(End::Other(type_content(kind))),
        }
    }

    /// IEEE 802.2, with SNAP if there is an EtherType.
    pub(super) fn llc(&self, at: usize) -> Step {
        match self.array(at)? {
            [0xaa, 0xaa, 3] => Ok((Next::Type(self.be16(at + 6)?), at + 8)),
            [6, 6, 3] => Ok((Next::Ip, at + 3)),
            [0x42, 0x42, _] => named("spanning tree"),
            _ => named("LLC"),
        }
    }

    /// PPP (RFC 1661 §2), in HDLC-like framing or without (RFC 1662 §3.1); the protocol field may be compressed.
    pub(super) fn ppp(&self, at: usize) -> Step {
        let at = if self.array(at)? == [0xff, 3] { at + 2 } else { at };
        let first = self.byte(at)?;
        let (protocol, at) = match first & 1 {
            1 => (u16::from(first), at + 1),
            _ => (self.be16(at)?, at + 2),
        };
        match protocol {
            0x0021 | 0x0057 => Ok((Next::Ip, at)),
            0x0281 | 0x0283 => Ok((Next::Mpls, at)),
            0x003d => named("multilink PPP"),
            0x00fb | 0x00fd | 0x002d | 0x002f => named("compressed PPP"),
            0x0053 | 0x0055 => named("encrypted PPP"),
            _ => named("PPP control"),
        }
    }

    /// RFC 2516 §4: version and type, code, session, length.
    pub(super) fn pppoe_session(&mut self, at: usize) -> Step {
        if self.array(at)? != [0x11, 0] {
            return named("PPPoE discovery");
        }
        self.through.add(Wrapping::Pppoe);
        Ok((Next::Ppp, at + 6))
    }

    /// A label stack (RFC 3032 §2.1). Nothing tells what is behind it but its first bits (RFC 4928 §3).
    pub(super) fn mpls(&mut self, mut at: usize) -> Step {
        const BOTTOM: u8 = 1;
        self.through.add(Wrapping::Mpls);
        while self.byte(at + 2)? & BOTTOM == 0 {
            at += 4;
        }
        let at = at + 4;
        match self.byte(at)? >> 4 {
            4 | 6 => Ok((Next::Ip, at)),
            // A pseudowire with a control word (RFC 4385 §3).
            0 => Ok((Next::Ethernet, at + 4)),
            1 => named("MPLS control"),
            _ => Ok((Next::Ethernet, at)),
        }
    }
}

fn type_content(kind: u16) -> Content {
    Content::Named(match kind {
        0x0806 | 0x8035 => "ARP",
        0x8863 => "PPPoE discovery",
        0x888e => "802.1X",
        0x88cc => "LLDP",
        0x88e5 => "MACsec, which may be encrypted",
        0x894f => "NSH",
        0x8906 => "FCoE",
        0x876b => "compressed TCP/IP",
        _ => return Content::EtherType(kind),
    })
}
