//! The forms of a scenario's schemes on this host, before anything runs.

use super::application::MOST_FLOWS;
use super::circuit;
use super::flows::flows;
use super::forms::{Host, ProxySite, SchemeForm, Station};
use super::layout::Layout;
use super::trunks::{Trunk, trunks};
use airtcp_proto::cc::Controllers;
use airtcp_proto::circuit::Compression;
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::Scenario;
use airtcp_sim::scenario::model::{Flow, Link, Traffic};
use airtcp_wire::circuit::MAX_CONTROLS;
use std::collections::BTreeSet;

/// Forms of the scenario's schemes, in its order.
///
/// # Errors
/// A scheme that does not resolve.
pub fn plan(scenario: &Scenario, host: &Host) -> Result<Vec<SchemeForm>, SchemeError> {
    scenario.schemes.iter().map(|scheme| verdict(scenario, scheme, host)).collect()
}

/// Form of one scheme in this scenario, with everything that prevents its run.
///
/// # Errors
/// A scheme that does not resolve.
pub fn verdict(scenario: &Scenario, scheme: &str, host: &Host) -> Result<SchemeForm, SchemeError> {
    let asked = Scheme::parse(scheme, &scenario.profile)?;
    let mut verdict = SchemeForm::on(host, &asked);
    let count: u64 = scenario.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if count > MOST_FLOWS as u64 {
        verdict.refuse(&format!("{count} flows exceed the {MOST_FLOWS} for which there are ports"));
    }
    check_nodes(scenario, &mut verdict);
    let trunks = trunks(scenario)?;
    let circuits = trunks.len() as u64 + if is_decoupled(&verdict) { count } else { 0 };
    if circuits > circuit::MOST {
        verdict.refuse(&format!("{circuits} circuits: a run on Linux can have at most {}", circuit::MOST));
    }
    if circuits > 0 {
        check_compression(scenario, &mut verdict);
    }
    trunks.iter().for_each(|trunk| check_trunk(scenario, trunk, &mut verdict));
    check_stations(scenario, &asked, host, &mut verdict)?;
    for flow in &scenario.flows {
        if matches!(flow.traffic, Traffic::Udp(_))
            && scenario.scheme_of(flow, &asked, &Controllers::default())?.circuit.is_some()
        {
            verdict.refuse(&format!(
                "flow `{}` sends datagrams, which a circuit on Linux cannot carry",
                flow.name
            ));
        }
        check_flow(scenario, flow, host, &mut verdict)?;
    }
    if verdict.form.is_some() {
        let flows = flows(scenario, &asked, &trunks, host, scenario.seed)?;
        if let Err(problem) = Layout::new(scenario, &flows, &trunks) {
            verdict.refuse(&problem);
        }
    }
    Ok(verdict)
}

/// Returns whether each connection has a circuit of its own.
fn is_decoupled(verdict: &SchemeForm) -> bool {
    let station = verdict.form.as_ref().and_then(|form| form.station.as_ref());
    station.is_some_and(|station| station.circuit().is_some())
}

/// The emulator has a route from each node to each other.
const MOST_NODES: usize = 250;

/// Flows begin and end at nodes for which there are routes.
fn check_nodes(scenario: &Scenario, verdict: &mut SchemeForm) {
    let routes = scenario.flows.iter().flat_map(|flow| &flow.routes);
    let nodes: BTreeSet<usize> = routes.flat_map(|route| route.ends(&scenario.links)).collect();
    if nodes.len() > MOST_NODES {
        let nodes = nodes.len();
        verdict
            .refuse(&format!("flows begin or end at {nodes} nodes; on Linux there are at most {MOST_NODES}"));
    }
}

/// The emulator does not read what header packets carry.
fn check_compression(scenario: &Scenario, verdict: &mut SchemeForm) {
    let compresses = |link: &&Link| {
        [&link.forward, &link.reverse].iter().any(|side| side.compression != Compression::None)
    };
    if let Some(Link { name, .. }) = scenario.links.iter().find(compresses) {
        verdict.refuse(&format!(
            "link `{name}` compresses header packets, which only the simulator's links do; remove its `compression`"
        ));
    }
}

/// Checks that the trunk can carry its flows here.
fn check_trunk(scenario: &Scenario, trunk: &Trunk, verdict: &mut SchemeForm) {
    let Trunk { name, circuit, .. } = trunk;
    if circuit.config.controls > MAX_CONTROLS {
        let controls = circuit.config.controls;
        verdict.refuse(&format!(
            "circuit `{name}` has {controls} control TCPs; the wire format allows at most {MAX_CONTROLS}"
        ));
    }
    // A flow with a scheme of its own has no circuit: the scenario was checked.
    let follows = |flow: &&usize| scenario.flows[**flow].scheme.is_none();
    if let Some(&flow) = trunk.flows.iter().find(follows).filter(|_| is_decoupled(verdict)) {
        let flow = &scenario.flows[flow].name;
        verdict.refuse(&format!("flow `{flow}` has its own circuit and is also in circuit `{name}`"));
    }
}

/// All flows that have a station have the same one, wherever it stands.
fn check_stations(
    scenario: &Scenario,
    asked: &Scheme,
    host: &Host,
    verdict: &mut SchemeForm,
) -> Result<(), SchemeError> {
    let mut stations: Vec<(&str, Station)> = Vec::new();
    for flow in &scenario.flows {
        let scheme = scenario.scheme_of(flow, asked, &Controllers::default())?;
        let station = SchemeForm::on(host, &scheme).form.and_then(|form| form.station);
        stations.extend(station.map(|station| (flow.name.as_str(), station)));
    }
    let Some(((first, station), others)) = stations.split_first() else { return Ok(()) };
    if let Some((name, _)) = others.iter().find(|(_, other)| !station.goes_with(other)) {
        verdict.refuse(&format!(
            "flows `{first}` and `{name}` have different base stations; all flows of a run share one"
        ));
    }
    Ok(())
}

/// Checks a flow that has a scheme of its own.
fn check_flow(
    scenario: &Scenario,
    flow: &Flow,
    host: &Host,
    verdict: &mut SchemeForm,
) -> Result<(), SchemeError> {
    let Some(own) = &flow.scheme else { return Ok(()) };
    let others = SchemeForm::on(host, &Scheme::parse(own, &scenario.profile)?);
    verdict.notes.extend(others.notes.iter().map(|note| format!("flow `{}`: {note}", flow.name)));
    if let Some(reason) = others.reason {
        verdict.refuse(&format!("flow `{}` has `{own}`: {reason}", flow.name));
    }
    let (Some(mine), Some(its)) = (verdict.form.clone(), others.form) else { return Ok(()) };
    let go_together = match (&mine.station, &its.station) {
        // Our own machine behind one flow's sender does not see another flow's packets.
        (Some(station), None) | (None, Some(station)) => station.place() == Some(ProxySite::Sender),
        // `check_stations` compares stations.
        (Some(_), Some(_)) | (None, None) => true,
    };
    for (what, differs) in [("retransmission timeout", mine.rto != its.rto), ("base station", !go_together)] {
        if differs {
            verdict.refuse(&format!(
                "flow `{}` has a different {what}; all flows of a run share one",
                flow.name
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(text: &str) -> Vec<SchemeForm> {
        let link = "[[link]]\nname = \"l\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n";
        let scenario = Scenario::load(&format!("{text}\n{link}"), "t.toml", "".as_ref(), &[]).unwrap();
        plan(&scenario, &linux()).unwrap()
    }

    fn linux() -> Host {
        Host {
            kernel: "6.18.0".to_owned(),
            congestion_controls: vec!["reno".to_owned(), "cubic".to_owned()],
            hystart: true,
        }
    }

    fn reasons(text: &str) -> Vec<Option<String>> {
        verdicts(text).into_iter().map(|verdict| verdict.reason).collect()
    }

    #[test]
    fn schemes_keep_their_order_and_have_reasons() {
        let found = reasons(r#"schemes = ["cubic", "bbr", "reno+snoop", "reno"]"#);
        assert_eq!((&found[0], &found[3]), (&None, &None));
        assert_eq!(
            found[1].as_ref().unwrap(),
            "not on this kernel: `bbr` is not available; `modprobe tcp_bbr` loads it if the module exists"
        );
        assert!(found[2].as_ref().unwrap().contains("`snoop`"));
    }

    #[test]
    fn what_others_use_must_be_possible_too() {
        let flow = |scheme: &str| {
            reasons(&format!(
                "schemes = [\"reno\"]\nflow = [{{ name = \"a\" }}, {{ name = \"b\", scheme = \"{scheme}\" }}]"
            ))
        };
        assert_eq!(flow("cubic"), [None]);
        assert!(flow("eln")[0].as_ref().unwrap().contains("flow `b` has `eln`"));
        assert!(flow("cubic+split")[0].as_ref().unwrap().contains("a different base station"));
        assert_eq!(flow("tahoe"), [None], "our own machine behind its sender leaves the others alone");
        let two = "schemes = [\"cubic+decoupling\"]\nflow = [{ name = \"a\" }, { name = \"b\", scheme = ";
        assert_eq!(reasons(&format!("{two}\"reno+decoupling:controls=2\" }}]")), [None]);
        assert!(
            reasons(&format!("{two}\"tahoe\" }}]"))[0]
                .as_ref()
                .unwrap()
                .contains("`a` and `b` have different")
        );
        let datagrams = "{ kind = \"udp\", rate = \"1Mbit/s\" }";
        let circuit = reasons(&format!(
            "schemes = [\"reno\"]\nflow = [{{ name = \"a\" }}, \
             {{ name = \"b\", scheme = \"reno+decoupling\", traffic = {datagrams} }}]"
        ));
        assert!(circuit[0].as_ref().unwrap().contains("flow `b` sends datagrams"), "{circuit:?}");
        assert!(flow("reno+packet-control")[0].as_ref().unwrap().contains("a different base station"));
        assert!(flow("rto-m")[0].as_ref().unwrap().contains("a different retransmission timeout"));
        let many = reasons("schemes = [\"reno\"]\nflow = [{ name = \"a\", count = 10001 }]");
        assert!(many[0].as_ref().unwrap().starts_with("10001 flows"));
    }

    #[test]
    fn a_link_that_compresses_header_packets_carries_no_circuits() {
        let air = "[[link]]\nname = \"air\"\nrate = \"1Mbit/s\"\nreverse.compression = \"twice\"";
        let found = reasons(&format!("schemes = [\"reno\", \"cubic+decoupling\"]\n{air}"));
        assert_eq!(found[0], None);
        assert!(found[1].as_ref().unwrap().contains("link `air` compresses"), "{found:?}");
    }

    #[test]
    fn in_a_network_ways_are_the_simulators() {
        let network = |schemes: &str, flows: &str| {
            let link = |name: &str| {
                format!("[[link]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1Mbit/s\"\n")
            };
            let text = format!("schemes = [\"{schemes}\"]\n{}{}{flows}", link("l"), link("m"));
            let scenario = Scenario::load(&text, "t.toml", "".as_ref(), &[]).unwrap();
            plan(&scenario, &linux()).unwrap().remove(0).reason
        };
        let flow = |name: &str, via: &str| {
            format!("[[flow]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nvia = [\"{via}\"]\n")
        };
        assert_eq!(network("cubic", &flow("one", "l")), None);
        for scheme in ["cubic+packet-control", "cubic+split", "cubic+decoupling", "tahoe"] {
            assert_eq!(network(scheme, &flow("one", "m")), None, "{scheme}");
        }
        let past = network("cubic+packet-control", &flow("one", "l")).unwrap();
        assert!(past.contains("flow `one` does not pass the base station"), "{past}");
        let both = flow("one", "l") + &flow("two", "m");
        assert!(network("cubic", &both).unwrap().contains("`one` and `two` take different ways"));
        let many = flow("one", "l") + "count = 300\naccess = {}\n";
        assert!(network("cubic", &many).unwrap().contains("at 301 nodes"));
        assert_eq!(network("cubic", &(both + "access = { delay = \"1ms\" }\n")), None);
    }

    #[test]
    fn a_trunk_carries_whatever_has_no_circuit_of_its_own() {
        let trunk = |schemes: &str, keys: &str| {
            let text = format!(
                "schemes = [\"{schemes}\"]\nflow = [{{ name = \"a\" }}]\n[[circuit]]\nname = \"t\"\n\
                 scheme = \"reno+decoupling{keys}\"\nflows = [\"a\"]"
            );
            verdicts(&text).remove(0)
        };
        for scheme in ["reno", "westwood-vt", "tahoe", "reno+packet-control"] {
            assert_eq!(trunk(scheme, ":controls=32:gmb=1Mbit/s:compression=twice").reason, None, "{scheme}");
        }
        assert!(trunk("reno", ":controls=33").reason.unwrap().contains("at most 32"));
        let twice = trunk("cubic+decoupling", "").reason.unwrap();
        assert_eq!(twice, "flow `a` has its own circuit and is also in circuit `t`");
    }
}
