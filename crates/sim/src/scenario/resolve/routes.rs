//! The ways of flows.

use super::graph::{Graph, MOST_LINKS, NoWay, find};
use crate::scenario::check::Check;
use crate::scenario::file::{self, Access, ScenarioFile};
use crate::scenario::way::{Crossing, Direction, Route};
use airtcp_wire::Rate;

/// The ways of a flow's copies: one for all, or one for each.
pub(super) type Routes = Vec<Route>;

/// The ways of all flows. Links that they have of their own are added to `graph`, at its end.
pub(super) fn routes(
    written: &ScenarioFile,
    names: &[String],
    graph: &mut Graph,
    check: &mut Check<'_>,
) -> Option<Vec<Routes>> {
    let named = written.flow.iter().zip(names);
    let routes = check.each("flow", named, |(flow, name), check| {
        let route = match graph.is_chain() {
            true => of_chain(flow, graph, check),
            false => of_network(flow, graph, check),
        };
        let is_right = check.inside("access", |check| check_access(flow, graph, check));
        let route = route.filter(|_| is_right)?;
        Some(if flow.access.is_empty() {
            vec![route]
        } else {
            with_access(flow, name, &route, graph, check)?
        })
    });
    routes.into_iter().collect()
}

fn of_chain(flow: &file::Flow, graph: &Graph, check: &mut Check<'_>) -> Option<Route> {
    let keys = [
        ("from", flow.from.is_some()),
        ("to", flow.to.is_some()),
        ("via", flow.via.is_some()),
        ("return_via", flow.return_via.is_some()),
    ];
    refuse_keys(
        keys,
        "the links form a chain: use `enter` and `leave`, or give each link `from` and `to`",
        check,
    );
    let (enter, leave) = span(flow.enter.as_deref(), flow.leave.as_deref(), graph.written(), check)?;
    Some(Route::of_chain(flow.direction.unwrap_or_default(), enter.min(leave), enter.max(leave)))
}

/// Refuses those of these keys that are given.
pub(super) fn refuse_keys<const N: usize>(keys: [(&str, bool); N], why: &str, check: &mut Check<'_>) {
    keys.into_iter().for_each(|(key, is_given)| check.refuse_if(is_given, key, why));
}

/// Why keys of a chain are wrong in a network.
pub(super) const NO_CHAIN: &str = "the links form a network: use `from` and `to`";

/// Indices of the first and the last link of a part of the chain.
pub(super) fn span(
    enter_name: Option<&str>,
    leave_name: Option<&str>,
    links: &[String],
    check: &mut Check<'_>,
) -> Option<(usize, usize)> {
    let mut index = |key, name, default| match name {
        Some(name) => find("link", name, links, key, check),
        None => Some(default),
    };
    let enter = index("enter", enter_name, 0);
    let leave = index("leave", leave_name, links.len().saturating_sub(1));
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

fn of_network(flow: &file::Flow, graph: &Graph, check: &mut Check<'_>) -> Option<Route> {
    let keys = [
        ("direction", flow.direction.is_some()),
        ("enter", flow.enter.is_some()),
        ("leave", flow.leave.is_some()),
    ];
    refuse_keys(keys, NO_CHAIN, check);
    let mut end = |key, name: &Option<String>| match name {
        Some(name) => find("node", name, &graph.nodes, key, check),
        None => {
            check.refuse(format!("`{key}` is missing: the links form a network"));
            None
        }
    };
    let (from, to) = (end("from", &flow.from), end("to", &flow.to));
    let mut via = |key, names: &Option<Vec<String>>| match names {
        Some(names) => check.inside(key, |check| links(names, graph, check)).map(Some),
        None => Some(None),
    };
    let (via, back) = (via("via", &flow.via), via("return_via", &flow.return_via));
    let (from, to, via, back) = (from?, to?, via?, back?);
    let key = if via.is_some() { "via" } else { "to" };
    let there = way(graph, [from, to], &via.unwrap_or_default(), key, check)?;
    match back {
        Some(back) => {
            let back = way(graph, [to, from], &back, "return_via", check)?;
            Some(Route { there, back })
        }
        None => Some(Route::and_back(there)),
    }
}

/// Finds the links with these names.
fn links(names: &[String], graph: &Graph, check: &mut Check<'_>) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let link = check.inside(index, |check| find_here("link", name, graph.written(), check))?;
        if found.contains(&link) {
            check.inside(index, |check| {
                check.refuse(format!("`{name}` is crossed twice: a loop; name it once"))
            });
            return None;
        }
        found.push(link);
    }
    Some(found)
}

/// As [`find`], for the current value.
fn find_here(what: &str, name: &str, names: &[String], check: &mut Check<'_>) -> Option<usize> {
    let found = names.iter().position(|known| known == name);
    if found.is_none() {
        let hint = crate::scenario::error::hint_and_list(name, names.iter().map(String::as_str));
        check.refuse(format!("no {what} called `{name}`{hint}"));
    }
    found
}

/// The way between two nodes, which `key` is to blame for.
fn way(
    graph: &Graph,
    ends: [usize; 2],
    via: &[usize],
    key: &str,
    check: &mut Check<'_>,
) -> Option<Vec<Crossing>> {
    let name = |node: usize| graph.nodes[node].as_str();
    let [from, to] = ends.map(name);
    let problem = match graph.way(ends, via) {
        Ok(way) => return Some(way),
        Err(NoWay::Unreachable) if via.is_empty() => format!("no links lead from `{from}` to `{to}`"),
        Err(NoWay::Unreachable) => {
            format!("no links lead from `{from}` over these to `{to}` in this order")
        }
        Err(NoWay::Loop(_)) if from == to => {
            format!("a loop: the flow begins at `{from}`, too; name another node")
        }
        Err(NoWay::Loop(node)) => {
            format!("a loop: the way from `{from}` to `{to}` comes to `{}` twice", name(node))
        }
        Err(NoWay::Two(ways)) => {
            let cure = if key == "return_via" { "return_via" } else { "via" };
            let [one, other] = ways.map(|way| {
                way.iter().map(|crossing| graph.links[crossing.link].as_str()).collect::<Vec<_>>().join(", ")
            });
            format!(
                "two ways of equal length lead from `{from}` to `{to}`: {one}, and {other}; name a link that only one of them \
                 crosses in `{cure}`"
            )
        }
    };
    check.refuse_key(key, problem);
    None
}

/// Returns whether the flow's own links are right.
fn check_access(flow: &file::Flow, graph: &Graph, check: &mut Check<'_>) -> bool {
    let is_list = flow.access.len() > 1;
    if is_list && flow.access.len() != flow.count as usize {
        let (links, count) = (flow.access.len(), flow.count);
        check.refuse(format!("has {links} links for {count} flows; give one for each, or one table for all"));
        return false;
    }
    let own = if flow.access.is_empty() { 0 } else { flow.count as usize };
    if graph.ends.len() + own > MOST_LINKS {
        let links = graph.ends.len() + own;
        check.refuse(format!("with them there are {links} links; a network has at most {}", MOST_LINKS));
        return false;
    }
    for (index, access) in flow.access.iter().enumerate().filter(|(_, access)| access.rate == Rate(0)) {
        let refuse =
            |check: &mut Check<'_>| check.refuse_if(access.rate == Rate(0), "rate", "must be above zero");
        if is_list { check.inside(index, refuse) } else { refuse(check) }
    }
    flow.access.iter().all(|access| access.rate > Rate(0))
}

/// Gives each copy of the flow a link of its own in front of the route.
fn with_access(
    flow: &file::Flow,
    name: &str,
    route: &Route,
    graph: &mut Graph,
    check: &mut Check<'_>,
) -> Option<Routes> {
    let own = |instance: u32| {
        let link = graph.ends.len();
        let access = Crossing { link, direction: Direction::Forward };
        let begin = graph.nodes_of(route.there[0])[0];
        let node = graph.node_count();
        graph.ends.push([node, begin]);
        graph.links.push(access_name(name, flow.count, instance));
        let there = [access].into_iter().chain(route.there.iter().copied()).collect();
        let back = route.back.iter().copied().chain([access.back()]).collect();
        Route { there, back }
    };
    let routes: Routes = (0..flow.count).map(own).collect();
    let (others, own) = graph.links.split_at(graph.links.len() - routes.len());
    if let Some(name) = own.iter().find(|name| others.contains(name)) {
        let problem = format!("its link is called `{name}`, as another is; rename that one, or the flow");
        check.refuse_key("access", problem);
        return None;
    }
    Some(routes)
}

/// The name of the link that a copy of a flow has of its own.
fn access_name(flow: &str, count: u32, instance: u32) -> String {
    match count {
        1 => format!("{flow}-access"),
        _ => format!("{flow}-access-{instance}"),
    }
}

/// What the links that the flow's copies have of their own are like, in the order of the copies.
pub(super) fn access_of(flow: &file::Flow) -> impl Iterator<Item = Access> {
    let count = if flow.access.is_empty() { 0 } else { flow.count as usize };
    flow.access.iter().copied().cycle().take(count)
}
