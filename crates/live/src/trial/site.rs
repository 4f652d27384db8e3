//! Where hosts and routers stand on the path.

/// A smaller site is nearer to the path's first node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Site {
    pub node: u16,
    pub rank: Rank,
}

/// Order of the sites at one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// The end of a circuit over the links before the node.
    CircuitBefore,
    Host,
    /// Serves the hosts' packets.
    Station,
    /// The end of a circuit over the links behind the node.
    CircuitBehind,
}

impl Site {
    pub fn host(node: u16) -> Site {
        Site { node, rank: Rank::Host }
    }

    pub fn station(node: u16) -> Site {
        Site { node, rank: Rank::Station }
    }

    /// The two ends of a circuit between these nodes, whichever of them sends.
    pub fn of_circuit(nodes: [u16; 2]) -> [Site; 2] {
        let [one, other] = nodes;
        [
            Site { node: one.min(other), rank: Rank::CircuitBehind },
            Site { node: one.max(other), rank: Rank::CircuitBefore },
        ]
    }

    /// Number of the path's segment that the site is in, counted by the routers before it.
    pub fn segment<'a>(self, routers: impl IntoIterator<Item = &'a Site>) -> u8 {
        routers.into_iter().filter(|router| **router < self).count() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circuit over the second of three links, and a station where it begins.
    #[test]
    fn at_one_node_a_circuit_ends_before_hosts_and_begins_behind_them() {
        let [begin, end] = Site::of_circuit([1, 2]);
        assert_eq!([begin, end], Site::of_circuit([2, 1]));
        let routers = [Site::station(1), begin, end];
        assert!(routers.is_sorted());
        let segments = [0, 1, 2, 3].map(|node| Site::host(node).segment(&routers));
        assert_eq!(segments, [0, 0, 3, 3]);
    }
}
