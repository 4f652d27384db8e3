//! Where ways lead, given the links.

use super::Scenario;
use super::model::{Crossing, Direction, Link, Route, Side};
use airtcp_wire::Dur;
use std::collections::{BTreeMap, BTreeSet};

impl Crossing {
    /// The nodes at which it begins and ends.
    pub fn nodes(self, links: &[Link]) -> [usize; 2] {
        let [from, to] = links[self.link].ends;
        match self.direction {
            Direction::Forward => [from, to],
            Direction::Reverse => [to, from],
        }
    }

    pub fn side(self, links: &[Link]) -> &Side {
        links[self.link].side(self.direction)
    }
}

impl Route {
    /// The nodes at which it begins and ends.
    pub fn ends(&self, links: &[Link]) -> [usize; 2] {
        [self.there[0].nodes(links)[0], self.back[0].nodes(links)[0]]
    }

    /// The propagation delay, there and back.
    pub fn round_trip(&self, links: &[Link]) -> Dur {
        let delays = self.there.iter().chain(&self.back).map(|crossing| crossing.side(links).delay);
        delays.fold(Dur::ZERO, |sum, delay| sum + delay)
    }
}

impl Scenario {
    /// The ways between these nodes, as far as there are some: along a chain, and where flows go.
    pub fn ways_between(&self, nodes: &BTreeSet<usize>) -> BTreeMap<[usize; 2], Vec<Crossing>> {
        let mut ways = BTreeMap::new();
        let last = self.links.len() - self.flows.iter().map(super::model::Flow::access_links).sum::<usize>();
        let of_chain: Vec<usize> = nodes.range(..=last).copied().filter(|_| self.nodes.is_empty()).collect();
        for (at, &from) in of_chain.iter().enumerate() {
            for &to in &of_chain[at + 1..] {
                let Route { there, back } = Route::of_chain(Direction::Forward, from, to - 1);
                ways.extend([([from, to], there), ([to, from], back)]);
            }
        }
        for route in self.flows.iter().flat_map(|flow| &flow.routes) {
            for way in [&route.there, &route.back] {
                self.parts_between(way, nodes, &mut ways);
            }
        }
        ways
    }

    /// Adds the parts of a way that begin and end at these nodes.
    fn parts_between(
        &self,
        way: &[Crossing],
        nodes: &BTreeSet<usize>,
        ways: &mut BTreeMap<[usize; 2], Vec<Crossing>>,
    ) {
        for (begin, from) in way.iter().map(|crossing| crossing.nodes(&self.links)[0]).enumerate() {
            for (end, to) in way.iter().map(|crossing| crossing.nodes(&self.links)[1]).enumerate().skip(begin)
            {
                if nodes.contains(&from) && nodes.contains(&to) {
                    ways.entry([from, to]).or_insert_with(|| way[begin..=end].to_vec());
                }
            }
        }
    }
}
