//! Captures of one direction, and what they do and do not show.

use crate::common::records::{Record, pcap, records};
use crate::common::timeline::{MSS, Timeline, read_bytes};
use crate::common::{ONE_WAY, RATE, path, simulate};
use airtcp_capture::{CaptureError, Position};
use airtcp_sim::pcap::Format;
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq};

/// At the sender and at the receiver: what was sent again, or fills a hole, was lost; the first round trip is between the
/// SYN and what follows it; the rate is that of the whole.
#[test]
fn data_alone_shows_losses_and_the_first_round_trip() {
    for scheme in ["cubic", "bbr"] {
        let run = simulate(&path(10, |side| side.loss.packet = 0.01.into()), scheme, Format::Pcap);
        for file in [&run.at_sender, &run.at_receiver] {
            let whole = read_bytes(file).unwrap().forward;
            let data: Vec<Record> = records(file).into_iter().filter(Record::is_forward).collect();
            let capture = read_bytes(&pcap(1, &data)).unwrap();
            let way = &capture.forward;
            assert_eq!(way.position, Position::Unknown);
            assert_eq!(way.counts.acks, 0);
            assert_eq!(way.counts.retransmissions, whole.counts.retransmissions, "{scheme}");
            let lost = |fates: &[(Dur, bool)]| fates.iter().filter(|fate| fate.1).count() as f64;
            let (found, truth) = (lost(&way.fates), lost(&whole.fates));
            let in_vain = whole.counts.spurious as f64;
            assert!((found - truth).abs() <= in_vain + 0.05 * truth + 2.0, "{scheme}: {found} and {truth}");
            let rtt = capture.handshake_rtt.unwrap().as_secs_f64();
            // A data packet may be the first to follow: it takes 1.2 ms on the link.
            assert!((rtt - 2.0 * ONE_WAY.as_secs_f64()).abs() < 0.0015, "{scheme}: {rtt}");
            let sustained = way.rates.sustained.unwrap().0 as f64 / RATE.0 as f64;
            assert!((0.2..1.01).contains(&sustained), "{scheme}: {sustained}");
            assert!(way.rates.dispersion.is_none_or(|peak| peak.value < 1.01 * RATE.0 as f64), "{scheme}");
        }
    }
}

/// A burst from a fast interface into a slow link is no rate of the link.
#[test]
fn without_acknowledgments_a_burst_is_no_rate() {
    let mut line = Timeline::default();
    for burst in 0..20 {
        for n in 0..30 {
            let at = f64::from(burst) * 100.0 + f64::from(n) * 0.01;
            line.data(at, burst * 30 + n, at as u64, 1);
        }
    }
    let rates = line.found().forward.rates;
    let sent = f64::from(20 * 30 * (MSS + 52) * 8);
    assert!(rates.sustained.unwrap().0 as f64 <= sent / 1.9, "{rates:?}");
    assert!(rates.dispersion.is_none() && rates.fastest.is_none(), "{rates:?}");
}

#[test]
fn acknowledgments_alone_are_refused_with_what_they_acknowledge() {
    let run = simulate(&path(5, |_| {}), "cubic", Format::Pcap);
    let acks: Vec<Record> =
        records(&run.at_sender).into_iter().filter(|record| !record.is_forward()).collect();
    let error = read_bytes(&pcap(1, &acks)).unwrap_err();
    let CaptureError::NoneOfTheData { acknowledged } = error else { panic!("{error}") };
    let counts = run.sender().forward.counts;
    // Less what was sent again, and what was under way at the end.
    let sent = counts.payload_bytes - counts.retransmissions * 1448;
    assert!(acknowledged.abs_diff(sent) < 200_000, "{acknowledged} of {sent}");

    // A request goes the same way.
    let mut request = acks;
    request[1].original_len += 100;
    let length = (request[1].original_len - 14) as u16;
    request[1].data[16..18].copy_from_slice(&length.to_be_bytes());
    let error = read_bytes(&pcap(1, &request)).unwrap_err();
    assert!(matches!(error, CaptureError::NoneOfTheData { .. }), "{error}");
}

/// An end of the path that only opens and closes has no data.
#[test]
fn a_connection_without_data_is_none() {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    let fin =
        Segment { seq: Seq(1000), ack: Seq(5000), flags: Flags::FIN | Flags::ACK, ..Segment::default() };
    line.push(50.0, true, Ecn::NotEct, fin);
    let error = read_bytes(&line.file(101, &[], 1 << 16)).unwrap_err();
    assert!(matches!(error, CaptureError::NoData), "{error}");
}
