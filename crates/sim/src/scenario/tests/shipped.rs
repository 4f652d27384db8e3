//! The scenarios that are shipped.

use super::{load, pairs, root, shipped_texts};
use crate::scenario::Scenario;
use crate::scenario::model::Capacity;
use airtcp_wire::{Dur, Rate};
use std::path::Path;

/// Stands in for the trace that a user brings.
const WITH_TRACE: &[(&str, &str)] = &[("cell.trace", "src/scenario/tests/fixtures/steady.trace")];

fn load_shipped(name: &str, text: &str) -> Scenario {
    let overrides = if name == "trace.toml" { pairs(WITH_TRACE) } else { Vec::new() };
    let folder = root().join("scenarios");
    Scenario::load(text, name, &folder, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_shipped_scenario_loads_and_says_what_it_is() {
    let shipped = shipped_texts();
    assert!(shipped.len() >= 9, "{}", shipped.len());
    for (name, text) in shipped {
        let scenario = load_shipped(&name, &text);
        assert!(!scenario.description.is_empty(), "{name}");
        assert!(text.starts_with("# "), "{name} begins with where its numbers come from");
    }
}

/// Readers see which link it is; schemes act there.
#[test]
fn every_shipped_scenario_with_several_links_names_the_wireless_one() {
    for (name, text) in shipped_texts() {
        let is_named = text.lines().any(|line| line.starts_with("base_station = "));
        assert_eq!(is_named, text.matches("\n[[link]]").count() > 1, "{name}");
    }
}

#[test]
fn every_shipped_scenario_reads_back_from_its_full_form() {
    for (name, text) in shipped_texts() {
        let scenario = load_shipped(&name, &text);
        let full = scenario.to_toml();
        // Paths in a file are relative to its folder, here the one that the override was relative to.
        let again = Scenario::load(&full, &name, Path::new(""), &[]);
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}\n{full}")), scenario);
    }
}

#[test]
fn the_built_in_scenario_needs_no_file() {
    let scenario = Scenario::built_in(&pairs(&[("duration", "3s")])).expect("sound");
    assert_eq!(scenario.duration, Dur::from_secs(3));
    assert_eq!(scenario.links[0].name, "wireless");
}

#[test]
fn the_trace_scenario_asks_for_its_trace() {
    let text = std::fs::read_to_string(root().join("scenarios/trace.toml")).expect("a scenario");
    let error = load(&text, &[]).expect_err("no capacity").to_string();
    assert!(error.contains("give exactly one of rate, trace, log"), "{error}");
}

/// A recorded 3G network, down and up, as `airtcp compare scenarios/trace.toml --set …` reads it.
#[test]
fn a_recorded_trace_drives_both_directions() {
    let traces = root().join("../shared/traces/mahimahi");
    let file = |name: &str| traces.join(name).display().to_string();
    let (down, up) = (file("Verizon-EVDO-driving.down"), file("Verizon-EVDO-driving.up"));
    if !Path::new(&down).exists() {
        eprintln!("skipped: there is no {down}");
        return;
    }
    let text = std::fs::read_to_string(root().join("scenarios/trace.toml")).expect("a scenario");
    let scenario = load(&text, &[("cell.trace", &down), ("cell.reverse.trace", &up)]).expect("sound");
    let link = &scenario.links[0];
    assert!(matches!(link.forward.capacity, Capacity::Trace(_)));
    assert_ne!(link.forward.capacity, link.reverse.capacity);
    // Mean rates of the two files: lines · 1500 B / last time.
    assert_eq!(link.forward.capacity.mean_rate(), Rate(520_500));
    assert_eq!(link.reverse.capacity.mean_rate(), Rate(842_679));
}

/// Bandwidth logs of 3G commutes.
#[test]
fn a_recorded_log_gives_rate_and_latency() {
    let log = root().join("../shared/traces/3g-logs/report.2010-09-13_1003CEST.json");
    if !log.exists() {
        eprintln!("skipped: there is no {}", log.display());
        return;
    }
    let text = std::fs::read_to_string(root().join("scenarios/trace.toml")).expect("a scenario");
    let log = log.display().to_string();
    // The scenario has a delay of its own, which keeps the log's latency out.
    let scenario = load(&text, &[("cell.log", &log)]).expect("sound");
    assert!(matches!(&scenario.links[0].forward.capacity, Capacity::Log(file) if !file.latency));
    let scenario = load("[[link]]\nname = \"cell\"", &[("cell.log", &log)]).expect("sound");
    assert!(matches!(&scenario.links[0].reverse.capacity, Capacity::Log(file) if file.latency));
}
