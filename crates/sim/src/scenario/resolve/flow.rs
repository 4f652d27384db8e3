//! Flows: when they send, and what.

use super::routes::Routes;
use crate::scenario::check::Check;
use crate::scenario::file::{self, ScenarioFile};
use crate::scenario::model::{Flow, Link, Traffic};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::Dur;

pub(super) fn flows(
    written: &ScenarioFile,
    names: Vec<String>,
    routes: Option<Vec<Routes>>,
    links: Option<&[Link]>,
    check: &mut Check<'_>,
) -> Option<Vec<Flow>> {
    check.refuse_if(written.flow.is_empty(), "flow", "is empty; omit it for one unlimited transfer");
    let routes =
        routes.map_or_else(|| vec![None; names.len()], |routes| routes.into_iter().map(Some).collect());
    let named = written.flow.iter().zip(names).zip(routes);
    let flows = check.each("flow", named, |((flow, name), routes), check| {
        let path = routes.zip(links);
        self::flow(flow, name, path, written, check)
    });
    let flows: Vec<Flow> = flows.into_iter().collect::<Option<_>>()?;
    let measured = flows.is_empty() || flows.iter().any(|flow| flow.measure);
    check.refuse_if(!measured, "flow", "no flow is measured; set measure = true on at least one");
    Some(flows)
}

fn flow(
    written: &file::Flow,
    name: String,
    path: Option<(Routes, &[Link])>,
    scenario: &ScenarioFile,
    check: &mut Check<'_>,
) -> Option<Flow> {
    let &ScenarioFile { duration, ref profile, .. } = scenario;
    check.refuse_if(written.count == 0, "count", "must be at least 1");
    let (start, stagger) = (written.start.unwrap_or_default(), written.stagger.unwrap_or_default());
    let last = start + stagger + written.start_within.unwrap_or_default();
    let key = if written.start_within.is_some() { "start_within" } else { "start" };
    check.refuse_if(
        last > duration,
        key,
        &format!("the last one starts at {last}, after the end of the run at {duration}"),
    );
    let within = written.start_within.unwrap_or_default();
    check.refuse_if(
        written.stop.is_some_and(|stop| stop <= start + within),
        "stop",
        "must be after `start` and `start_within`",
    );
    let traffic = check.inside("traffic", |check| check.one_of(&written.traffic));
    let is_udp = matches!(traffic, Some((Traffic::Udp(_), _)));
    if let Some(scheme) = written.scheme.as_ref().filter(|_| is_udp) {
        let has_circuit = Scheme::parse_with(scheme, profile, check.controllers)
            .is_ok_and(|scheme| scheme.circuit.is_some());
        let message = "`udp` has no congestion control; its scheme must contain `decoupling`";
        check.refuse_if(!has_circuit, "scheme", message);
    }
    let (routes, links) = path?;
    let is_on_time = written.start.is_some() || written.stagger.is_some();
    let longest = || routes.iter().map(|route| route.round_trip(links)).max().unwrap_or_default();
    let within = || if is_on_time { Dur::ZERO } else { longest() };
    let end = written.stop.unwrap_or(duration).min(duration);
    Some(Flow {
        name,
        count: written.count,
        scheme: written.scheme.clone(),
        traffic: traffic?.0,
        start,
        stagger,
        start_within: written.start_within.unwrap_or_else(|| within().min(end / 2)),
        stop: written.stop,
        routes,
        access: written.access.clone(),
        measure: written.measure.unwrap_or(!is_udp),
    })
}
