//! Flows: where they enter and leave the path, and what they carry.

use super::check::Check;
use crate::scenario::error::hint_and_list;
use crate::scenario::file::{self, ScenarioFile, TrafficKind};
use crate::scenario::model::{Flow, Link, Traffic};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::{Bytes, Dur, Rate};

/// From the shortest IPv4 packet that can carry UDP to the longest.
const UDP_PACKET_BYTES: std::ops::RangeInclusive<u64> = 28..=65535;

pub(super) fn flows(
    written: &ScenarioFile,
    names: Vec<String>,
    links: &[String],
    path: &[Link],
    check: &mut Check<'_>,
) -> Option<Vec<Flow>> {
    check.refuse_if(written.flow.is_empty(), "flow", "is empty; omit it for one unlimited transfer");
    let named = written.flow.iter().zip(names);
    let flows =
        check.each("flow", named, |(flow, name), check| self::flow(flow, name, links, path, written, check));
    let flows: Vec<Flow> = flows.into_iter().collect::<Option<_>>()?;
    let measured = flows.is_empty() || flows.iter().any(|flow| flow.measure);
    check.refuse_if(!measured, "flow", "no flow is measured; set measure = true on at least one");
    Some(flows)
}

fn flow(
    written: &file::Flow,
    name: String,
    links: &[String],
    path: &[Link],
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
    let (enter, leave) = ends(written.enter.as_deref(), written.leave.as_deref(), links, check)?;
    let is_on_time = written.start.is_some() || written.stagger.is_some();
    let within = || if is_on_time { Dur::ZERO } else { round_trip(path, enter, leave) };
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
        direction: written.direction,
        enter,
        leave,
        measure: written.measure.unwrap_or(!is_udp),
    })
}

/// The propagation delay of these links, there and back.
fn round_trip(path: &[Link], enter: usize, leave: usize) -> Dur {
    let crossed = path.get(enter..=leave).unwrap_or_default();
    crossed.iter().fold(Dur::ZERO, |sum, link| sum + link.forward.delay + link.reverse.delay)
}

/// Indices of the first and the last link of a part of the path.
pub(super) fn ends(
    enter_name: Option<&str>,
    leave_name: Option<&str>,
    links: &[String],
    check: &mut Check<'_>,
) -> Option<(usize, usize)> {
    let enter = link_index("enter", enter_name, 0, links, check);
    let leave = link_index("leave", leave_name, links.len().saturating_sub(1), links, check);
    let (enter, leave) = (enter?, leave?);
    if enter > leave {
        let culprit = if leave_name.is_some() { "leave" } else { "enter" };
        let message = format!(
            "`{}` comes before `{}`, given as the first; name the links in path order",
            links[leave], links[enter]
        );
        check.refuse_key(culprit, message);
    }
    Some((enter, leave))
}

pub(super) fn link_index(
    key: &str,
    name: Option<&str>,
    default: usize,
    links: &[String],
    check: &mut Check<'_>,
) -> Option<usize> {
    let Some(name) = name else { return Some(default) };
    let found = links.iter().position(|link| link == name);
    if found.is_none() {
        let message =
            format!("no link called `{name}`{}", hint_and_list(name, links.iter().map(String::as_str)));
        check.refuse_key(key, message);
    }
    found
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
