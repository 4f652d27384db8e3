//! Runs a scenario as fast as it goes: what the engine costs a delivered data packet.
//!
//!     cargo run --release --example bulk -- [--threads N] SCENARIO.toml [KEY=VALUE]...
//!
//! Its first scheme runs with each of its seeds, which are shared out to the threads. CPU time includes setting the run
//! up; `benches/run.py` takes the difference of two lengths.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::record::FlowRecord;
use airtcp_sim::scenario::Recipe;
use airtcp_sim::{RunOptions, Scenario, run};
use std::path::Path;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = match arguments.first().map(String::as_str) {
        Some("--threads") => {
            arguments.drain(..2).nth(1).and_then(|text| text.parse().ok()).expect("a number")
        }
        _ => 1,
    };
    let (file, changes) = arguments.split_first().expect("the name of a scenario file");
    let scenario = read(file, changes);
    let scheme =
        Scheme::parse(&scenario.schemes[0], &scenario.profile).unwrap_or_else(|error| panic!("{error}"));
    let seeds = scenario.seed..scenario.seed + u64::from(scenario.seeds);
    let delivered: u64 = std::thread::scope(|scope| {
        let (scenario, scheme) = (&scenario, &scheme);
        let share = |thread| seeds.clone().filter(move |seed| seed % threads == thread);
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let share = share(thread);
                scope.spawn(move || share.map(|seed| report(scenario, scheme, seed)).sum::<u64>())
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

fn read(file: &str, changes: &[String]) -> Scenario {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let change = |change: &String| {
        let (key, value) = change.split_once('=').unwrap_or_else(|| panic!("{change}: write KEY=VALUE"));
        (key.to_owned(), value.to_owned())
    };
    let overrides: Vec<_> = changes.iter().map(change).collect();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    Recipe::new(&text, file, folder, &overrides).read().unwrap_or_else(|error| panic!("{error}"))
}

/// One run: prints what came of it, and answers the data packets that were delivered.
fn report(scenario: &Scenario, scheme: &Scheme, seed: u64) -> u64 {
    let outcome = run(scenario, scheme, seed, RunOptions::default());
    let record = outcome.unwrap_or_else(|error| panic!("{error}")).record;
    let sum = |value: fn(&FlowRecord) -> u64| record.flows.iter().map(|flow| value(flow)).sum::<u64>();
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
