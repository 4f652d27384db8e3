//! ACKs as the simulator's sender gets them, over paths that lose, mark and go out.

use crate::replay::assert_equal;
use crate::trace::{Recorded, Trace};
use airtcp_kernel::cc;
use airtcp_kernel_host::{Counters, Machine};
use airtcp_proto::scheme::Scheme;
use airtcp_sim::scenario::Recipe;
use airtcp_sim::{RunOptions, run};
use std::collections::BTreeMap;
use std::path::Path;

/// A path with corruption, a queue that warns early, and an outage longer than the RTO.
fn path(rate: &str, delay: &str, ber: &str) -> String {
    format!(
        r#"
duration = "40s"
schemes = ["reno"]
[[link]]
name = "radio"
rate = "{rate}"
delay = "{delay}"
loss = {{ ber = {ber} }}
queue = {{ discipline = "red", ecn = true, packets = 60, min_threshold = 5, max_threshold = 50, weight = 0.05 }}
outages = {{ at = ["20s"], length = "1500ms" }}
"#
    )
}

fn record(name: &'static str, params: &BTreeMap<String, f64>, path: &str, ecn: bool) -> Trace {
    let scenario = Recipe::new(path, "path.toml", Path::new("."), &[]).read().unwrap();
    let recorded = Recorded::new(name, params);
    let text = format!("recorded:ecn={ecn}:eifel=false:f_rto=false");
    let scheme = Scheme::parse_with(&text, "linux", &recorded.controllers()).unwrap();
    run(&scenario, &scheme, 1, RunOptions::default()).unwrap();
    recorded.trace()
}

#[test]
fn recorded_acks_give_the_same_windows() {
    let paths =
        [path("2Mbit/s", "10ms", "1e-6"), path("10Mbit/s", "5ms", "5e-6"), path("20Mbit/s", "100ms", "2e-7")];
    for controller in cc::controllers() {
        let mut total = Counters::default();
        for (path, ecn) in paths.iter().flat_map(|path| [(path, false), (path, true)]) {
            let trace = record(controller.scheme(), &BTreeMap::new(), path, ecn);
            Machine::be_old(true);
            let old = assert_equal(controller, &BTreeMap::new(), &trace);
            Machine::be_old(false);
            let counted = assert_equal(controller, &BTreeMap::new(), &trace);
            assert_eq!(old, counted, "{}", controller.scheme());
            println!("{}: {} events, {counted:?}", controller.scheme(), trace.events.len());
            total.timeouts += counted.timeouts;
            total.ecn_echoes += counted.ecn_echoes;
            total.losses_congestion += counted.losses();
        }
        // Vegas's queue never gets long enough to be marked.
        let is_marked = total.ecn_echoes > 0 || controller.scheme() == "vegas";
        assert!(total.timeouts > 0 && is_marked && total.losses() > 10, "{}: {total:?}", controller.scheme());
    }
}
