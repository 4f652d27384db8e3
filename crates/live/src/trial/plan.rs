//! What a scenario's schemes are on this host, before anything runs.

use super::application::MOST_FLOWS;
use super::forms::{Host, Verdict};
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::Scenario;
use airtcp_sim::scenario::model::Flow;

/// For each scheme of the scenario, in its order.
///
/// # Errors
/// A scheme that does not resolve.
pub fn plan(scenario: &Scenario, host: &Host) -> Result<Vec<Verdict>, SchemeError> {
    scenario.schemes.iter().map(|scheme| verdict(scenario, scheme, host)).collect()
}

/// Of one scheme in this scenario, with all that is in the way of its run.
///
/// # Errors
/// A scheme that does not resolve.
pub fn verdict(scenario: &Scenario, scheme: &str, host: &Host) -> Result<Verdict, SchemeError> {
    let mut verdict = Verdict::on(host, &Scheme::parse(scheme, &scenario.profile)?);
    if !scenario.circuits.is_empty() {
        verdict.refuse("the scenario's circuits run in the simulator alone");
    }
    let count: u64 = scenario.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if count > MOST_FLOWS as u64 {
        verdict.refuse(&format!("{count} flows are more than the {MOST_FLOWS} that have ports here"));
    }
    for flow in &scenario.flows {
        check_flow(scenario, flow, host, &mut verdict)?;
        check_route(scenario, flow, &mut verdict);
    }
    Ok(verdict)
}

/// Verdicts on the flows that have a scheme of their own.
fn check_flow(
    scenario: &Scenario,
    flow: &Flow,
    host: &Host,
    verdict: &mut Verdict,
) -> Result<(), SchemeError> {
    let Some(own) = &flow.scheme else { return Ok(()) };
    let others = Verdict::on(host, &Scheme::parse(own, &scenario.profile)?);
    verdict.notes.extend(others.notes.iter().map(|note| format!("flow `{}`: {note}", flow.name)));
    if let Some(reason) = others.reason {
        verdict.refuse(&format!("flow `{}` has `{own}`: {reason}", flow.name));
    }
    let (Some(mine), Some(its)) = (verdict.form.clone(), others.form) else { return Ok(()) };
    for (what, differs) in
        [("retransmission timeout", mine.rto != its.rto), ("base station", mine.station != its.station)]
    {
        if differs {
            verdict.refuse(&format!("flow `{}` has another {what}; a run has one for all", flow.name));
        }
    }
    Ok(())
}

/// Does the flow pass the base station, if there is one?
fn check_route(scenario: &Scenario, flow: &Flow, verdict: &mut Verdict) {
    let is_needed = verdict.form.as_ref().is_some_and(|form| form.station.is_some());
    if is_needed && !(flow.enter..=flow.leave).contains(&scenario.base_station) {
        verdict.refuse(&format!("flow `{}` does not pass the base station", flow.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(text: &str) -> Vec<Option<String>> {
        let link = "[[link]]\nname = \"l\"\nrate = \"10Mbit/s\"\ndelay = \"5ms\"\n";
        let scenario = Scenario::load(&format!("{text}\n{link}"), "t.toml", "".as_ref(), &[]).unwrap();
        let host = Host {
            kernel: "6.18.0".to_owned(),
            congestion_controls: vec!["reno".to_owned(), "cubic".to_owned()],
            hystart: true,
        };
        plan(&scenario, &host).unwrap().into_iter().map(|verdict| verdict.reason).collect()
    }

    #[test]
    fn schemes_keep_their_order_and_have_reasons() {
        let found = reasons(r#"schemes = ["cubic", "bbr", "reno+snoop", "reno"]"#);
        assert_eq!((&found[0], &found[3]), (&None, &None));
        assert_eq!(
            found[1].as_ref().unwrap(),
            "not on this kernel: it has no `bbr` at hand; `modprobe tcp_bbr` loads it if there is one"
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
        assert!(flow("tahoe")[0].as_ref().unwrap().contains("flow `b` has `tahoe`"));
        let datagrams = "{ kind = \"udp\", rate = \"1Mbit/s\" }";
        let circuit = reasons(&format!(
            "schemes = [\"reno\"]\nflow = [{{ name = \"a\" }}, \
             {{ name = \"b\", scheme = \"reno+decoupling\", traffic = {datagrams} }}]"
        ));
        assert!(circuit[0].as_ref().unwrap().contains("flow `b` has `reno+decoupling`"), "{circuit:?}");
        assert!(flow("reno+packet-control")[0].as_ref().unwrap().contains("another base station"));
        assert!(flow("rto-m")[0].as_ref().unwrap().contains("another retransmission timeout"));
        let many = reasons("schemes = [\"reno\"]\nflow = [{ name = \"a\", count = 10001 }]");
        assert!(many[0].as_ref().unwrap().starts_with("10001 flows"));
    }
}
