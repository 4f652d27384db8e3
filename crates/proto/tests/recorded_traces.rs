//! Recorded cellular links, where they are to be had: each is read, and a sender that never runs dry gets out of it
//! exactly what it holds.

use airtcp_proto::path::{Trace, TraceDriven, Transmitter};
use airtcp_wire::Time;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces/mahimahi");

#[test]
fn every_recorded_trace_is_read_and_used_up() {
    let Ok(files) = std::fs::read_dir(Path::new(FOLDER)) else {
        eprintln!("skipped: there is no {FOLDER}");
        return;
    };
    for file in files {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut transmitter = TraceDriven::new(trace.clone());
        // Twice through, in packets that neither fit an opportunity nor divide it.
        let packets = 2 * text.lines().count() as u64 * 1500 / 1100;
        let end = (0..packets).fold(Time::ZERO, |free_at, _| transmitter.departure(free_at, 1100));
        let (sent, before, with) =
            (packets * 1100, trace.capacity_bytes(end), trace.capacity_bytes(Time(end.0 + 1)));
        assert!(before < sent && sent <= with, "{}: {before} < {sent} ≤ {with}", path.display());
    }
}
