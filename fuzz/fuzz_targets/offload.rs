//! No frame and no description of it make the code that cuts segments panic, or go on for ever.

#![no_main]
#![allow(dead_code)]

#[path = "../../crates/live/src/emulate/header.rs"]
mod header;
#[path = "../../crates/live/src/offload/mod.rs"]
mod offload;

use header::{Framing, Header};
use libfuzzer_sys::fuzz_target;
use offload::{DESCRIPTION_LEN, Offload, Pieces};

fuzz_target!(|bytes: &[u8]| {
    let Some((description, frame)) = bytes.split_first_chunk::<DESCRIPTION_LEN>() else { return };
    let mut frame = frame.to_vec();
    for framing in [Framing::Ip, Framing::Ethernet] {
        let header = Header::read(framing, &frame);
        let _ = header.destination(&frame);
        header.mark(&mut frame);
    }
    let Some(mut pieces) = Pieces::of(&frame, Offload::read(description)) else { return };
    let mut packet = vec![0; frame.len()];
    let most = frame.len().max(1);
    assert!((0..=most).any(|_| pieces.next_into(&frame, &mut packet).is_none()));
});
