//! No text makes a reader panic, hang or grow: scenarios, traces of deliveries, packets by their headers.

#![no_main]

use airtcp_proto::path::Trace;
use airtcp_sim::Scenario;
use airtcp_wire::ip::Found;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let _ = Found::read(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Trace::parse(text);
    // Nothing that a scenario names is there.
    let _ = Scenario::load(text, "fuzz.toml", Path::new("/nonexistent"), &[]);
});
