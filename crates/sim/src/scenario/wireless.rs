//! Which link of a path is the wireless one if the scenario does not say.

use super::link::{Capacity, FULL_PACKET_BYTES, Link, Side};
use airtcp_proto::path::Loss;
use std::cmp::{Ordering, Reverse};

/// The link that loses most packets at random, in whichever direction. Among equals, one that loses given packets; then one
/// with outages, steps of delay or a rate that varies; then the slowest; then the last.
pub(super) fn wireless_of(links: &[Link]) -> usize {
    links.iter().enumerate().max_by(|(_, a), (_, b)| compare(a, b)).map_or(0, |(index, _)| index)
}

fn compare(a: &Link, b: &Link) -> Ordering {
    let rest = |link: &Link| (loses(link), varies(link), Reverse(link.forward.capacity.mean_rate()));
    random_loss(a).total_cmp(&random_loss(b)).then_with(|| rest(a).cmp(&rest(b)))
}

fn sides(link: &Link) -> [&Side; 2] {
    [&link.forward, &link.reverse]
}

fn random_loss(link: &Link) -> f64 {
    let [forward, reverse] = sides(link).map(|side| side.loss.mean(FULL_PACKET_BYTES as u32, None));
    forward.max(reverse)
}

fn loses(link: &Link) -> bool {
    sides(link).into_iter().any(|side| side.loss != Loss::default())
}

fn varies(link: &Link) -> bool {
    let is_fixed = |side: &Side| matches!(side.capacity, Capacity::Fixed(_));
    link.outages.is_some() || link.steps.is_some() || !sides(link).into_iter().all(is_fixed)
}
