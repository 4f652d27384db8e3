//! Links, where they are, and the room of their queues.

use super::graph::{Graph, MOST_LINKS};
use super::routes::{Routes, access_of};
use crate::scenario::check::Check;
use crate::scenario::file::ScenarioFile;
use crate::scenario::link::{Capacity, Link, Side};
use crate::scenario::medium::Medium;
use airtcp_wire::Dur;

/// All links that are written, as far as they do not depend on others.
pub(super) fn links(
    written: &ScenarioFile,
    names: &[String],
    media: &[Medium],
    check: &mut Check<'_>,
) -> Option<Vec<Link>> {
    check.refuse_if(written.link.is_empty(), "link", "the path has no links; start one with [[link]]");
    if written.link.len() > MOST_LINKS {
        check.refuse_key("link", format!("{} links; a path has at most {MOST_LINKS}", written.link.len()));
        return None;
    }
    let named = written.link.iter().zip(names);
    check
        .each("link", named, |(link, name), check| Link::read(link, name, media, check))
        .into_iter()
        .collect()
}

/// Completes the links, and adds those that flows have of their own.
pub(super) fn complete(
    written: &ScenarioFile,
    mut links: Vec<Link>,
    graph: &Graph,
    routes: &[Routes],
) -> Vec<Link> {
    let given = links.len();
    let own = graph.links.iter().skip(given).zip(written.flow.iter().flat_map(access_of));
    links.extend(own.map(|(name, access)| {
        let side = Side { delay: access.delay, ..Side::of(Capacity::Fixed(access.rate)) };
        Link::symmetric(name, side)
    }));
    links.iter_mut().zip(&graph.ends).for_each(|(link, ends)| link.ends = *ends);
    let rtts = match graph.is_chain() && links.len() == given {
        true => vec![links.iter().fold(Dur::ZERO, |sum, link| sum + link.round_trip()); given],
        false => longest_round_trips(&links, routes),
    };
    links.iter_mut().zip(rtts).for_each(|(link, rtt)| link.fill_in_rooms(rtt));
    links
}

/// The propagation delay, there and back, of the longest route over each link.
fn longest_round_trips(links: &[Link], routes: &[Routes]) -> Vec<Dur> {
    let mut longest: Vec<Dur> = links.iter().map(Link::round_trip).collect();
    for route in routes.iter().flatten() {
        let round_trip = route.round_trip(links);
        for crossing in route.there.iter().chain(&route.back) {
            longest[crossing.link] = longest[crossing.link].max(round_trip);
        }
    }
    longest
}
