//! Shortcuts are not seen.

use crate::same::set::{folder, named_schemes, random_case, random_network};
use airtcp_proto::marks::{self, Mark};
use airtcp_proto::scheme::Scheme;
use airtcp_sim::{RunOptions, Scenario, run};
use proptest::prelude::*;

/// A path on which every shortcut pays: nothing is lost but in full queues, and all data goes one way.
const PLAIN: &str = r#"
duration = "3s"
link = [
    { rate = "20Mbit/s", delay = "3ms", queue = { packets = 50 } },
    { rate = "4Mbit/s", delay = "12ms", queue = { packets = 20 } },
]
"#;

/// Schemes that between them take every shortcut.
const TAKING: [&str; 4] = ["reno", "bbr", "reno+packet-control", "reno+decoupling"];

/// The marks that these schemes hit on the plain path.
fn marks_hit(schemes: &[&str], no_shortcuts: bool) -> Vec<Mark> {
    let scenario = Scenario::load(PLAIN, "plain", &folder(), &[]).unwrap_or_else(|error| panic!("{error}"));
    marks::take();
    for scheme in schemes {
        let options = RunOptions { no_shortcuts, ..RunOptions::default() };
        run(&scenario, &Scheme::parse(scheme, "linux").unwrap(), 1, options).unwrap();
    }
    marks::take()
}

#[test]
fn every_shortcut_is_taken() {
    assert_eq!(marks_hit(&TAKING, false), Mark::ALL);
}

#[test]
fn the_switch_turns_every_shortcut_off() {
    assert_eq!(marks_hit(&TAKING, true), []);
    assert_eq!(marks_hit(&["reno+split", "reno+snoop"], true), []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// The record is the same to the bit, but for the number of events.
    #[test]
    fn a_run_without_shortcuts_has_the_same_record(number in 0u64..1_000_000, is_network: bool) {
        let named = named_schemes();
        let random = if is_network { random_network } else { random_case };
        let case = random(number, &named, &named);
        let (scenario, scheme) = case.read(&folder()).unwrap();
        let record = |no_shortcuts| {
            let options = RunOptions { no_shortcuts, ..RunOptions::default() };
            run(&scenario, &scheme, case.seed, options).map(|outcome| {
                let mut record = outcome.record;
                record.events = 0;
                format!("{record:#?}")
            })
        };
        let (with, without) = (record(false), record(true));
        let (with, without) = (with.map_err(|error| error.to_string()), without.map_err(|error| error.to_string()));
        prop_assert_eq!(with, without, "{} in\n{}", case.scheme, case.scenario);
    }
}
