//! The emulator in real time, between two network namespaces: what arrives is what the models say.
#![allow(clippy::disallowed_methods, reason = "these tests are about real time")]

#[path = "emulator/attempts.rs"]
mod attempts;
#[path = "emulator/probe.rs"]
mod probe;
#[path = "emulator/rig.rs"]
mod rig;

use attempts::one_of_a_few;
use probe::{Arrival, Stream};
use rig::{FAR, NEAR, Rig, over};
use std::sync::Mutex;
use std::time::Duration;

/// One at a time: each takes a processor.
static TURN: Mutex<()> = Mutex::new(());

const PATIENCE: Duration = Duration::from_millis(300);

fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn delays(arrivals: &[Arrival]) -> impl Iterator<Item = f64> {
    arrivals.iter().map(Arrival::delay_ms)
}

/// The value below which `share` of them lie.
fn quantile(values: impl Iterator<Item = f64>, share: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

/// A round trip of 1 ms, held within 0.2 ms at the median: idle, and with 20 Mbit/s across it.
#[test]
fn a_round_trip_of_one_millisecond() {
    let _turn = TURN.lock();
    // 100 bytes take 1 µs.
    let path = "[[link]]\nname = 'air'\nrate = '800Mbit/s'\ndelay = '0.5ms'\n";
    let probes = Stream { packets: 400, bytes: 100, interval: micros(1_300) };
    let load = Stream { packets: 1_000, bytes: 1_300, interval: micros(520) };
    let work = |rig: &Rig| {
        let ways = || {
            let there = probes.run(&rig.near, (&rig.far, FAR), PATIENCE);
            let back = probes.run(&rig.far, (&rig.near, NEAR), PATIENCE);
            quantile(delays(&there), 0.5) + quantile(delays(&back), 0.5)
        };
        let idle = ways();
        let mut beside = FAR;
        beside.set_port(9001);
        let loaded = std::thread::scope(|scope| {
            scope.spawn(|| load.run(&rig.near, (&rig.far, beside), PATIENCE));
            ways()
        });
        [idle, loaded]
    };
    one_of_a_few(|| {
        let (round_trips_ms, told) = over(path, work)?;
        eprintln!("idle and loaded, {round_trips_ms:.3?} ms");
        for lateness in &told.kept.lateness {
            eprintln!("    {:?}", lateness.record());
        }
        Some(round_trips_ms.iter().all(|ms| (ms - 1.0).abs() < 0.2))
    });
}

/// What is offered above the rate is not delivered, and what is below it is: 20 Mbit/s within 1.5 %.
#[test]
fn the_rate() {
    let _turn = TURN.lock();
    let path = "[[link]]\nname = 'air'\nrate = '20Mbit/s'\ndelay = '3ms'\nqueue.packets = 50\n";
    let stream = Stream { packets: 3_000, bytes: 1_500, interval: micros(400) };
    one_of_a_few(|| {
        let (arrivals, told) = over(path, |rig| stream.run(&rig.near, (&rig.far, FAR), PATIENCE))?;
        let lost = u64::from(stream.packets) - arrivals.len() as u64;
        assert_eq!(lost, told.counts[0].lost_overflow);
        assert!(lost > 500, "{lost}, of 30 Mbit/s");
        assert_eq!(told.links[0].queue_max_packets, 50);
        let rate = rate_mbps(&arrivals, 1_500);
        eprintln!("{rate:.2} Mbit/s");
        Some((rate / 20.0 - 1.0).abs() < 0.015)
    });
}

/// From the first arrival to the last.
fn rate_mbps(arrivals: &[Arrival], bytes: usize) -> f64 {
    let [first, .., last] = arrivals else { panic!("too few arrivals") };
    let seconds = (last.received - first.received).as_secs_f64();
    (arrivals.len() - 1) as f64 * bytes as f64 * 8e-6 / seconds
}

/// A capacity trace whose rate changes: 24 Mbit/s and 4.8 Mbit/s in turn every half a second.
#[test]
fn the_rate_of_a_trace() {
    let _turn = TURN.lock();
    let fast = (0..500u32).flat_map(|ms| [ms, ms]);
    // The last one ends the round.
    let slow = (505..=1000).step_by(5).flat_map(|ms| [ms, ms]);
    let text: String = fast.chain(slow).map(|ms| format!("{ms}\n")).collect();
    let file = std::env::temp_dir().join(format!("airtcp-{}.trace", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let path =
        format!("[[link]]\nname = 'air'\ntrace = '{}'\ndelay = '1ms'\nqueue.packets = 200\n", file.display());
    // So much that some always waits, even where the sender is kept from running for a while.
    let stream = Stream { packets: 11_000, bytes: 1_500, interval: micros(200) };
    one_of_a_few(|| {
        let (arrivals, _) = over(&path, |rig| stream.run(&rig.near, (&rig.far, FAR), PATIENCE))?;
        let begin = arrivals[0].received;
        let in_two_rounds = |arrival: &Arrival| (arrival.received - begin).as_secs_f64() < 2.0;
        let rounds: Vec<Arrival> = arrivals.into_iter().filter(in_two_rounds).collect();
        let rate = rate_mbps(&rounds, 1_500);
        eprintln!("{rate:.2} Mbit/s over two rounds of the trace");
        Some((rate / 14.4 - 1.0).abs() < 0.02)
    });
    std::fs::remove_file(file).unwrap();
}

/// Loss of 5 %: what is missing is what the emulator has counted, and within four standard deviations.
#[test]
fn the_loss() {
    let _turn = TURN.lock();
    let path = "[[link]]\nname = 'air'\nrate = '200Mbit/s'\ndelay = '2ms'\nloss.packet = '5%'\nqueue.packets = 6000\n";
    let stream = Stream { packets: 6_000, bytes: 200, interval: micros(150) };
    let run = over(path, |rig| stream.run(&rig.near, (&rig.far, FAR), PATIENCE));
    let Some((arrivals, told)) = run else { return };
    let (n, p) = (f64::from(stream.packets), 0.05);
    let lost = n - arrivals.len() as f64;
    assert!((lost - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{lost} of {n}");
    assert_eq!(lost as u64, told.counts[0].lost_corruption);
}

/// Delays uniform between 5 and 25 ms, in which packets overtake: the distribution function is nowhere off by more than
/// Kolmogorov and Smirnov allow once in a thousand times, and 0.3 ms.
#[test]
fn the_distribution_of_delays() {
    let _turn = TURN.lock();
    let path = "[[link]]\nname = 'air'\nrate = '800Mbit/s'\ndelay = '5ms'\n\
                jitter = { distribution = 'uniform', low = '0ms', high = '20ms', overtaking = true }\n";
    let stream = Stream { packets: 2_000, bytes: 100, interval: micros(400) };
    one_of_a_few(|| {
        let (arrivals, _) = over(path, |rig| stream.run(&rig.near, (&rig.far, FAR), PATIENCE))?;
        assert_eq!(arrivals.len(), 2_000);
        assert!(!arrivals.is_sorted_by_key(|arrival| arrival.number), "none has overtaken another");
        let mut sorted: Vec<f64> = delays(&arrivals).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let off = |(rank, ms): (usize, &f64)| (rank as f64 / n - ((ms - 5.0) / 20.0).clamp(0.0, 1.0)).abs();
        let worst = sorted.iter().enumerate().map(off).fold(0.0, f64::max);
        eprintln!("off by {worst:.4} at most");
        Some(worst < 1.95 / n.sqrt() + 0.3 / 20.0)
    });
}

/// RED marks ECN-capable packets, in a header whose checksum the receiving kernel accepts.
#[test]
fn marks_of_red() {
    let _turn = TURN.lock();
    let path = "[[link]]\nname = 'air'\nrate = '10Mbit/s'\ndelay = '2ms'\n\
        queue = { discipline = 'red', ecn = true, min_threshold = 5, max_threshold = 30, weight = 0.02, packets = 60 }\n";
    let stream = Stream { packets: 1_500, bytes: 1_000, interval: micros(770) };
    let run = over(path, |rig| stream.run(&rig.near, (&rig.far, FAR), PATIENCE));
    let Some((arrivals, told)) = run else { return };
    let marked = arrivals.iter().filter(|arrival| arrival.ecn == 3).count() as u64;
    assert!(marked > 20, "{marked}");
    assert_eq!(marked, told.counts[0].marked_packets);
    assert!(arrivals.iter().all(|arrival| [2, 3].contains(&arrival.ecn)));
}
