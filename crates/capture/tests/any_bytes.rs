//! No bytes make the reader panic, hang or grow, and damage costs no more than what it damages.

use crate::common::{path, simulate};
use airtcp_capture::{Capture, CaptureError, FileError, read};
use airtcp_sim::pcap::Format;
use proptest::prelude::*;
use std::sync::LazyLock;

/// Half a second of a transfer with losses, in either format.
static FILES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let scenario = path(1, |side| side.loss.packet = 0.02.into());
    [Format::Pcap, Format::Pcapng].map(|format| simulate(&scenario, "reno", format).at_sender)
});

fn read_bytes(bytes: &[u8]) -> Result<Capture, CaptureError> {
    read(|| Ok(bytes))
}

/// What cannot be larger than the file makes it.
fn assert_bounded(capture: &Capture, len: usize) {
    for way in [&capture.forward, &capture.reverse] {
        // A packet is a record of 16 bytes at least; what it says it skips is a hole of 16 384 packets at most.
        assert!(way.fates.len() <= len / 16 * (1 << 14), "{} fates of {len} bytes", way.fates.len());
        assert!(way.round_trips.len() <= len / 16 + 1);
        assert!(way.throughput.bytes.len() <= 1 << 13);
        assert!(
            way.counts.spurious <= 64 * (way.counts.retransmissions + way.counts.dsacks + way.counts.late)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000), magic in 0usize..6) {
        let magics: [&[u8]; 6] = [
            &[], &[0xd4, 0xc3, 0xb2, 0xa1], &[0xa1, 0xb2, 0xc3, 0xd4], &[0x4d, 0x3c, 0xb2, 0xa1],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a], &[0xa1, 0xb2, 0x3c, 0x4d],
        ];
        let file = [magics[magic], &bytes].concat();
        if let Ok(capture) = read_bytes(&file) {
            assert_bounded(&capture, file.len());
        }
    }

    /// Bytes anywhere are changed: lengths, times, sequence numbers, options.
    #[test]
    fn damaged_captures(
        which in 0usize..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..60),
        headers_alone: bool,
    ) {
        let mut file = FILES[which].clone();
        for (place, byte) in changes {
            // The first packets' headers, or anywhere: payload is most of the file.
            let within = if headers_alone { 2000.min(file.len()) } else { file.len() };
            file[place.index(within)] = byte;
        }
        if let Ok(capture) = read_bytes(&file) {
            assert_bounded(&capture, file.len());
        }
    }

    /// The good part is read, and what is cut off is counted once.
    #[test]
    fn truncated_captures(which in 0usize..2, cut: prop::sample::Index) {
        let file = &FILES[which];
        let whole = read_bytes(file).unwrap();
        let file = &file[..cut.index(file.len())];
        if let Ok(capture) = read_bytes(file) {
            let survey = &capture.overview.survey;
            prop_assert!(survey.packets <= whole.overview.survey.packets);
            prop_assert!(survey.skipped <= 1);
            prop_assert_eq!(survey.skipped == 1, survey.first_skipped.is_some());
        }
    }
}

#[test]
fn foreign_files_are_told_apart() {
    let error = |bytes: &[u8]| read_bytes(bytes).unwrap_err();
    assert!(matches!(error(b""), CaptureError::File(FileError::Empty)));
    assert!(matches!(error(b"PING 8.8.8.8"), CaptureError::File(FileError::Foreign(_))));
    assert!(matches!(error(b"\x1f\x8b\x08\0"), CaptureError::File(FileError::Compressed("gzip"))));
    assert!(matches!(error(&FILES[0][..20]), CaptureError::File(FileError::Truncated)));
    assert!(matches!(error(&FILES[0][..24]), CaptureError::NoPackets(_)));
    let cut = error(&FILES[0][..50]);
    assert!(cut.to_string().contains("packet 1: the file ends within it"), "{cut}");
}
