//! Finds the IP packet behind an Ethernet header.

pub const HEADER_LEN: usize = 14;

/// Offset of the EtherType in an Ethernet frame.
const ETHER_TYPE_AT: usize = 12;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// IEEE 802.1Q and 802.1ad tags, and the outer tag that older bridges wrote.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const TAG_LEN: usize = 4;

/// Offset of the IP packet in an Ethernet frame; `None` if there is none, as in ARP.
pub fn ip_at(frame: &[u8]) -> Option<usize> {
    ip_behind(ether_type(frame, ETHER_TYPE_AT)?, frame, HEADER_LEN)
}

/// Offset of the IP packet behind a link-layer header that ends at `at` and has the EtherType `kind`.
pub fn ip_behind(mut kind: u16, frame: &[u8], mut at: usize) -> Option<usize> {
    while TAGS.contains(&kind) {
        kind = ether_type(frame, at + 2)?;
        at += TAG_LEN;
    }
    ([IPV4, IPV6].contains(&kind) && at <= frame.len()).then_some(at)
}

/// The EtherType at this offset.
pub fn ether_type(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}
