//! Unlimited flows over one link with a queue: what the engine costs a delivered data packet.
//!
//!     cargo run --release --example bulk -- [FLOWS [RATE_MBIT [RTT_MS [LOSS [QUEUE_PACKETS [STAGGER_S [SECONDS
//!         [SCHEME [RUNS [THREADS]]]]]]]]]]
//!
//! CPU time includes setting the run up; `benches/run.py` takes the difference of two lengths. RUNS are independent
//! and shared out to THREADS.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::record::FlowRecord;
use airtcp_sim::scenario::model::{Flow, Link, Side};
use airtcp_sim::{RunOptions, Scenario, run};
use airtcp_wire::{Dur, Rate};

/// What ns-2's NewReno does with 1000-byte packets: no options, every packet acknowledged.
const SCHEME: &str = "newreno:profile=ns2-2.35:receive_window=1GB:window_scaling=true";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| match arguments.get(index) {
        Some(text) => text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number")),
        None => default,
    };
    let (flows, rate_mbps, rtt_ms) = (number(0, 1.0), number(1, 100.0), number(2, 20.0));
    let (loss, queue, stagger_s, seconds) =
        (number(3, 0.0), number(4, 240.0), number(5, 0.0), number(6, 10.0));
    let scheme = arguments.get(7).map_or(SCHEME, String::as_str);

    let rate = Rate((rate_mbps * 1e6) as u64);
    let delay = Dur::from_secs_f64(rtt_ms / 2e3);
    let mut link = Link::symmetric("link", Side::plain(rate, delay, queue as u32));
    link.forward.loss.packet = loss.into();
    link.reverse = Side::plain(rate, delay, 1_000_000);
    let mut scenario = Scenario::over(vec![link], Dur::from_secs_f64(seconds));
    let stagger = Dur::from_secs_f64(stagger_s);
    scenario.flows = vec![Flow { count: flows as u32, stagger, ..Flow::unlimited("bulk", 0, 0) }];

    let scheme = Scheme::parse(scheme, "ns2-2.35").unwrap_or_else(|error| panic!("{error}"));
    let (runs, threads) = (number(8, 1.0) as u64, number(9, 1.0) as u64);
    let delivered: u64 = std::thread::scope(|scope| {
        let (scenario, scheme) = (&scenario, &scheme);
        let share = |thread| (1..=runs).filter(move |seed| seed % threads == thread);
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || share(thread).map(|seed| report(scenario, scheme, seed)).sum::<u64>())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a run has failed")).sum()
    });
    if let Some(cpu) = cpu_seconds() {
        println!("cpu {cpu:.3} s, {:.1} ns a packet", cpu * 1e9 / delivered as f64);
    }
    if let Some(kib) = peak_memory_kib() {
        println!("peak_kib={kib}");
    }
}

/// One run: prints what came of it, and answers the data packets that were delivered.
fn report(scenario: &Scenario, scheme: &Scheme, seed: u64) -> u64 {
    let outcome = run(scenario, scheme, seed, RunOptions::default());
    let record = outcome.unwrap_or_else(|error| panic!("{error}")).record;
    let sum = |value: fn(&FlowRecord) -> u64| record.flows.iter().map(value).sum::<u64>();
    println!(
        "delivered={} retransmitted={} timeouts={} events={} goodput_kbps={}",
        record.packets_delivered,
        sum(|flow| flow.retransmissions),
        sum(|flow| flow.timeouts),
        record.events,
        (record.goodput_bps / 1e3) as u64,
    );
    record.packets_delivered
}

/// User and system time of this process, where there is a /proc.
fn cpu_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<f64>().ok());
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}

/// The largest resident set of this process so far, where there is a /proc.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
