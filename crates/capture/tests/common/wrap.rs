//! What packets are wrapped in: each wrapping is written as its specification says.

/// A wrapping, and what must be inside it.
#[derive(Clone, Copy, Debug)]
pub struct Wrap {
    pub name: &'static str,
    pub inside: Kind,
    pub outside: Kind,
    /// Header and trailer around the content, of which the length is given.
    header: fn(usize) -> Vec<u8>,
}

/// What begins at the first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Ip,
    Ethernet,
}

impl Wrap {
    pub fn around(&self, content: &[u8]) -> Vec<u8> {
        [(self.header)(content.len()), content.to_vec()].concat()
    }
}

const MACS: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

fn be(word: usize) -> [u8; 2] {
    (word as u16).to_be_bytes()
}

/// An IPv4 header in front of `len` bytes.
fn ipv4(protocol: u8, len: usize) -> Vec<u8> {
    let fixed = [0, 7, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&[0x45, 0][..], &be(20 + len), &fixed].concat()
}

fn ipv6(protocol: u8, len: usize) -> Vec<u8> {
    let address = |last: u8| [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[last]].concat();
    [&[0x60, 0, 0, 0][..], &be(len), &[protocol, 64], &address(1), &address(2)].concat()
}

fn udp(port: usize, header: &[u8], len: usize) -> Vec<u8> {
    let len = len + header.len() + 8;
    [&ipv4(17, len)[..], &be(40_000), &be(port), &be(len), &[0, 0], header].concat()
}

fn gre(flags: usize, kind: usize, optional: &[u8], len: usize) -> Vec<u8> {
    [&ipv4(47, len + 4 + optional.len())[..], &be(flags), &be(kind), optional].concat()
}

fn pppoe(kind: &[u8], len: usize) -> Vec<u8> {
    [&MACS[..], &[0x88, 0x64, 0x11, 0, 0, 1], &be(len + kind.len()), kind].concat()
}

const fn wrap(name: &'static str, outside: Kind, inside: Kind, header: fn(usize) -> Vec<u8>) -> Wrap {
    Wrap { name, inside, outside, header }
}

/// Wrappings of IPv4 packets and of Ethernet frames that `tshark` knows, too.
pub const WRAPS: [Wrap; 27] = [
    wrap("Ethernet", Kind::Ethernet, Kind::Ip, |_| [&MACS[..], &[8, 0]].concat()),
    wrap("VLAN", Kind::Ethernet, Kind::Ip, |_| [&MACS[..], &[0x81, 0, 0, 9, 8, 0]].concat()),
    wrap("QinQ", Kind::Ethernet, Kind::Ip, |_| {
        [&MACS[..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0]].concat()
    }),
    wrap("SNAP", Kind::Ethernet, Kind::Ip, |len| {
        [&MACS[..], &be((8 + len).min(1500)), &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat()
    }),
    wrap("PPPoE", Kind::Ethernet, Kind::Ip, |len| pppoe(&[0, 0x21], len)),
    wrap("PPPoE in a VLAN", Kind::Ethernet, Kind::Ip, |len| {
        let tagged = [0x81, 0, 0, 7, 0x88, 0x64, 0x11, 0, 0, 1];
        [&MACS[..], &tagged, &be(len + 2), &[0, 0x21]].concat()
    }),
    wrap("MPLS", Kind::Ethernet, Kind::Ip, |_| [&MACS[..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat()),
    wrap("pseudowire", Kind::Ethernet, Kind::Ethernet, |_| {
        [&MACS[..], &[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0]].concat()
    }),
    wrap("provider backbone", Kind::Ethernet, Kind::Ethernet, |_| {
        [&MACS[..], &[0x88, 0xe7, 0, 0, 0, 5]].concat()
    }),
    wrap("IP in IP", Kind::Ip, Kind::Ip, |len| ipv4(4, len)),
    wrap("4in6", Kind::Ip, Kind::Ip, |len| ipv6(4, len)),
    wrap("4in6 with options", Kind::Ip, Kind::Ip, |len| {
        [ipv6(60, len + 8), vec![4, 0, 1, 4, 0, 0, 0, 0]].concat()
    }),
    wrap("GRE", Kind::Ip, Kind::Ip, |len| gre(0, 0x800, &[], len)),
    wrap("GRE with a key", Kind::Ip, Kind::Ip, |len| gre(0x2000, 0x800, &[0, 0, 0, 5], len)),
    wrap("GRE with all", Kind::Ip, Kind::Ip, |len| {
        gre(0xb000, 0x800, &[0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 9], len)
    }),
    wrap("PPTP", Kind::Ip, Kind::Ip, |len| {
        let call = [&be(len + 4)[..], &[0, 1, 0, 0, 0, 2, 0xff, 3, 0, 0x21]].concat();
        gre(0x3001, 0x880b, &call, len)
    }),
    wrap("NVGRE", Kind::Ip, Kind::Ethernet, |len| gre(0x2000, 0x6558, &[0, 0, 5, 0], len)),
    wrap("ERSPAN I", Kind::Ip, Kind::Ethernet, |len| gre(0, 0x88be, &[], len)),
    wrap("ERSPAN II", Kind::Ip, Kind::Ethernet, |len| {
        gre(0x1000, 0x88be, &[0, 0, 0, 1, 0x10, 9, 0, 1, 0, 0, 0, 0], len)
    }),
    wrap("ERSPAN III", Kind::Ip, Kind::Ethernet, |len| {
        gre(0x1000, 0x22eb, &[0, 0, 0, 1, 0x20, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], len)
    }),
    wrap("VXLAN", Kind::Ip, Kind::Ethernet, |len| udp(4789, &[8, 0, 0, 0, 0, 0, 5, 0], len)),
    wrap("Geneve", Kind::Ip, Kind::Ethernet, |len| {
        udp(6081, &[2, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 1, 0, 0, 0, 0], len)
    }),
    wrap("GTP-U", Kind::Ip, Kind::Ip, |len| {
        udp(2152, &[&[0x30, 255][..], &be(len), &[0, 0, 0, 1]].concat(), len)
    }),
    wrap("GTP-U with extensions", Kind::Ip, Kind::Ip, |len| {
        let extensions = [0, 1, 0, 0x85, 1, 0x10, 5, 0xc0, 1, 0, 0, 0];
        udp(2152, &[&[0x36, 255][..], &be(len + 12), &[0, 0, 0, 1], &extensions].concat(), len)
    }),
    wrap("EtherIP", Kind::Ip, Kind::Ethernet, |len| [ipv4(97, len + 2), vec![0x30, 0]].concat()),
    wrap("AH", Kind::Ip, Kind::Ip, |len| {
        [&ipv4(51, len + 24)[..], &[4, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1], &[0; 12]].concat()
    }),
    wrap("MPLS in UDP", Kind::Ip, Kind::Ip, |len| udp(6635, &[0, 1, 1, 64], len)),
];
