//! Links that form a network.

use crate::common::{assert_conserved, go, scheme};
use airtcp_sim::packet_log::PacketSeries;
use airtcp_sim::scenario::model::{Crossing, Direction, Flow, Traffic};
use airtcp_sim::{Outcome, RunOptions, Scenario, run};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn load(text: &str) -> Scenario {
    Scenario::load(text, "t.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn link(name: &str, from: &str, to: &str, keys: &str) -> String {
    format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{keys}\n")
}

fn watched(scenario: &Scenario, name: &str) -> Outcome {
    let options = RunOptions { packets: true, ..RunOptions::default() };
    run(scenario, &scheme(name), 1, options).unwrap()
}

/// How often packets of these kinds entered each direction of a link.
fn entries(packets: &PacketSeries, flow: u64, kinds: &[&str]) -> BTreeSet<u64> {
    let rows = 0..packets.link.len();
    let rows = rows.filter(|&row| packets.flow[row] == flow && kinds.contains(&packets.kind[row]));
    rows.map(|row| packets.link[row]).collect()
}

fn sides(way: &[Crossing]) -> BTreeSet<u64> {
    way.iter().map(|hop| 2 * hop.link as u64 + u64::from(hop.direction == Direction::Reverse)).collect()
}

/// Packets cross the links of their route and no others, wherever these are.
fn assert_routed(scenario: &Scenario, outcome: &Outcome) {
    let packets = outcome.packets.as_ref().unwrap();
    let copies =
        scenario.flows.iter().flat_map(|flow| (0..flow.count).map(move |copy| (flow, flow.route(copy))));
    for (flow, (spec, route)) in (0..).zip(copies) {
        let (data, acks) = (entries(packets, flow, &["data", "resent"]), entries(packets, flow, &["ack"]));
        assert!(data.is_subset(&sides(&route.there)), "flow {flow}: {data:?} {route:?}");
        // Both ends open and close the connection.
        let both: BTreeSet<u64> = sides(&route.there).union(&sides(&route.back)).copied().collect();
        assert!(acks.is_subset(&both), "flow {flow}: {acks:?} {route:?}");
        let is_tcp = !matches!(spec.traffic, Traffic::Udp(_));
        if is_tcp && outcome.record.flows[flow as usize].data_packets_delivered > 0 {
            assert_eq!((data, acks), (sides(&route.there), both), "flow {flow}");
        }
    }
}

const TRUNK: &str = "rate = \"20Mbit/s\"\ndelay = \"10ms\"\nqueue = { packets = 60 }";

fn dumbbell(keys: &str) -> Scenario {
    let trunk = link("trunk", "left", "right", TRUNK);
    load(&format!(
        "duration = \"8s\"\n{trunk}[[flow]]\nname = \"f\"\nfrom = \"left\"\nto = \"right\"\n{keys}\n"
    ))
}

#[test]
fn senders_have_links_of_their_own() {
    let near_and_far =
        "count = 2\naccess = [{ delay = \"1ms\" }, { delay = \"80ms\", rate = \"100Mbit/s\" }]";
    let scenario = dumbbell(near_and_far);
    let outcome = watched(&scenario, "reno");
    assert_routed(&scenario, &outcome);
    let [near, far] = &outcome.record.flows[..] else { panic!() };
    assert!(near.goodput_bps > 2.0 * far.goodput_bps, "Reno favours the shorter round trip");
    // There and back over both links: 22 ms and 180 ms.
    let least = [near, far].map(|flow| flow.rtt_min_ms.unwrap());
    assert!((22.0..30.0).contains(&least[0]) && (180.0..190.0).contains(&least[1]), "{least:?}");
    let names: Vec<&str> = outcome.record.links.iter().step_by(2).map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["trunk", "f-access-0", "f-access-1"]);
}

/// One flow comes to the circuit over the wireless link, the other begins at the circuit and never crosses that.
#[test]
fn a_circuit_carries_flows_that_cross_the_wireless_link_and_others() {
    let mut text = "duration = \"6s\"\nbase_station = \"spoke\"\n".to_owned();
    text += &link("trunk", "hub", "far", "rate = \"10Mbit/s\"\ndelay = \"1ms\"");
    text += &link("spoke", "hub", "near", "rate = \"2Mbit/s\"\ndelay = \"10ms\"");
    text += "[[flow]]\nname = \"crosses\"\nfrom = \"near\"\nto = \"far\"\n";
    text += "[[flow]]\nname = \"begins\"\nfrom = \"hub\"\nto = \"far\"\n";
    text += "[[circuit]]\nscheme = \"reno+decoupling\"\nflows = [\"crosses\", \"begins\"]\nfrom = \"hub\"\nto = \"far\"\n";
    let record = go(&load(&text), "reno", 1);
    for flow in &record.flows {
        assert_conserved(flow);
        assert!(flow.goodput_bps > 5e5, "{}: {}", flow.name, flow.goodput_bps);
    }
    let sent: u64 = record.flows.iter().map(|flow| flow.data_packets_sent).sum();
    assert!(record.circuits[0].forwarded_packets <= sent, "data alone enters it");
}

/// What differs only in how it is written is the same: a chain, and a network of the same shape.
#[test]
fn a_chain_may_be_written_as_a_network() {
    let keys = ["rate = \"9Mbit/s\"\nloss = { packet = 0.01 }", "rate = \"5Mbit/s\"\ndelay = \"20ms\""];
    let link = |name: &str, ends: &str, keys: &str| format!("[[link]]\nname = \"{name}\"\n{ends}\n{keys}\n");
    let text = |ends: [&str; 2], flow: &str, back: &str, short: &str, queue: &str| {
        let links =
            [("a", 0), ("b", 1)].map(|(name, at)| link(name, ends[at], &format!("{}\n{queue}", keys[at])));
        format!(
            "duration = \"5s\"\n{}\n[[flow]]\nname = \"f\"\ncount = 2\n{flow}\n[[flow]]\nname = \"s\"\n{short}\n\
             [[flow]]\nname = \"back\"\nstop = \"3s\"\n{back}\n",
            links.concat()
        )
    };
    let queue = "queue = { packets = 50 }";
    let chain = load(&text(["", ""], "", "direction = \"reverse\"", "leave = \"a\"", queue));
    let ends = ["from = \"x\"\nto = \"y\"", "from = \"y\"\nto = \"z\""];
    let (there, back) = ("from = \"x\"\nto = \"z\"", "from = \"z\"\nto = \"x\"");
    let network = load(&text(ends, there, back, "from = \"x\"\nto = \"y\"", queue));
    assert_eq!(network.nodes, ["x", "y", "z"]);
    for name in ["reno", "cubic+snoop", "bbr+decoupling"] {
        assert_eq!(format!("{:?}", go(&chain, name, 3)), format!("{:?}", go(&network, name, 3)), "{name}");
    }
}

#[test]
fn what_comes_back_may_take_another_way() {
    let up = "rate = \"5Mbit/s\"\ndelay = \"10ms\"";
    let down = "rate = \"1Mbit/s\"\ndelay = \"200ms\"";
    let flow = "[[flow]]\nfrom = \"home\"\nto = \"server\"\nvia = [\"up\"]\nreturn_via = [\"satellite\"]\n";
    let links = link("up", "home", "server", up) + &link("satellite", "server", "home", down);
    let scenario = load(&format!("duration = \"10s\"\n{links}{flow}"));
    let outcome = watched(&scenario, "cubic");
    assert_routed(&scenario, &outcome);
    let record = &outcome.record;
    let [up, up_back, satellite, satellite_back] = &record.links[..] else { panic!() };
    assert_eq!((up_back.packets_arrived, satellite_back.packets_arrived), (0, 0));
    assert!(up.packets_arrived > satellite.packets_arrived && satellite.packets_arrived > 100);
    assert!(record.flows[0].rtt_min_ms > Some(210.0) && record.flows[0].goodput_bps > 3e6, "{record:#?}");
}

/// Flows that end at one node, but come from several sides.
#[test]
fn a_station_and_a_trunk_stand_in_a_network() {
    let air = "rate = \"5Mbit/s\"\ndelay = \"5ms\"\nloss = { packet = 0.02 }";
    let wired = "rate = \"50Mbit/s\"\ndelay = \"20ms\"";
    let links = link("air", "station", "mobile", air)
        + &link("core", "gateway", "station", wired)
        + &link("one", "server1", "gateway", wired)
        + &link("two", "server2", "gateway", wired);
    let flow = |name: &str, from: &str, to: &str| {
        format!("[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
    };
    let flows = flow("one", "server1", "mobile")
        + &flow("two", "server2", "mobile")
        + &flow("up", "mobile", "server1");
    let head = "duration = \"10s\"\n";
    let scenario = load(&format!("{head}{links}{flows}"));
    assert_eq!(scenario.links[scenario.base_station].name, "air");
    let directions: Vec<Direction> = scenario.flows.iter().map(|flow| scenario.direction_of(flow)).collect();
    assert_eq!(directions, [Direction::Forward, Direction::Forward, Direction::Reverse]);
    let [plain, snoop] = ["reno", "reno+snoop"].map(|name| watched(&scenario, name));
    for outcome in [&plain, &snoop] {
        assert_routed(&scenario, outcome);
    }
    plain.record.flows.iter().for_each(|flow| assert_conserved(flow));
    let down = |outcome: &Outcome| outcome.record.flows[..2].iter().map(|flow| flow.goodput_bps).sum::<f64>();
    assert!(down(&snoop) > 1.3 * down(&plain), "{} {}", down(&snoop), down(&plain));
    let trunk = "[[circuit]]\nname = \"t\"\nscheme = \"reno+decoupling:controls=2\"\nflows = [\"one\", \"two\"]\n\
                 from = \"gateway\"\n";
    let with_trunk = load(&format!("{head}{links}{flows}{trunk}"));
    let record = go(&with_trunk, "reno", 1);
    record.flows.iter().for_each(|flow| assert_conserved(flow));
    assert!(record.circuits[0].forwarded_packets > 1_000, "{:#?}", record.circuits);
    let own = go(&scenario, "cubic+decoupling", 1);
    own.flows.iter().for_each(|flow| assert_conserved(flow));
}

/// A tree of links with some links more, and flows between its nodes; where the way is not unique, they name a link.
fn any_network() -> impl Strategy<Value = String> {
    let link = (0usize..100, 2u64..40, 0u64..30, any::<bool>(), any::<bool>());
    let flow = (0usize..100, 0usize..100, 1u32..3, any::<bool>(), any::<bool>(), 0u8..4);
    (prop::collection::vec(link, 1..7), prop::collection::vec(flow, 1..5)).prop_map(|(links, flows)| {
        let mut text = String::from("duration = \"3s\"\n");
        for (at, (with, mbit, delay, is_lossy, is_turned)) in links.iter().enumerate() {
            let (old, new) = (with % (at + 1), at + 1);
            let (from, to) = if *is_turned { (old, new) } else { (new, old) };
            let loss = if *is_lossy { "loss = { packet = 0.01 }" } else { "" };
            let keys = format!("rate = \"{mbit}Mbit/s\"\ndelay = \"{delay}ms\"\n{loss}");
            text.push_str(&self::link(&format!("l{at}"), &format!("n{from}"), &format!("n{to}"), &keys));
            // A second link beside the first of all.
            if at == 0 {
                text.push_str(&self::link("beside", "n0", "n1", "rate = \"3Mbit/s\"\ndelay = \"3ms\""));
            }
        }
        for (at, (from, to, count, has_access, comes_back_elsewhere, kind)) in flows.iter().enumerate() {
            let nodes = links.len() + 1;
            let from = from % nodes;
            let to = (from + 1 + to % (nodes - 1)) % nodes;
            let access = if *has_access { "access = { delay = \"3ms\", rate = \"30Mbit/s\" }" } else { "" };
            let traffic = match kind {
                0 => "traffic = { kind = \"poisson\", size = \"20kB\", interval = \"80ms\" }",
                1 => "measure = true\ntraffic = { kind = \"udp\", rate = \"1Mbit/s\" }",
                _ => "",
            };
            let back = if *comes_back_elsewhere { "return_via = VIA2" } else { "" };
            writeln!(
                text,
                "[[flow]]\nname = \"f{at}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ncount = {count}\nvia = VIA\n{back}\n\
                 {access}\n{traffic}"
            )
            .unwrap();
        }
        text
    })
}

/// Tries each flow with the first link, the one beside it, and none.
fn with_ways(text: &str) -> Scenario {
    let mut text = text.to_owned();
    while let Some(at) = text.find("VIA") {
        let word = if text[at..].starts_with("VIA2") { "VIA2" } else { "VIA" };
        let beside = if word == "VIA" { "[\"l0\"]" } else { "[\"beside\"]" };
        let is_right = |choice: &str| {
            let mut tried = text.clone();
            tried.replace_range(at..at + word.len(), choice);
            let tried = tried.replace("return_via = VIA2", "").replace("via = VIA", "");
            let upto = tried[at..].find("[[flow]]").map_or(tried.len(), |next| at + next);
            Scenario::load(&tried[..upto], "t.toml", Path::new(""), &[]).is_ok()
        };
        let choice = [beside, "[]"].into_iter().find(|choice| is_right(choice)).expect("one of them");
        text.replace_range(at..at + word.len(), choice);
    }
    load(&text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In any network, packets keep to their routes, none vanishes, and it makes no difference whether anybody watches.
    #[test]
    fn packets_keep_to_their_routes(
        text in any_network(),
        name in prop::sample::select(vec!["reno", "bbr", "cubic+decoupling"]),
    ) {
        let scenario = with_ways(&text);
        let outcome = watched(&scenario, name);
        assert_routed(&scenario, &outcome);
        outcome.record.flows.iter().for_each(|flow| assert_conserved(flow));
        prop_assert_eq!(format!("{:?}", go(&scenario, name, 1)), format!("{:?}", outcome.record));
        let written = scenario.to_toml();
        let again = Scenario::load(&written, "t.toml", Path::new(""), &[]);
        prop_assert_eq!(again.map_err(|error| format!("{error}\n{written}")), Ok(scenario));
    }
}

/// What one flow has of its own is no part of another's path.
#[test]
fn access_links_lie_beside_a_chain() {
    let link = |name: &str| format!("[[link]]\nname = \"{name}\"\nrate = \"5Mbit/s\"\n");
    let access = "access = { delay = \"1ms\" }\n";
    let flows = format!("[[flow]]\ncount = 2\n{access}[[flow]]\ndirection = \"reverse\"\n{access}[[flow]]\n");
    let scenario = load(&format!("duration = \"3s\"\n{}{}{flows}", link("a"), link("b")));
    let outcome = watched(&scenario, "reno");
    assert_routed(&scenario, &outcome);
    let ends = |flow: usize| scenario.flows[flow].route(0).ends(&scenario.links);
    assert_eq!([ends(0)[1], ends(1)[1], ends(2)[0], ends(2)[1]], [2, 0, 0, 2]);
    assert_eq!(load(&scenario.to_toml()), Scenario { name: "t".to_owned(), ..scenario });
}

#[test]
fn copies_without_a_list_have_equal_links() {
    let scenario = dumbbell("count = 3\naccess = { delay = \"5ms\", rate = \"10Mbit/s\" }");
    let flow: &Flow = &scenario.flows[0];
    let routes: BTreeSet<usize> = (0..3).map(|copy| flow.route(copy).there[0].link).collect();
    assert_eq!(routes, BTreeSet::from([1, 2, 3]));
    assert!(scenario.links[1..].iter().all(|link| link.forward == scenario.links[1].reverse));
}
