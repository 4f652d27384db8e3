//! No bytes make the parser panic, and a packet that is read, written and read again is the same.

#![no_main]

use airtcp_wire::Segment;
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::IpHeader;
use airtcp_wire::packet::{decode_tcp, encode_tcp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    let _ = decode_tcp(&bytes);
    repair_ip(&mut bytes);
    let _ = decode_tcp(&bytes);
    repair_tcp(&mut bytes);
    let Ok(packet) = decode_tcp(&bytes) else { return };
    let payload = &bytes[packet.payload.clone()];
    let mut buffer = vec![0; bytes.len() + 100];
    // Written aligned, the options may need more room than there is: then the last SACK blocks are left out.
    let len = encode_tcp(&packet.endpoints, packet.ecn, &packet.segment, payload, &mut buffer).unwrap();
    let again = decode_tcp(&buffer[..len]).unwrap();
    assert_eq!((again.endpoints, again.ecn), (packet.endpoints, packet.ecn));
    assert_eq!(Segment { sack: packet.segment.sack, ..again.segment }, packet.segment);
    assert_eq!(&buffer[again.payload], payload);
});

/// Sets the IPv4 header checksum right, which chance would not.
fn repair_ip(bytes: &mut [u8]) {
    let Some(first) = bytes.first() else { return };
    let len = usize::from(first & 15) * 4;
    if first >> 4 == 4 && (20..=bytes.len()).contains(&len) {
        bytes[10..12].fill(0);
        let checksum = Sum::of(&bytes[..len]).checksum();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Sets the TCP checksum right.
fn repair_tcp(bytes: &mut [u8]) {
    let Ok((ip, at)) = IpHeader::decode(bytes) else { return };
    let segment = &mut bytes[at..at + ip.payload_len];
    if segment.len() >= 20 {
        segment[16..18].fill(0);
        let sum = Sum::pseudo_header(&ip.addresses, 6, segment.len() as u32) + Sum::of(segment);
        segment[16..18].copy_from_slice(&sum.checksum().to_be_bytes());
    }
}
