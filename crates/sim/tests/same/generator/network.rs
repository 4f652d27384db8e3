//! Random networks: the parts of a random scenario, at random nodes.

use super::{Draft, Part, pick};
use airtcp_proto::Chance;

/// Slots that say where something is in a chain.
const OF_CHAIN: [&str; 3] = ["direction", "enter", "leave"];
const ACCESS: [&str; 3] = [
    "access = { delay = \"4ms\" }",
    "access = { delay = \"15ms\", rate = \"3Mbit/s\" }",
    "access = { rate = \"20Mbit/s\" }",
];

/// A network with features at random. It may be one that is refused, for example for two ways of equal length.
pub fn random(chance: &mut Chance) -> String {
    let nodes = *pick(&[2, 3, 3, 4], chance);
    let links = nodes - 1 + *pick(&[0, 1, 2], chance);
    let share = *pick(&[0.0, 0.05, 0.15], chance);
    let draft = super::draft(links, share, chance);
    let mut network = Network { nodes, chance };
    let links =
        draft.links.into_iter().enumerate().map(|(number, link)| network.link(number, link)).collect();
    let mut places = Vec::new();
    let place = |flow| {
        places.push(network.pair());
        network.flow(flow, places[places.len() - 1])
    };
    let flows = draft.flows.into_iter().map(place).collect();
    // A circuit leads from end to end of a flow, which may be one that it carries.
    let place = *pick(&places, network.chance);
    let circuits = draft.circuits.into_iter().map(|circuit| placed(circuit, place)).collect();
    Draft { top: draft.top, media: draft.media, links, flows, circuits }.text()
}

struct Network<'a> {
    nodes: usize,
    chance: &'a mut Chance,
}

impl Network<'_> {
    /// The first links lead from everywhere to everywhere.
    fn link(&mut self, number: usize, link: Part) -> Part {
        let tree = (number + 1 < self.nodes).then(|| [self.below(number + 1), number + 1]);
        let [from, to] = tree.unwrap_or_else(|| self.pair());
        placed(link, if self.chance.happens(0.5) { [from, to] } else { [to, from] })
    }

    fn flow(&mut self, flow: Part, place: [usize; 2]) -> Part {
        let mut flow = placed(flow, place);
        for (slot, share) in [("via", 0.3), ("return_via", 0.2)] {
            if self.chance.happens(share) {
                flow = flow.with(slot, format!("{slot} = [\"link{}\"]", self.below(self.nodes)));
            }
        }
        match self.chance.happens(0.4) {
            true => flow.with("access", *pick(&ACCESS, self.chance)),
            false => flow,
        }
    }

    /// Two nodes.
    fn pair(&mut self) -> [usize; 2] {
        let from = self.below(self.nodes);
        [from, (from + 1 + self.below(self.nodes - 1)) % self.nodes]
    }

    fn below(&mut self, end: usize) -> usize {
        (self.chance.u64() % end as u64) as usize
    }
}

fn placed(part: Part, [from, to]: [usize; 2]) -> Part {
    let mut lines = part.0;
    lines.retain(|(slot, _)| !OF_CHAIN.contains(&slot.as_str()));
    Part(lines).with("from", format!("from = \"n{from}\"")).with("to", format!("to = \"n{to}\""))
}
