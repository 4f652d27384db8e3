//! Ethernet headers, as far as to find the IP packet behind them.

pub const HEADER_LEN: usize = 14;

/// Where an Ethernet frame's EtherType stands.
const ETHER_TYPE_AT: usize = 12;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// IEEE 802.1Q and 802.1ad tags, and what older bridges wrote for the outer of two.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const TAG_LEN: usize = 4;

/// Where the IP packet begins in an Ethernet frame; `None` when there is none, as in ARP.
pub fn ip_at(frame: &[u8]) -> Option<usize> {
    ip_behind(ether_type(frame, ETHER_TYPE_AT)?, frame, HEADER_LEN)
}

/// Where the IP packet begins behind a link layer's header whose EtherType is `kind` and that ends at `at`.
pub fn ip_behind(mut kind: u16, frame: &[u8], mut at: usize) -> Option<usize> {
    while TAGS.contains(&kind) {
        kind = ether_type(frame, at + 2)?;
        at += TAG_LEN;
    }
    ([IPV4, IPV6].contains(&kind) && at <= frame.len()).then_some(at)
}

/// The EtherType that stands at `at`.
pub fn ether_type(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}
