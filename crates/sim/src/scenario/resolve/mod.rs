//! Turns the scenario as written into the scenario that runs: fills in defaults, replaces names by numbers, reads
//! files, and reports mistakes.
//!
//! A function that returns `None` has reported why, and has still checked whatever else it could.

mod circuit;
mod flow;
mod graph;
mod link;
mod measurement;
mod medium;
mod routes;

use super::check::Check;
use super::document::Node;
use super::file::ScenarioFile;
use super::medium::media;
use super::model::Scenario;
use super::overrides::names_in;
use super::wireless::wireless_of;
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::profile;
use airtcp_wire::Dur;
use medium::{hidden, stray};

/// `root` is the document from which `written` was read.
pub(super) fn resolve(
    written: &ScenarioFile,
    root: &Node,
    default_name: &str,
    check: &mut Check<'_>,
) -> Option<Scenario> {
    run(written, check);
    schemes(written, check);
    if let Some(measured) = &written.measurement {
        measurement::measurement(measured, check);
    }
    let link_names = unique_names("link", root, check);
    let flow_names = unique_names("flow", root, check);
    let circuit_names = unique_names("circuit", root, check);
    let medium_names = unique_names("medium", root, check);
    let media = media(&written.medium, &medium_names, check);
    let links = media.as_ref().and_then(|media| link::links(written, &link_names, media, check));
    let given = link_names.len();
    let named = written
        .base_station
        .as_ref()
        .map(|name| graph::find("link", name, &link_names, "base_station", check));
    let mut graph = graph::graph(written, link_names, root, check);
    let routes = graph.as_mut().and_then(|graph| routes::routes(written, &flow_names, graph, check));
    let links = links
        .zip(graph.as_ref())
        .map(|(links, graph)| link::complete(written, links, graph, routes.as_deref().unwrap_or_default()));
    let default = links.as_deref().map_or(0, |links| wireless_of(&links[..given]));
    let base_station = named.unwrap_or(Some(default));
    let flows = flow::flows(written, flow_names, routes, links.as_deref(), check);
    let (media, links, flows, base_station, graph) = (media?, links?, flows?, base_station?, graph?);
    hidden(&media, &graph.nodes, &links, check);
    stray(&media, &links, check);
    let circuits = circuit::circuits(written, circuit_names, &graph, &flows, base_station, check)?;
    Some(Scenario {
        name: written.name.clone().unwrap_or_else(|| default_name.to_owned()),
        description: written.description.clone(),
        duration: written.duration,
        warmup: written.warmup,
        seeds: written.seeds,
        seed: written.seed,
        enter_recordings: written.enter_recordings,
        schemes: written.schemes.clone(),
        profile: written.profile.clone(),
        nodes: graph.nodes,
        media,
        links,
        base_station,
        flows,
        circuits,
        measurement: written.measurement.clone(),
    })
}

fn run(written: &ScenarioFile, check: &mut Check<'_>) {
    check.refuse_if(
        written.name.as_ref().is_some_and(|name| name.contains(char::is_control)),
        "name",
        "must be one line of text without control characters",
    );
    check.above_zero("duration", written.duration);
    check.refuse_if(
        written.warmup >= written.duration && written.duration > Dur::ZERO,
        "warmup",
        &format!("must be shorter than the duration, {}", written.duration),
    );
    check.refuse_if(written.seeds == 0, "seeds", "must be at least 1");
}

fn schemes(written: &ScenarioFile, check: &mut Check<'_>) {
    check.refuse_if(written.schemes.is_empty(), "schemes", "is empty; name at least one scheme");
    if profile::find(&written.profile).is_none() {
        let known = profile::PROFILES.iter().map(|profile| profile.name);
        let message = super::error::unknown("profile", &written.profile, known);
        return check.refuse_key("profile", message);
    }
    check.each("schemes", written.schemes.iter().enumerate(), |(index, text), check| {
        if let Some(first) = written.schemes[..index].iter().position(|other| other == text) {
            check.refuse(format!("`{text}` duplicates schemes[{first}]; remove one of them"));
        }
        scheme(text, &written.profile, check);
    });
    check.each("flow", &written.flow, |flow, check| {
        let Some(text) = &flow.scheme else { return };
        check.inside("scheme", |check| {
            if scheme(text, &written.profile, check).is_some_and(|own| own.queue.is_some()) {
                check.refuse(format!("`{text}`: a queue belongs to the path; set it as the link's `queue`"));
            }
        });
    });
}

fn scheme(text: &str, profile: &str, check: &mut Check<'_>) -> Option<Scheme> {
    Scheme::parse_with(text, profile, check.controllers).map_err(|error| check.refuse(error.to_string())).ok()
}

/// The names of the nodes, media, links, flows or circuits. They appear in result files and in `--set`, so they must be unique and
/// plain.
fn unique_names(key: &str, root: &Node, check: &mut Check<'_>) -> Vec<String> {
    let names = names_in(root, key);
    check.each(key, names.iter().enumerate(), |(index, name), check| {
        if let Some(first) = names[..index].iter().position(|other| other == name) {
            let message = format!("`{name}` is already the name of {key}[{first}]; names must be unique");
            check.refuse_key("name", message);
        }
        problem_of_name(name).into_iter().for_each(|problem| check.refuse_key("name", problem));
    });
    names
}

/// Why a name is not plain, if it is not.
fn problem_of_name(name: &str) -> Option<String> {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let is_right = is_plain && name.parse::<usize>().is_err() && !name.is_empty();
    let problem =
        || format!("`{name}` is not a valid name: use letters, digits, `-` and `_`, and not only digits");
    (!is_right).then(problem)
}
