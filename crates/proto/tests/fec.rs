//! Forward erasure correction, its two ends together.

use airtcp_proto::fec::{Decoder, Encoder, Plan, Repair, Symbol, gf256};
use airtcp_proto::rng::{Chance, Chances};
use airtcp_wire::{Dur, Time};
use proptest::prelude::*;

/// A payload of real bytes.
#[derive(Clone, PartialEq, Debug)]
struct Payload(Vec<u8>);

impl Payload {
    /// That of a source: different bytes, of different lengths.
    fn of(number: u32) -> Payload {
        let bytes =
            (0..1 + number % 13).map(|n| (number.wrapping_mul(0x9e37_79b9) >> (n % 4 * 8)) as u8 ^ n as u8);
        Payload(bytes.collect())
    }

    fn of_repair(repair: Repair) -> Payload {
        let mut sum = Payload(Vec::new());
        repair.coefficients().for_each(|(number, by)| sum.add_scaled(&Payload::of(number), by));
        sum
    }

    /// Without the zeros that fill it up.
    fn trimmed(&self) -> &[u8] {
        &self.0[..self.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)]
    }
}

impl Symbol for Payload {
    fn add_scaled(&mut self, other: &Payload, factor: u8) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        gf256::add_scaled(&mut self.0, &other.0, factor);
    }

    fn scale(&mut self, factor: u8) {
        self.0.iter_mut().for_each(|byte| *byte = gf256::product(*byte, factor));
    }
}

/// A decoder with payloads, and one without beside it.
#[derive(Default)]
struct Pair {
    real: Decoder<Payload>,
    empty: Decoder<()>,
}

impl Pair {
    fn source(&mut self, number: u32) -> Vec<u32> {
        assert_eq!(
            self.real.handle_source(number, Payload::of(number)),
            self.empty.handle_source(number, ())
        );
        self.recovered()
    }

    fn repair(&mut self, repair: Repair) -> Vec<u32> {
        let payload = if repair.is_sound() { Payload::of_repair(repair) } else { Payload(vec![1]) };
        self.real.handle_repair(repair, payload);
        self.empty.handle_repair(repair, ());
        self.recovered()
    }

    /// What is recovered is right, and the same without payloads.
    fn recovered(&mut self) -> Vec<u32> {
        let recovered: Vec<u32> = std::iter::from_fn(|| self.real.poll_recovered()).collect();
        assert_eq!(recovered, std::iter::from_fn(|| self.empty.poll_recovered()).collect::<Vec<_>>());
        for &number in &recovered {
            let payload = self.real.source(number).expect("recovered");
            assert_eq!(payload.trimmed(), Payload::of(number).trimmed(), "{number}");
        }
        assert!(self.real.equations() <= 128);
        recovered
    }
}

/// Which of 100 sources follow from these and these repairs: by elimination in one go.
fn determined(sources: &[u32], repairs: &[Repair]) -> Vec<u32> {
    let row = |repair: &Repair| {
        let mut row = vec![0; 100];
        repair.coefficients().for_each(|(number, by)| row[number as usize] = by);
        sources.iter().for_each(|&number| row[number as usize] = 0);
        row
    };
    let mut rows: Vec<Vec<u8>> = repairs.iter().map(row).collect();
    let mut done = 0;
    for column in 0..100 {
        let Some(pivot) = (done..rows.len()).find(|&row| rows[row][column] != 0) else { continue };
        rows.swap(done, pivot);
        let inverse = gf256::inverse(rows[done][column]);
        rows[done].iter_mut().for_each(|byte| *byte = gf256::product(*byte, inverse));
        let pivot = rows[done].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != done) {
            let by = row[column];
            gf256::add_scaled(row, &pivot, by);
        }
        done += 1;
    }
    let solved = rows.iter().filter(|row| row.iter().filter(|byte| **byte != 0).count() == 1);
    let mut solved: Vec<u32> =
        solved.map(|row| row.iter().position(|byte| *byte != 0).expect("one") as u32).collect();
    solved.sort_unstable();
    solved
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Source(u32),
    Repair(Repair),
}

/// Sources from `numbers`, and repairs over windows that begin there.
fn operations(
    numbers: std::ops::Range<u32>,
    counts: std::ops::Range<u16>,
) -> impl Strategy<Value = Vec<Operation>> {
    let repair = (any::<u16>(), counts, numbers.clone());
    let operation = prop_oneof![
        numbers.prop_map(Operation::Source),
        repair.prop_map(|(key, count, first)| Operation::Repair(Repair { key, count, first })),
    ];
    prop::collection::vec(operation, 0..120)
}

proptest! {
    /// A source is recovered if and only if what has come determines it, whatever the order.
    #[test]
    fn what_is_determined_is_recovered(operations in operations(0..68, 1..33)) {
        let (mut pair, mut sources, mut repairs, mut recovered) = (Pair::default(), vec![], vec![], vec![]);
        for operation in operations {
            recovered.extend(match operation {
                Operation::Source(number) => {
                    sources.push(number);
                    pair.source(number)
                }
                Operation::Repair(repair) => {
                    repairs.push(repair);
                    pair.repair(repair)
                }
            });
            let known = |number: &u32| sources.contains(number) || recovered.contains(number);
            prop_assert!(determined(&sources, &repairs).iter().all(known));
        }
        // Those that have been recovered first and then come are both.
        let of_repairs = determined(&[], &repairs);
        let with_sources = determined(&sources, &repairs);
        for number in recovered {
            prop_assert!(with_sources.contains(&number) || of_repairs.contains(&number) || sources.contains(&number));
        }
    }

    /// Late, duplicate, foreign and absurd input recovers nothing wrong and takes no more memory. [`Pair`] checks both.
    #[test]
    fn nothing_wrong_is_recovered(
        operations in operations(0..u32::MAX, 0..u16::MAX),
        windows in operations(1000..1300, 0..40),
    ) {
        let mut pair = Pair::default();
        for (wild, tame) in operations.into_iter().zip(windows) {
            for operation in [tame, wild] {
                match operation {
                    Operation::Source(number) => pair.source(number),
                    Operation::Repair(repair) => pair.repair(repair),
                };
            }
        }
    }
}

/// What is left of losses.
#[derive(Default, Debug)]
struct Left {
    windows: f64,
    failures: f64,
    sources: f64,
    lost: f64,
}

/// Sends windows of `plan` over a path that loses packets with probability `loss`.
fn send(plan: Plan, loss: f64, windows: u32, chance: &mut Chance) -> Left {
    let (mut pair, mut left) = (Decoder::<()>::default(), Left::default());
    for window in 0..windows {
        let first = window * plan.sources;
        let numbers = first..first + plan.sources;
        for number in numbers.clone().filter(|_| !chance.happens(loss)) {
            pair.handle_source(number, ());
        }
        for n in (0..plan.repairs).filter(|_| !chance.happens(loss)) {
            let key = (window * plan.repairs + n) as u16;
            pair.handle_repair(Repair { key, count: plan.sources as u16, first }, ());
        }
        let lost = numbers.filter(|number| pair.source(*number).is_none()).count();
        left.windows += 1.0;
        left.failures += f64::from(u8::from(lost > 0));
        left.sources += f64::from(plan.sources);
        left.lost += lost as f64;
    }
    left
}

/// The closed form beside what is measured, within four standard deviations and what a field of 256 elements costs.
#[test]
fn the_closed_form_holds() {
    let mut chance = Chances::new(1).chance("fec");
    for (sources, repairs, loss) in
        [(8, 1, 0.01), (8, 3, 0.05), (8, 4, 0.15), (8, 6, 0.15), (32, 8, 0.15), (1, 2, 0.15)]
    {
        let plan = Plan { sources, repairs };
        let left = send(plan, loss, 20_000, &mut chance);
        let (failure, measured) = (plan.failure(loss), left.failures / left.windows);
        let deviation = (failure / left.windows).sqrt();
        assert!((measured - failure).abs() < 4.0 * deviation + 0.003, "{plan:?} {failure} {measured}");
        let (residual, measured) = (plan.residual(loss), left.lost / left.sources);
        assert!((measured - residual).abs() < 0.1 * residual + 0.001, "{plan:?} {residual} {measured}");
    }
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_millis(ms)
}

const ROUND: Dur = Dur::from_millis(100);

/// A path that has lost one packet in `every`.
fn encoder(every: u16) -> Encoder {
    let mut encoder = Encoder::default();
    (1..2000).for_each(|n: u16| encoder.on_report(10 * n, 10 * n / every));
    encoder
}

fn burst(encoder: &mut Encoder, at: Time, packets: u32) {
    (1..=packets).for_each(|n| _ = encoder.on_source(at, 1000 + n, n == packets));
}

#[test]
fn a_burst_gets_its_repairs_when_the_queue_is_dry() {
    let mut encoder = encoder(7);
    assert_eq!(encoder.on_source(ms(0), 1000, false), 0);
    assert!(encoder.poll_timeout().is_never(), "more waits");
    burst(&mut encoder, ms(0), 7);
    assert_eq!(encoder.poll_timeout(), ms(0));
    let due = encoder.due(ms(0), ROUND);
    assert!((4..=6).contains(&due), "{due}");
    assert_eq!(encoder.repair_bytes(), 1007);
    let repair = encoder.repair(ms(0));
    assert_eq!((repair.first, repair.count), (0, 8));
    assert!(encoder.poll_timeout().is_never());
}

#[test]
fn what_is_longer_than_a_window_gets_repairs_for_its_tail() {
    let mut encoder = encoder(7);
    burst(&mut encoder, ms(0), 1000);
    assert!(encoder.due(ms(0), ROUND) < 20);
    assert_eq!(encoder.repair(ms(0)), Repair { key: 1, count: 32, first: 968 });
}

#[test]
fn a_path_that_loses_nothing_gets_none() {
    let mut encoder = encoder(u16::MAX);
    burst(&mut encoder, ms(0), 8);
    assert_eq!(encoder.due(ms(0), ROUND), 0);
    assert!(encoder.poll_timeout().is_never());
}

/// A packet every 10 ms: in a round trip there are no more repairs than for a burst of as many, and the last packet gets one.
#[test]
fn a_trickle_gets_what_a_burst_gets() {
    let mut encoder = encoder(20);
    let mut send = |n: u64| {
        encoder.on_source(ms(10 * n), 1000, true);
        let due = encoder.due(ms(10 * n), ROUND);
        (0..due).for_each(|_| _ = encoder.repair(ms(10 * n)));
        due
    };
    let repairs: u32 = (0..100).map(&mut send).sum();
    assert!((15..=50).contains(&repairs), "{repairs}");
    let last = (100..).find(|n| send(*n) == 0).expect("not every packet has a repair of its own");
    let paused = encoder.poll_timeout();
    assert_eq!(paused, ms(10 * last) + ROUND / 4);
    assert_eq!(encoder.due(paused, ROUND), 1);
}
