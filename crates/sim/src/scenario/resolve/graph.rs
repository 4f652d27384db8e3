//! The nodes, the links between them, and the ways over the fewest links.

use super::unique_names;
use crate::scenario::check::Check;
use crate::scenario::document::Node;
use crate::scenario::error::hint_and_list;
use crate::scenario::file::ScenarioFile;
use crate::scenario::link::LinkKeys;
use crate::scenario::way::{Crossing, Direction};
use std::collections::VecDeque;

/// Nodes have 16-bit numbers, and the turns of all links are kept sorted.
pub(super) const MOST_LINKS: usize = 1000;

pub(super) struct Graph {
    /// Names; none where the links form a chain.
    pub nodes: Vec<String>,
    /// Names; those that flows have of their own come last.
    pub links: Vec<String>,
    /// How many links are written.
    pub written: usize,
    /// The nodes at which each link begins and ends.
    pub ends: Vec<[usize; 2]>,
}

/// Why there is no way, or not one alone.
pub(super) enum NoWay {
    Unreachable,
    /// Two of the shortest.
    Two([Vec<Crossing>; 2]),
    /// It comes to this node again.
    Loop(usize),
}

pub(super) fn graph(
    written: &ScenarioFile,
    links: Vec<String>,
    root: &Node,
    check: &mut Check<'_>,
) -> Option<Graph> {
    if links.is_empty() {
        return None;
    }
    let is_network = |link: &LinkKeys| link.from.is_some() || link.to.is_some();
    if !written.link.iter().any(is_network) {
        let problem = "the links form a chain, whose nodes have no names; give each link `from` and `to`";
        check.refuse_if(!written.node.is_empty(), "node", problem);
        let ends = (0..links.len()).map(|link| [link, link + 1]).collect();
        return written.node.is_empty().then_some(Graph {
            nodes: Vec::new(),
            written: links.len(),
            links,
            ends,
        });
    }
    let mut nodes = unique_names("node", root, check);
    let are_given = !nodes.is_empty();
    let ends = check.each("link", &written.link, |link, check| {
        let mut end = |key: &str, name: &Option<String>| {
            let Some(name) = name else {
                check.refuse(format!("`{key}` is missing: all links have `from` and `to`, or none has"));
                return None;
            };
            if !are_given && !nodes.contains(name) {
                check_name(name, key, check)?;
                nodes.push(name.clone());
            }
            find("node", name, &nodes, key, check)
        };
        let (from, to) = (end("from", &link.from), end("to", &link.to));
        let (from, to) = (from?, to?);
        check.refuse_if(from == to, "to", "is where the link begins, too: a loop; name another node");
        Some([from, to])
    });
    let ends: Vec<[usize; 2]> = ends.into_iter().collect::<Option<_>>()?;
    let graph = Graph { nodes, written: links.len(), links, ends };
    for (node, name) in graph.nodes.iter().enumerate() {
        if !graph.ends.as_flattened().contains(&node) {
            let problem =
                format!("no link leads to `{name}`; name it in a link's `from` or `to`, or remove it");
            check.inside("node", |check| check.inside(node, |check| check.refuse(problem)));
        }
    }
    Some(graph)
}

fn check_name(name: &str, key: &str, check: &mut Check<'_>) -> Option<()> {
    let problem = super::problem_of_name(name);
    problem.clone().into_iter().for_each(|problem| check.refuse_key(key, problem));
    problem.is_none().then_some(())
}

/// Finds what is called `name`, which was given as `key`.
pub(super) fn find(
    what: &str,
    name: &str,
    names: &[String],
    key: &str,
    check: &mut Check<'_>,
) -> Option<usize> {
    let found = names.iter().position(|known| known == name);
    if found.is_none() {
        let hint = hint_and_list(name, names.iter().map(String::as_str));
        check.refuse_key(key, format!("no {what} called `{name}`{hint}"));
    }
    found
}

impl Graph {
    /// The names of the links that are written.
    pub fn written(&self) -> &[String] {
        &self.links[..self.written]
    }

    pub fn is_chain(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn node_count(&self) -> usize {
        self.ends.as_flattened().iter().max().map_or(0, |last| last + 1)
    }

    pub fn nodes_of(&self, Crossing { link, direction }: Crossing) -> [usize; 2] {
        let [from, to] = self.ends[link];
        if direction == Direction::Forward { [from, to] } else { [to, from] }
    }

    /// The way over the fewest links that crosses the links of `via` in this order.
    pub fn way(&self, [from, to]: [usize; 2], via: &[usize]) -> Result<Vec<Crossing>, NoWay> {
        if from == to {
            return Err(NoWay::Loop(from));
        }
        let search = Search::run(self, from, via);
        let goal = via.len() * search.nodes + to;
        let way = search.way(self, goal, false).ok_or(NoWay::Unreachable)?;
        let mut passed = vec![from];
        for node in way.iter().map(|crossing| self.nodes_of(*crossing)[1]) {
            if passed.contains(&node) {
                return Err(NoWay::Loop(node));
            }
            passed.push(node);
        }
        match search.way(self, goal, true) {
            Some(other) if other != way => Err(NoWay::Two([way, other])),
            _ => Ok(way),
        }
    }
}

/// A breadth-first search over pairs of a node and how many links of `via` have been crossed.
struct Search {
    nodes: usize,
    reached: Vec<Reached>,
}

/// How a pair is reached over the fewest links: from which pairs, and over what. Two are enough.
#[derive(Clone, Default)]
struct Reached {
    links: Option<usize>,
    by: Vec<(usize, Crossing)>,
}

impl Search {
    fn run(graph: &Graph, from: usize, via: &[usize]) -> Search {
        let nodes = graph.node_count();
        let mut out_of: Vec<Vec<Crossing>> = vec![Vec::new(); nodes];
        for link in 0..graph.ends.len() {
            for direction in [Direction::Forward, Direction::Reverse] {
                let crossing = Crossing { link, direction };
                out_of[graph.nodes_of(crossing)[0]].push(crossing);
            }
        }
        let mut reached = vec![Reached::default(); nodes * (via.len() + 1)];
        reached[from].links = Some(0);
        let mut next = VecDeque::from([from]);
        while let Some(pair) = next.pop_front() {
            let (crossed, node) = (pair / nodes, pair % nodes);
            let links = reached[pair].links.unwrap_or_default() + 1;
            for &crossing in &out_of[node] {
                let crossed = crossed + usize::from(via.get(crossed) == Some(&crossing.link));
                let there = crossed * nodes + graph.nodes_of(crossing)[1];
                let at = &mut reached[there];
                if at.links.is_none() {
                    at.links = Some(links);
                    next.push_back(there);
                }
                if at.links == Some(links) && at.by.len() < 2 {
                    at.by.push((pair, crossing));
                }
            }
        }
        Search { nodes, reached }
    }

    /// A shortest way to `goal`. With `other`, one that is different if there is one.
    fn way(&self, graph: &Graph, goal: usize, mut other: bool) -> Option<Vec<Crossing>> {
        self.reached[goal].links?;
        let (mut way, mut pair) = (Vec::new(), goal);
        while let Some(first) = self.reached[pair].by.first() {
            let second = self.reached[pair].by.get(1).filter(|_| other);
            other &= second.is_none();
            let (before, crossing) = second.unwrap_or(first);
            debug_assert_eq!(graph.nodes_of(*crossing)[1], pair % self.nodes);
            way.push(*crossing);
            pair = *before;
        }
        way.reverse();
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All ways that visit no node twice.
    fn all_ways(graph: &Graph, at: usize, to: usize, passed: &mut Vec<usize>, found: &mut Vec<usize>) {
        if at == to {
            return found.push(passed.len());
        }
        passed.push(at);
        for &[from, end] in &graph.ends {
            for next in
                [(from, end), (end, from)].into_iter().filter(|(from, _)| *from == at).map(|(_, end)| end)
            {
                if !passed.contains(&next) {
                    all_ways(graph, next, to, passed, found);
                }
            }
        }
        passed.pop();
    }

    proptest! {
        /// The way is the shortest of all, if that one is alone.
        #[test]
        fn the_way_is_the_shortest(
            ends in prop::collection::vec((0usize..6, 1usize..6), 1..10),
            from in 0usize..6,
            step in 1usize..6,
        ) {
            let to = (from + step) % 6;
            let mut ends: Vec<[usize; 2]> = ends.into_iter().map(|(from, step)| [from, (from + step) % 6]).collect();
            ends.push([6, 7]);
            let graph = Graph { nodes: Vec::new(), links: Vec::new(), written: 0, ends };
            let mut lengths = Vec::new();
            all_ways(&graph, from, to, &mut Vec::new(), &mut lengths);
            let shortest = lengths.iter().min().copied();
            let of_this = lengths.iter().filter(|length| Some(**length) == shortest).count();
            match graph.way([from, to], &[]) {
                Ok(way) => prop_assert_eq!((Some(way.len()), of_this), (shortest, 1)),
                Err(NoWay::Two(ways)) => {
                    prop_assert!(of_this > 1);
                    prop_assert!(ways[0] != ways[1] && ways.iter().all(|way| Some(way.len()) == shortest));
                }
                Err(NoWay::Unreachable) => prop_assert_eq!(shortest, None),
                Err(NoWay::Loop(_)) => prop_assert!(false, "without `via` there is no loop"),
            }
        }
    }
}
