//! What is found in the simulator's own captures is what the simulator knows.
//!
//! The bounds are stated where they are checked. At the receiver a lost retransmission leaves no trace, and what was
//! under way at the end has not come; at the sender what is under way has no fate yet.

use crate::common::{ONE_WAY, RATE, Run, path, simulate};
use airtcp_capture::{DirectionReport, Position};
use airtcp_proto::path::jitter::table::{self, DelayRange};
use airtcp_proto::path::loss::burst;
use airtcp_sim::Scenario;
use airtcp_sim::pcap::Format;
use airtcp_sim::scenario::model::{Distribution, Jitter, Side, Spikes};
use airtcp_wire::{Dur, Probability};

const SCHEMES: [&str; 3] = ["reno", "cubic", "bbr"];

fn lossy(side: &mut Side) {
    side.loss.packet = 0.01.into();
}

/// Bursts of four packets.
fn bursts(side: &mut Side) {
    let chain = burst::Config {
        to_bad: Probability::new(0.005),
        to_good: Probability::new(0.25),
        good_loss: Probability::default(),
        bad_loss: Probability::ONE,
        interval: None,
    };
    side.loss.burst = Some(chain);
}

/// Two packets in a hundred are 5 to 15 ms late, and others overtake them.
fn overtaking(side: &mut Side) {
    let range = |probability, low, high| {
        let (low, high) = (Dur::from_millis(low), Dur::from_millis(high));
        DelayRange { probability: Probability::new(probability), low, high }
    };
    let distribution =
        Distribution::Table(table::Config { ranges: vec![range(0.98, 0, 0), range(0.02, 5, 15)] });
    side.jitter = Some(Jitter { distribution, overtaking: true, start: Dur::ZERO });
}

/// For 200 ms in 3 s, packets take 800 ms more: every timer expires spuriously.
fn spikes(side: &mut Side) {
    let (period, length, extra) = (Some(Dur::from_secs(3)), Dur::from_millis(200), Dur::from_millis(800));
    side.spikes = Some(Spikes { at: vec![], every: None, period, length, extra });
}

/// Within `relative`, or `absolute` if that is more.
fn assert_near(found: f64, truth: f64, relative: f64, absolute: f64, what: &str) {
    let bound = (truth * relative).max(absolute);
    assert!((found - truth).abs() <= bound, "{what}: found {found}, truth {truth}, bound {bound}");
}

fn lost(way: &DirectionReport) -> f64 {
    way.fates.iter().filter(|fate| fate.1).count() as f64
}

fn quantile_ms(way: &DirectionReport, share: f64) -> f64 {
    let mut trips: Vec<Dur> = way.round_trips.iter().map(|trip| trip.1).collect();
    trips.sort();
    trips[(trips.len() as f64 * share) as usize].as_secs_f64() * 1e3
}

fn each(change: fn(&mut Side), mut check: impl FnMut(&str, &Run)) {
    let scenario: Scenario = path(15, change);
    for (index, scheme) in SCHEMES.into_iter().enumerate() {
        let format = [Format::Pcap, Format::Pcapng][index % 2];
        check(scheme, &simulate(&scenario, scheme, format));
    }
}

/// Rate within 1 %, where the packets' spacing shows it; it never exceeds the link's by more than a packet a second.
fn assert_rate(scheme: &str, way: &DirectionReport) {
    let rates = &way.rates;
    let found = rates.dispersion.unwrap_or_else(|| panic!("{scheme}: no rate in {rates:?}")).value;
    assert_near(found, RATE.0 as f64, 0.01, 0.0, scheme);
    assert!(rates.sustained.unwrap().0 as f64 <= RATE.0 as f64 * 1.01, "{scheme}: {rates:?}");
}

/// Least within 2 ms: a packet's time on the link comes on top of the delay. The median within 5 % of what the sender
/// measured.
fn assert_round_trips(scheme: &str, run: &Run, way: &DirectionReport) {
    assert_near(quantile_ms(way, 0.0), (ONE_WAY * 2).as_secs_f64() * 1e3, 0.0, 2.0, scheme);
    assert_near(quantile_ms(way, 0.5), run.truth.rtt_p50_ms.unwrap(), 0.05, 0.0, scheme);
}

#[test]
fn at_the_sender_every_loss_is_found() {
    for change in [lossy, bursts] {
        each(change, |scheme, run| {
            let capture = run.sender();
            let (way, truth) = (&capture.forward, &run.truth);
            assert_eq!(way.position, Position::AtSender);
            assert_eq!(way.counts.data_packets, truth.data_packets_sent);
            assert_eq!(way.counts.retransmissions, truth.retransmissions);
            assert_eq!(way.counts.spurious, truth.retransmissions_spurious);
            assert_eq!(way.counts.timeouts, truth.timeouts);
            assert_eq!((way.counts.missed, way.counts.duplicates, way.counts.late), (0, 0, 0));
            // What is lost shortly before the end, a burst of four on average, is unknown.
            assert_near(lost(way), run.lost() as f64, 0.02, 4.0, scheme);
            assert_rate(scheme, way);
            assert_round_trips(scheme, run, way);
        });
    }
}

#[test]
fn at_the_receiver_every_hole_that_is_filled_is_a_loss() {
    for change in [lossy, bursts] {
        each(change, |scheme, run| {
            let capture = run.receiver();
            let way = &capture.forward;
            assert_eq!(way.position, Position::AtReceiver);
            // What the sender's capture says of copies that were lost: all but the first of each piece.
            let lost_again = run.truth.retransmissions - way.counts.retransmissions;
            assert!(lost(way) <= run.lost() as f64, "{scheme}");
            assert_near(lost(way), (run.lost() - lost_again) as f64, 0.03, 3.0, scheme);
            assert_rate(scheme, way);
            // From an acknowledgment to the data that it lets go.
            assert_near(quantile_ms(way, 0.0), (ONE_WAY * 2).as_secs_f64() * 1e3, 0.0, 2.0, scheme);
            assert_near(quantile_ms(way, 0.5), run.truth.rtt_p50_ms.unwrap(), 0.05, 0.0, scheme);
        });
    }
}

/// The mean burst of the losses that the chain makes, within 25 % (some 40 bursts) of 1/to_good = 4 packets: BBR alone,
/// whose queue hardly overflows.
#[test]
fn bursts_have_their_length() {
    let run = simulate(&path(60, bursts), "bbr", Format::Pcapng);
    for capture in [run.sender(), run.receiver()] {
        let way = &capture.forward;
        let begins = way.fates.windows(2).filter(|pair| !pair[0].1 && pair[1].1).count() as f64;
        assert_near(lost(way) / begins, 4.0, 0.25, 0.0, "burst");
        // π = to_bad / (to_bad + to_good)
        let share = lost(way) / way.fates.len() as f64;
        assert_near(share, 0.005 / 0.255, 0.25, 0.0, "share");
    }
}

/// Packets that are late and not sent again, and spurious retransmissions. Late are all that were delayed, but for those
/// that nothing followed within their delay: BBR and the queue-filling ones keep the link busy. How late they are:
/// 5 to 15 ms less a packet's time, 9.4 ms in the mean.
#[test]
fn overtaken_packets_are_late_and_not_lost() {
    each(overtaking, |scheme, run| {
        let delayed = 0.02 * run.truth.data_packets_sent as f64;
        for capture in [run.sender(), run.receiver()] {
            let way = &capture.forward;
            let spurious = run.truth.retransmissions_spurious as f64;
            assert_near(way.counts.spurious as f64, spurious, 0.02, 2.0, scheme);
            let at_receiver = way.position == Position::AtReceiver;
            // At the sender, what no DSACK reports counts as lost: an original that PAWS has thrown away.
            let bound = if at_receiver { 0.85 } else { 0.7 };
            let late = way.counts.late as f64;
            assert!(bound * delayed <= late && late <= 1.15 * delayed, "{scheme}: {late} of {delayed}");
            let mean = way.late_by.iter().map(|by| by.as_secs_f64()).sum::<f64>() / way.late_by.len() as f64;
            assert_near(mean, 0.0094, 0.15, 0.0, scheme);
            if at_receiver {
                assert!(lost(way) <= run.lost() as f64 + 1.0, "{scheme}");
            }
        }
    });
}

#[test]
fn timeouts_in_vain_are_found_at_the_sender() {
    each(spikes, |scheme, run| {
        let capture = run.sender();
        let counts = capture.forward.counts;
        assert!(run.truth.timeouts_spurious > 3, "{scheme}: the scenario makes some");
        assert_eq!(counts.timeouts, run.truth.timeouts, "{scheme}");
        assert_eq!(counts.spurious, run.truth.retransmissions_spurious, "{scheme}");
        assert_near(lost(&capture.forward), run.lost() as f64, 0.02, 2.0, scheme);
    });
}

/// Without timestamps and SACK there is less to go by: losses and spurious retransmissions together are exact, either
/// alone within a quarter.
#[test]
fn without_options_the_judgement_is_coarser() {
    let run = simulate(&path(60, lossy), "reno:recovery=newreno:timestamps=false:sack=false", Format::Pcap);
    for capture in [run.sender(), run.receiver()] {
        let way = &capture.forward;
        assert_eq!((capture.timestamps, capture.sack), (false, Some(false)));
        assert_near(lost(way), run.lost() as f64, 0.25, 3.0, "lost");
        let sum = lost(way) + way.counts.spurious as f64;
        assert_near(sum, way.counts.retransmissions as f64, 0.0, 1.0, "retransmissions");
    }
}
