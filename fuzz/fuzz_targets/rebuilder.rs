//! Whatever repairs say and whatever data comes, the receiving end does not fall over, keeps no more than its bound, and hands on whole
//! packets only.

#![no_main]

use airtcp_proto::fec::{Rebuilder, Repair};
use airtcp_wire::circuit::Key;
use airtcp_wire::ip::Found;
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input {
    Packet(Vec<u8>),
    /// Those of `names` that are the last packet's are named rightly.
    Repair { key: u16, first: u32, names: Vec<Option<u32>>, coded: Vec<u8> },
}

fuzz_target!(|inputs: Vec<Input>| {
    let key = Key::new([7; 16]).fingerprints(&[1; 16], &[2; 16]);
    let mut rebuilder = Rebuilder::new(key.clone());
    let mut last = 0;
    for input in inputs {
        match input {
            Input::Packet(bytes) => {
                last = airtcp_proto::fec::Packet::of(&bytes).map_or(last, |packet| key.name(packet.bytes()));
                rebuilder.handle_packet(&bytes);
            }
            Input::Repair { key, first, names, coded } => {
                let names: Vec<u32> = names.into_iter().map(|name| name.unwrap_or(last)).collect();
                let repair = Repair { key, count: names.len() as u16, first };
                rebuilder.handle_repair(repair, &names, &coded);
            }
        }
        assert!(rebuilder.kept_bytes() <= 512 << 10);
        while let Some(packet) = rebuilder.poll_rebuilt() {
            assert_eq!(Found::read(&packet).map(|found| found.claimed), Ok(packet.len()));
        }
    }
});
