//! What `make same` and the tests run: every feature, and random cases.

use crate::same::case::Case;
use crate::same::generator::{FEATURES, Feature, network, pick, random, with_feature};
use airtcp_proto::scheme::{GatewayQueue, names};
use airtcp_proto::tcp::profile::PROFILES;
use airtcp_proto::{Chance, Chances};
use std::path::{Path, PathBuf};

/// The folder of the files that scenarios name.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scenario/tests/fixtures")
}

/// Every name of the registry, each profile and each queue that a scheme can bring.
pub fn named_schemes() -> Vec<String> {
    let profiles = PROFILES.iter().map(|profile| format!("reno:profile={}", profile.name));
    let queues = GatewayQueue::ALL.iter().map(|queue| format!("cubic @ {}", queue.name()));
    names().map(str::to_owned).chain(profiles).chain(queues).collect()
}

/// Each feature alone, with every one of these schemes; what a link can have on its way there and on its way back.
pub fn with_features(schemes: &[String]) -> Vec<Case> {
    let chance = |number: usize| Chances::new(1).chance(&format!("feature {number}"));
    let case = |(number, feature): (usize, Feature)| {
        let there = (String::new(), with_feature(feature, false, &mut chance(number)));
        let back = feature.has_reverse().then(|| with_feature(feature, true, &mut chance(number)));
        let back = back.map(|scenario| (".back".to_owned(), scenario));
        let case = move |(back, scenario): (String, String)| {
            let case = |scheme: &String| Case {
                name: format!("feature/{}.{}.{number}{back}/{scheme}", feature.part, feature.slot),
                scenario: scenario.clone(),
                scheme: scheme.clone(),
                seed: 1 + number as u64 % 2,
            };
            schemes.iter().map(case).collect::<Vec<_>>()
        };
        [Some(there), back].into_iter().flatten().flat_map(case)
    };
    FEATURES.iter().copied().enumerate().flat_map(case).collect()
}

/// A network with all that one can have, and a Wi-Fi cell, with every one of these schemes. An older engine may know none.
pub fn networks(schemes: &[String]) -> Vec<Case> {
    let both = [("network", include_str!("network.toml")), ("cell", include_str!("cell.toml"))];
    let case = |(kind, text): (&str, &str)| {
        let case = |scheme: &String| Case {
            name: format!("{kind}/{scheme}"),
            scenario: text.to_owned(),
            scheme: scheme.clone(),
            seed: 1,
        };
        schemes.iter().map(case).collect::<Vec<_>>()
    };
    both.into_iter().flat_map(case).collect()
}

/// A random chain that can be read, with a random scheme that fits: one name, two, or one with a key.
pub fn random_case(number: u64, named: &[String], with_keys: &[String]) -> Case {
    random_of("random", random, Chances::new(number).chance("same"), number, named, with_keys)
}

/// The same with a network.
pub fn random_network(number: u64, named: &[String], with_keys: &[String]) -> Case {
    let chance = Chances::new(number).chance("same network");
    random_of("random-network", network::random, chance, number, named, with_keys)
}

fn random_of(
    kind: &str,
    scenario: fn(&mut Chance) -> String,
    mut chance: Chance,
    number: u64,
    named: &[String],
    with_keys: &[String],
) -> Case {
    loop {
        let case = Case {
            name: format!("{kind}/{number}"),
            scenario: scenario(&mut chance),
            scheme: random_scheme(named, with_keys, &mut chance),
            seed: number,
        };
        if case.read(&folder()).is_ok() {
            return case;
        }
    }
}

fn random_scheme(named: &[String], with_keys: &[String], chance: &mut Chance) -> String {
    match chance.u64() % 4 {
        0 => pick(with_keys, chance).clone(),
        1 => format!("{}+{}", pick(named, chance), pick(named, chance)),
        _ => pick(named, chance).clone(),
    }
}
