//! What a scenario's schemes are on this host, before anything runs.

use super::forms::{Host, Verdict};
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::Scenario;
use airtcp_sim::scenario::model::{Flow, Traffic};

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
    for flow in &scenario.flows {
        check_flow(scenario, flow, host, &mut verdict)?;
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
    let Some(own) = flow.scheme.as_ref().filter(|_| !matches!(flow.traffic, Traffic::Udp { .. })) else {
        return Ok(());
    };
    let others = Verdict::on(host, &Scheme::parse(own, &scenario.profile)?);
    verdict.notes.extend(others.notes.iter().map(|note| format!("flow `{}`: {note}", flow.name)));
    if let Some(reason) = others.reason {
        verdict.refuse(&format!("flow `{}` has `{own}`: {reason}", flow.name));
    }
    let rules = (verdict.form.as_ref().map(|form| form.rto), others.form.map(|form| form.rto));
    if let (Some(mine), Some(its)) = rules
        && mine != its
    {
        verdict.refuse(&format!(
            "flow `{}` has another retransmission timeout; a run has one for all",
            flow.name
        ));
    }
    Ok(())
}
