//! No bytes make the reader of captures panic, hang or grow.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(capture) = airtcp_capture::read(|| Ok(bytes)) else { return };
    for way in [&capture.forward, &capture.reverse] {
        assert!(way.fates.len() <= 1 << 22);
        assert!(way.round_trips.len() <= 1 << 20);
        assert!(way.throughput.bytes.len() <= 1 << 13);
    }
});
