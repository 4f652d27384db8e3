//! Flows: when they send, and what.

use super::routes::Routes;
use crate::scenario::check::Check;
use crate::scenario::file::{self, ScenarioFile, TrafficKind};
use crate::scenario::model::{Flow, Link, Traffic};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::{Bytes, Dur, Rate};

/// From the shortest IPv4 packet that can carry UDP to the longest.
const UDP_PACKET_BYTES: std::ops::RangeInclusive<u64> = 28..=65535;

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
    let is_udp = written.traffic.kind == TrafficKind::Udp;
    if let Some(scheme) = written.scheme.as_ref().filter(|_| is_udp) {
        let has_circuit = Scheme::parse_with(scheme, profile, check.controllers)
            .is_ok_and(|scheme| scheme.circuit.is_some());
        let message = "`udp` has no congestion control; its scheme must contain `decoupling`";
        check.refuse_if(!has_circuit, "scheme", message);
    }
    let traffic = check.inside("traffic", |check| traffic(&written.traffic, check));
    let (routes, links) = path?;
    let is_on_time = written.start.is_some() || written.stagger.is_some();
    let longest = || routes.iter().map(|route| route.round_trip(links)).max().unwrap_or_default();
    let within = || if is_on_time { Dur::ZERO } else { longest() };
    let end = written.stop.unwrap_or(duration).min(duration);
    Some(Flow {
        name,
        count: written.count,
        scheme: written.scheme.clone(),
        traffic: traffic?,
        start,
        stagger,
        start_within: written.start_within.unwrap_or_else(|| within().min(end / 2)),
        stop: written.stop,
        routes,
        access: written.access.clone(),
        measure: written.measure.unwrap_or(!is_udp),
    })
}

fn traffic(written: &file::Traffic, check: &mut Check<'_>) -> Option<Traffic> {
    let (owner, own): (_, &[&str]) = match written.kind {
        TrafficKind::Unlimited => ("unlimited", &[]),
        TrafficKind::Bytes => ("bytes", &["size"]),
        TrafficKind::OnOff => ("on-off", &["on", "off", "rate"]),
        TrafficKind::Poisson => ("poisson", &["interval", "size", "exponential"]),
        TrafficKind::Udp => ("udp", &["rate", "packet"]),
    };
    check.only(owner, &[&["kind"], own].concat());
    let is_zero = |size: Option<Bytes>| size == Some(Bytes(0));
    check.refuse_if(is_zero(written.size), "size", "must be above zero");
    check.refuse_if(written.rate == Some(Rate(0)), "rate", "must be above zero");
    for (key, value) in [("interval", written.interval), ("on", written.on), ("off", written.off)] {
        check.refuse_if(value == Some(Dur::ZERO), key, "must be above zero");
    }
    match written.kind {
        TrafficKind::Unlimited => Some(Traffic::Unlimited),
        TrafficKind::Bytes => Some(Traffic::Bytes { size: check.required("size", written.size, owner)? }),
        TrafficKind::OnOff => {
            let on = check.required("on", written.on, owner);
            let off = check.required("off", written.off, owner);
            Some(Traffic::OnOff { on: on?, off: off?, rate: written.rate })
        }
        TrafficKind::Poisson => {
            let interval = check.required("interval", written.interval, owner);
            let size = check.required("size", written.size, owner);
            let exponential = written.exponential.unwrap_or(true);
            Some(Traffic::Poisson { interval: interval?, size: size?, exponential })
        }
        TrafficKind::Udp => {
            let packet = written.packet.unwrap_or(Bytes(1000));
            check.refuse_if(!UDP_PACKET_BYTES.contains(&packet.0), "packet", "must be 28B to 65535B");
            Some(Traffic::Udp { rate: check.required("rate", written.rate, owner)?, packet })
        }
    }
}
