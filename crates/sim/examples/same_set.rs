//! Prints the cases that `make same` runs, one JSON object a line.
//!
//!     same_set ROOT
//!
//! ROOT is the folder of the repository.

#[path = "../tests/same/mod.rs"]
#[allow(dead_code, reason = "`same` runs the cases")]
mod same;

use airtcp_proto::cc::{Param, controllers};
use airtcp_proto::scheme::{CIRCUIT, KeyDoc, Scheme, keys, keys_of};
use airtcp_proto::{base_station, circuit};
use same::case::Case;
use same::set::{folder, named_schemes, networks, random_case, random_network, with_features};
use std::path::{Path, PathBuf};

fn main() {
    let root = std::env::args().nth(1).expect("ROOT");
    for case in cases(root.as_ref()) {
        println!("{}", serde_json::to_string(&case).expect("plain data"));
    }
}

/// All cases.
fn cases(root: &Path) -> Vec<Case> {
    let named = named_schemes();
    let with_keys = schemes_with_keys();
    let mut cases = shipped(root, &named);
    cases.extend(with_features(&named));
    cases.extend(networks(&named));
    cases.extend((0..RANDOM).map(|number| random_case(number, &named, &with_keys)));
    cases.extend((0..RANDOM / 4).map(|number| random_network(number, &named, &with_keys)));
    let number_of = |at: usize| RANDOM + at as u64;
    cases.extend(with_keys.iter().enumerate().map(|(at, scheme)| {
        let scenario = random_case(number_of(at), &named, &with_keys);
        Case { name: format!("key/{scheme}"), scheme: scheme.clone(), ..scenario }
    }));
    cases
}

/// Random cases.
const RANDOM: u64 = 2000;

/// The scenarios that are shipped, made short, each with every named scheme.
fn shipped(root: &Path, schemes: &[String]) -> Vec<Case> {
    let mut paths: Vec<_> = std::fs::read_dir(root.join("scenarios"))
        .expect("the folder of scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    paths.sort();
    let case = |path: &PathBuf| {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let scenario = short(&std::fs::read_to_string(path).expect("a scenario"));
        let own = own_schemes(&scenario);
        let case = move |scheme: &String| Case {
            name: format!("scenarios/{name}/{scheme}"),
            scenario: scenario.clone(),
            scheme: scheme.clone(),
            seed: 1,
        };
        schemes.iter().chain(own.iter().filter(|own| !schemes.contains(own))).map(case).collect::<Vec<_>>()
    };
    paths.iter().flat_map(case).collect()
}

/// The text of a shipped scenario, which runs for 3 s and brings the trace that its user would bring.
fn short(text: &str) -> String {
    let line = |line: &str| match line.split(' ').next() {
        Some("warmup") => String::new(),
        Some("duration") => "duration = \"3s\"\n".to_owned(),
        _ if line == "name = \"cell\"" && !text.contains("channel =") => {
            format!("{line}\ntrace = \"steady.trace\"\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn own_schemes(scenario: &str) -> Vec<String> {
    let loaded = airtcp_sim::Scenario::load(scenario, "shipped", &folder(), &[]);
    loaded.unwrap_or_else(|error| panic!("{error}")).schemes
}

/// Every key of every part of a scheme, with each of its words or with another number.
fn schemes_with_keys() -> Vec<String> {
    let of_stack = || keys().into_iter().filter(|key| key.name != "congestion_control");
    let of_stack = of_stack().flat_map(|key| set("reno", &key).into_iter().chain(set("cubic", &key)));
    let params = controllers().iter().flat_map(|spec| {
        let bounds = |param: &'static Param<'static>| [param.min, param.max].map(|to| (param.name, to));
        spec.params.iter().flat_map(bounds).map(|(name, to)| format!("{}:{name}={to}", spec.name))
    });
    let of_circuit = keys_of(&circuit::Config::schema());
    let of_circuit = of_circuit.iter().flat_map(|key| set(&format!("reno+{}", CIRCUIT.name), key));
    let of_machines = base_station::all().into_iter().flat_map(|machine| {
        let term = format!("reno+{}", machine.spec().name);
        keys_of(&machine.schema()).iter().flat_map(|key| set(&term, key)).collect::<Vec<_>>()
    });
    let all = of_stack.chain(params).chain(of_circuit).chain(of_machines);
    all.filter(|text| Scheme::parse(text, "linux").is_ok()).collect()
}

fn set(term: &str, key: &KeyDoc) -> Vec<String> {
    let default = key.default.as_deref();
    let values = match default {
        Some("true") => vec!["false".to_owned()],
        Some("false") => vec!["true".to_owned()],
        _ if !key.allowed.is_empty() => key.allowed.clone(),
        _ => default.into_iter().flat_map(half_and_double).chain(key.example.clone()).collect(),
    };
    values.into_iter().map(|value| format!("{term}:{}={value}", key.name)).collect()
}

/// `100ms` becomes `50ms` and `200ms`.
fn half_and_double(value: &str) -> Vec<String> {
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    number.parse().map_or(Vec::new(), |n: u64| [n.div_ceil(2), n * 2].map(|n| format!("{n}{unit}")).to_vec())
}
