//! No bytes make the parser panic, and a packet that is read and written again reads the same.

#![no_main]

use airtcp_wire::Segment;
use airtcp_wire::packet::{decode_tcp, encode_tcp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = decode_tcp(bytes) else { return };
    let payload = &bytes[packet.payload.clone()];
    let mut buffer = vec![0; bytes.len() + 100];
    // Written aligned, the options may need more room than there is: then the last SACK blocks are left out.
    let len = encode_tcp(&packet.endpoints, packet.ecn, &packet.segment, payload, &mut buffer).unwrap();
    let again = decode_tcp(&buffer[..len]).unwrap();
    assert_eq!((again.endpoints, again.ecn), (packet.endpoints, packet.ecn));
    assert_eq!(Segment { sack: packet.segment.sack, ..again.segment }, packet.segment);
    assert_eq!(&buffer[again.payload], payload);
});
