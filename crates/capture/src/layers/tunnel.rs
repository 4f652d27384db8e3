//! Tunnels over IP, and what IP's protocol field announces.

use super::{Content, End, Next, Step, Walk, Wrapping, named};
use airtcp_wire::ip::UDP;

const UDP_HEADER_LEN: usize = 8;

impl Walk<'_> {
    pub(super) fn by_protocol(&mut self, protocol: u8, at: usize) -> Step {
        const IPV4: u8 = 4;
        const IPV6: u8 = 41;
        const GRE: u8 = 47;
        const AH: u8 = 51;
        const ETHER_IP: u8 = 97;
        const MPLS: u8 = 137;
        match protocol {
            IPV4 | IPV6 => {
                self.through.add(Wrapping::IpInIp);
                Ok((Next::Ip, at))
            }
            UDP => self.udp(at),
            GRE => self.gre(at),
            // RFC 4302 §2: the length is in words of 32 bits, less two.
            AH => {
                self.through.add(Wrapping::Ah);
                let [next, words] = self.array(at)?;
                Ok((Next::Protocol(next), at + 4 * (usize::from(words) + 2)))
            }
            // RFC 3378 §3: two bytes of version.
            ETHER_IP => {
                self.through.add(Wrapping::OtherTunnel);
                Ok((Next::Ethernet, at + 2))
            }
            MPLS => Ok((Next::Mpls, at)),
            _ => Err(End::Other(protocol_content(protocol))),
        }
    }

    /// GRE (RFC 2784 §2, RFC 2890 §2), and PPTP's version of it (RFC 2637 §4.1).
    fn gre(&mut self, at: usize) -> Step {
        const CHECKSUM: u16 = 0x8000;
        const ROUTING: u16 = 0x4000;
        const KEY: u16 = 0x2000;
        const SEQUENCE: u16 = 0x1000;
        const ACKNOWLEDGMENT: u16 = 0x0080;
        const ERSPAN: u16 = 0x88be;
        let (flags, kind) = (self.be16(at)?, self.be16(at + 2)?);
        let optional = match flags & 7 {
            0 if flags & ROUTING != 0 => return named("GRE with source routes"),
            0 => CHECKSUM | KEY | SEQUENCE,
            1 => KEY | SEQUENCE | ACKNOWLEDGMENT,
            _ => return named("GRE of an unknown version"),
        };
        let inside = at + 4 + 4 * (flags & optional).count_ones() as usize;
        self.through.add(Wrapping::Gre);
        // Type I has no header of its own.
        if kind == ERSPAN && flags & SEQUENCE == 0 {
            self.through.add(Wrapping::Erspan);
            return Ok((Next::Ethernet, inside));
        }
        Ok((Next::Type(kind), inside))
    }

    /// A mirrored frame behind a header of type II or, with 12 bytes, III, which has 8 more if its last bit says so.
    pub(super) fn erspan(&mut self, at: usize, header_len: usize) -> Step {
        self.through.add(Wrapping::Erspan);
        let more = if header_len == 12 && self.byte(at + 11)? & 1 != 0 { 8 } else { 0 };
        Ok((Next::Ethernet, at + header_len + more))
    }

    fn udp(&mut self, at: usize) -> Step {
        let (source, destination) = (self.be16(at)?, self.be16(at + 2)?);
        let inside = at + UDP_HEADER_LEN;
        match destination {
            // Also in Linux before it had a port of its own.
            4789 | 8472 => self.vxlan(inside),
            4790 => self.vxlan_gpe(inside),
            6081 => self.geneve(inside),
            2152 => self.gtp(inside),
            4754 => self.gre(inside),
            6635 => Ok((Next::Mpls, inside)),
            4341 => self.tunnel(Next::Ip, inside + 8),
            3544 if self.byte(inside)? >> 4 == 6 => self.tunnel(Next::Ip, inside),
            37008 => self.tzsp(inside),
            // On any other port, where it looks like nothing else.
            _ if self.is_vxlan(inside) => self.vxlan(inside),
            _ => self.not_read(source, destination),
        }
    }

    fn not_read(&self, source: u16, destination: u16) -> Step {
        let is = |port: u16| source == port || destination == port;
        named(match () {
            () if is(4500) => "ESP in UDP, which is encrypted",
            () if is(51820) => "WireGuard, which is encrypted",
            () if is(1194) => "OpenVPN, which is encrypted",
            () if is(1701) => "L2TP",
            () if is(5247) => "CAPWAP",
            () if is(443) => "QUIC or other UDP",
            () => "UDP",
        })
    }

    fn tunnel(&mut self, next: Next, at: usize) -> Step {
        self.through.add(Wrapping::OtherTunnel);
        Ok((next, at))
    }

    /// RFC 7348 §5: the flag of a valid network identifier, and zeros around the identifier.
    fn is_vxlan(&self, at: usize) -> bool {
        let is_frame = || {
            let kind = self.be16(at + 8 + 12).unwrap_or(0);
            [0x0800, 0x86dd, 0x8100, 0x88a8].contains(&kind)
        };
        matches!(self.array(at), Ok([8, 0, 0, 0, _, _, _, 0])) && is_frame()
    }

    fn vxlan(&mut self, at: usize) -> Step {
        const VALID: u8 = 8;
        if self.byte(at)? & VALID == 0 {
            return named("UDP");
        }
        self.through.add(Wrapping::Vxlan);
        Ok((Next::Ethernet, at + 8))
    }

    fn vxlan_gpe(&mut self, at: usize) -> Step {
        self.through.add(Wrapping::Vxlan);
        match self.byte(at + 3)? {
            1 | 2 => Ok((Next::Ip, at + 8)),
            3 | 0 => Ok((Next::Ethernet, at + 8)),
            4 => named("NSH"),
            5 => Ok((Next::Mpls, at + 8)),
            _ => named("VXLAN-GPE of an unknown kind"),
        }
    }

    /// RFC 8926 §3.4: the options' length is in words of 32 bits.
    fn geneve(&mut self, at: usize) -> Step {
        let options = usize::from(self.byte(at)? & 0x3f) * 4;
        self.through.add(Wrapping::Geneve);
        Ok((Next::Type(self.be16(at + 2)?), at + 8 + options))
    }

    /// 3GPP TS 29.281 §5: a header of eight bytes, four more if one of three flags is set, and extension headers, each
    /// with its length in words of 32 bits first and the type of the next one last.
    fn gtp(&mut self, at: usize) -> Step {
        /// Version and protocol; the bit between them and the flags is spare.
        const VERSION: u8 = 0xf0;
        const GTP_1: u8 = 0x30;
        const OPTIONAL: u8 = 7;
        const EXTENDED: u8 = 4;
        const G_PDU: u8 = 255;
        let [flags, kind] = self.array(at)?;
        if flags & VERSION != GTP_1 {
            return named("UDP");
        }
        if kind != G_PDU {
            return named("GTP-U control");
        }
        self.through.add(Wrapping::Gtp);
        let mut inside = at + 8;
        if flags & OPTIONAL != 0 {
            let mut next = if flags & EXTENDED != 0 { self.byte(inside + 3)? } else { 0 };
            inside += 4;
            while next != 0 {
                let len = usize::from(self.byte(inside)?) * 4;
                if len == 0 {
                    return Err(End::Other(Content::Damaged));
                }
                inside += len;
                next = self.byte(inside - 1)?;
            }
        }
        // A session may carry Ethernet frames instead.
        match self.byte(inside)? >> 4 {
            4 | 6 => Ok((Next::Ip, inside)),
            _ => Ok((Next::Ethernet, inside)),
        }
    }

    /// A frame that a router sends to an analyser: version, type and protocol, then tags up to one that ends them.
    fn tzsp(&mut self, at: usize) -> Step {
        const PADDING: u8 = 0;
        const LAST: u8 = 1;
        let protocol = self.be16(at + 2)?;
        let mut inside = at + 4;
        loop {
            match self.byte(inside)? {
                PADDING => inside += 1,
                LAST => break,
                _ => inside += 2 + usize::from(self.byte(inside + 1)?),
            }
        }
        self.through.add(Wrapping::OtherTunnel);
        match protocol {
            1 => Ok((Next::Ethernet, inside + 1)),
            18 => Ok((Next::Link(105), inside + 1)),
            119 => Ok((Next::Link(119), inside + 1)),
            _ => named("TZSP of an unknown kind"),
        }
    }
}

fn protocol_content(protocol: u8) -> Content {
    Content::Named(match protocol {
        1 | 58 => "ICMP",
        2 => "IGMP",
        50 => "ESP, which is encrypted",
        89 => "OSPF",
        103 => "PIM",
        108 => "IPComp, which is compressed",
        112 => "VRRP",
        115 => "L2TP",
        132 => "SCTP",
        _ => return Content::Protocol(protocol),
    })
}
