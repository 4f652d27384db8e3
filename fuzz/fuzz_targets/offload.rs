//! No frame and no description of it make the code that cuts segments panic, or go on for ever.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/live/src/emulate/header.rs"]
mod header;
#[path = "../../crates/live/src/emulate/offload/mod.rs"]
mod offload;

use header::{Framing, Header};
use libfuzzer_sys::fuzz_target;
use offload::{DESCRIPTION_LEN, Offload, Pieces};

fuzz_target!(|input: (bool, [u8; DESCRIPTION_LEN], Vec<u8>)| {
    let (is_tagged, description, mut frame) = input;
    for framing in [Framing::Ip, Framing::Ethernet] {
        let header = Header::read(framing, &frame);
        let _ = header.destination(&frame);
        header.mark(&mut frame);
    }
    let offload = Offload::read(&description).shifted(if is_tagged { 4 } else { 0 });
    let Some(mut pieces) = Pieces::of(&frame, offload) else { return };
    let mut packet = vec![0; frame.len()];
    let most = frame.len().max(1);
    assert!((0..=most).any(|_| pieces.next_into(&frame, &mut packet).is_none()));
});
