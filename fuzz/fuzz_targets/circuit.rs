//! No datagram, with a right tag or a wrong one, makes the parser panic, and one that is read, written and read again is the same.

#![no_main]

use airtcp_wire::circuit::{
    Hello, Key, Kind, MAX_CONTROLS, Repair, SessionKey, TAG_LEN, Terms, Welcome, compress, decode,
    decode_keepalive, decompress, encode,
};
use libfuzzer_sys::fuzz_target;

const VMSS: u32 = 1500;

fuzz_target!(|input: (u64, &[u8])| {
    let (near, bytes) = input;
    let key = Key::new([7; 16]);
    let session = key.session(&[1; 16], &[2; 16]);
    read(bytes, near, &key, &session);
    let mut sealed = bytes.to_vec();
    sealed.extend(key.tag(&[bytes]));
    read(&sealed, near, &key, &session);
    let mut sealed = bytes.to_vec();
    sealed.extend(session.tag(near, bytes));
    // Of a number that its low bits stand for.
    if let [_, a, b, c, ..] = sealed[..] {
        let number = near & !0xff_ffff | u64::from(u32::from_be_bytes([0, a, b, c]));
        let body = sealed.len() - TAG_LEN;
        let tag = session.tag(number, &sealed[..body]);
        sealed[body..].copy_from_slice(&tag);
        read(&sealed, number, &key, &session);
    }
});

fn read(bytes: &[u8], near: u64, key: &Key, session: &SessionKey) {
    if let Ok(hello) = Hello::decode(bytes, key) {
        assert_eq!(hello.encode(key).as_slice(), bytes);
    }
    let _ = Welcome::decode(bytes, &[1; 16], key);
    let _ = decode_keepalive(bytes, near, session);
    if let Ok(repair) = Repair::decode(bytes, near, session) {
        assert_eq!(repair.encode(session), bytes);
    }
    let Ok(header) = decode(bytes, near, VMSS, session) else { return };
    let again = encode(&header, session);
    assert_eq!(decode(again.as_slice(), header.number, VMSS, session), Ok(header));
    if header.kind == Kind::Header && header.segment.len > 0 {
        let mut last = header.segment;
        last.seq.0 = last.seq.0.wrapping_sub(VMSS);
        for counts in [false, true] {
            let fec = header.repeats;
            let (vmss, guesses, repairs) = (VMSS as u16, Some(2), false);
            let terms = Terms { vmss, controls: MAX_CONTROLS, guesses, counts, fec, repairs };
            let short = compress(&header, counts, session);
            assert_eq!(decompress(short.as_slice(), header.number, (&last, header.repeats), &terms, session), Ok(header));
        }
    }
}
