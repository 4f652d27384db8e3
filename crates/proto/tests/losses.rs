//! What holds for every loss model.

use airtcp_proto::path::Loss;
use airtcp_proto::path::loss::burst::{Config, Interval};
use airtcp_proto::queue::Item;
use airtcp_proto::rng::Chances;
use airtcp_wire::{Dur, Probability, Rate, Time};
use proptest::prelude::*;

const FULL_PACKET_BYTES: u32 = 1500;
/// A sender that gives up later than all others: Linux retransmits 15 times, and doubles the RTO up to 2 min.
const MOST_RTO: Dur = Dur::from_secs(120);

fn probability(most: f64) -> impl Strategy<Value = Probability> {
    (0.0..most).prop_map(Probability::new)
}

/// Bursts of up to 1000 packets, which are certain to lose what is sent in them. None of these chains is told how long
/// its probabilities hold.
fn bursts() -> impl Strategy<Value = Config> {
    (probability(0.1), 0.001..0.9, probability(0.1), probability(1.0)).prop_map(
        |(to_bad, to_good, good_loss, lost)| Config {
            to_bad,
            to_good: Probability::new(to_good),
            good_loss,
            bad_loss: Probability::new(1.0 - lost.get() / 10.0),
            interval: None,
        },
    )
}

/// Losses of every kind together, of at most half of what is sent in the long run.
fn losses() -> impl Strategy<Value = Loss> {
    let numbers = prop::collection::vec(1u64..1000, 0..20);
    let times = prop::collection::vec((0u64..10_000).prop_map(Dur::from_millis), 0..20);
    let random = (0.0..1e-5f64, 0.0..0.3f64, prop::option::of(bursts()));
    (random, numbers, times, 0u64..5000).prop_map(|(random, packets, at, start)| Loss {
        ber: random.0.into(),
        packet: random.1.into(),
        burst: random.2,
        packets: packets.into(),
        at: at.into(),
        start: Dur::from_millis(start),
        ..Loss::default()
    })
}

/// Retransmissions of one packet until it arrives, after a train at the link's rate; `None` if 60 are all lost.
fn retransmissions(loss: &Loss, rate: Rate, train: u32, seed: u64) -> Option<u32> {
    let chances = Chances::new(seed);
    let Some(mut model) = loss.build(None, |name| chances.chance(name)) else { return Some(0) };
    let packet = Item { bytes: FULL_PACKET_BYTES, ..Item::default() };
    let mut now = Time::ZERO;
    for _ in 0..train {
        now += rate.time_for(u64::from(packet.bytes));
        model.is_lost(now, &packet);
    }
    let mut rto = Dur::from_millis(200);
    (1..=60).find(|_| {
        now += rto;
        rto = (rto * 2).min(MOST_RTO);
        !model.is_lost(now, &packet)
    })
}

proptest! {
    /// A link whose rate is known, whatever it loses, does not hold a sender down for good that waits for its timer and
    /// then sends one packet (RFC 6298 §5).
    #[test]
    fn no_loss_holds_down_a_sender_that_backs_off(
        mut loss in losses(),
        mbps in 1u64..1000,
        train in 0u32..5000,
        seed: u64,
    ) {
        let rate = Rate(mbps * 1_000_000);
        loss.at_rate(rate);
        prop_assume!(loss.mean(FULL_PACKET_BYTES, None) <= 0.5);
        prop_assert!(retransmissions(&loss, rate, train, seed).is_some());
    }
}

/// From packet to packet, what a burst has lost does not end while the sender waits: so it must be asked for.
#[test]
fn from_packet_to_packet_a_burst_outlasts_the_sender() {
    let chain = |interval| Config {
        to_bad: Probability::new(0.01),
        to_good: Probability::new(0.001),
        good_loss: Probability::default(),
        bad_loss: Probability::ONE,
        interval,
    };
    let rate = Rate(1_000_000);
    let outcome = |interval| {
        let mut loss = Loss { burst: Some(chain(interval)), ..Loss::default() };
        loss.at_rate(rate);
        retransmissions(&loss, rate, 1000, 1)
    };
    assert_eq!(outcome(Some(Interval::Packet)), None);
    assert!(outcome(Some(Interval::Time(Dur::from_millis(12)))).is_some());
}
